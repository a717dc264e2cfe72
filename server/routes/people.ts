import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { failures, name, outId, success } from '../schemas.ts';

const person = z.object({
  id: outId,
  name: z.string(),
  email: z.string(),
  avatarUrl: z.string().nullable(),
});

export const people: FastifyPluginAsyncZod = async (app) => {
  app.get(
    '/api/users/search',
    {
      config: { role: 'user', rateLimit: { bucket: 'people' } },
      schema: {
        tags: ['people'],
        summary: 'People of your workspaces whose name or e-mail address begins like this',
        querystring: z.object({ q: name.transform((text) => text.trim()) }),
        response: {
          200: z.object({ success, items: z.array(person).describe('At most 20, by name') }),
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const items = await request.rows<z.infer<typeof person>>(
        'select id, name, email, avatar_url from api.search_people($1)',
        [request.query.q],
      );
      reply.header('cache-control', 'no-store');
      return { success: true as const, items };
    },
  );
};
