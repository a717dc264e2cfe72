// Loaded in front of a Bellwire process: its command line is never found, so that the time before the
// command takes over does not end.
import { register } from 'node:module';

const hooks = `export async function resolve(specifier, context, next) {
  if (specifier.endsWith('/cli/main.ts')) await new Promise(() => {});
  return next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
setInterval(() => {}, 60_000);
