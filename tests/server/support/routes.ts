import type { FastifyInstance } from 'fastify';

export interface Route {
  method: string;
  /** With parameters as `:name`. */
  path: string;
}

const INDENT = 4;

/** Every route under /api as the router knows it, so that none can be forgotten. */
export function listApiRoutes(app: FastifyInstance): Route[] {
  const routes: Route[] = [];
  const parents: string[] = [];
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', segment = '', methods = ''] =
      /^([│ ]*)[├└]── (\S+) \(([A-Z, ]+)\)$/.exec(line) ?? [];
    if (segment === '') continue;
    const depth = indent.length / INDENT;
    // Two names for one parameter are printed as `:id|:archiveId`.
    const path = `${parents[depth - 1] ?? ''}${segment.replace(/\|:[A-Za-z]+/g, '')}`;
    parents.length = depth;
    parents[depth] = path;
    if (!path.startsWith('/api/')) continue;
    for (const method of methods.split(', ')) {
      if (method !== 'HEAD') routes.push({ method, path });
    }
  }
  return routes;
}
