import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { failures, success } from '../schemas.ts';

const preference = z.object({
  kind: z.string(),
  description: z.string(),
  inApp: z.boolean(),
  email: z.boolean(),
});
type Preference = z.infer<typeof preference>;

const MOST_KINDS = 200;
const KIND_CHARACTERS = 100;

const tags = ['notifications'];
const answer = { 200: z.object({ success, items: z.array(preference) }), ...failures };

export const preferences: FastifyPluginAsyncZod = async (app) => {
  app.get(
    '/api/notification-preferences',
    {
      config: { role: 'user' },
      schema: { tags, summary: 'What you are told of, and how', response: answer },
    },
    async (request) => ({
      success: true as const,
      items: await request.rows<Preference>('select * from api.list_notification_preferences()'),
    }),
  );

  app.put(
    '/api/notification-preferences',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Change some of them; kinds that do not exist are ignored',
        body: z.strictObject({
          preferences: z
            .record(
              z.string().max(KIND_CHARACTERS),
              z.object({ inApp: z.boolean().optional(), email: z.boolean().optional() }),
            )
            .refine((kinds) => Object.keys(kinds).length <= MOST_KINDS, 'names too many kinds')
            .describe('By kind, like { "mention": { "email": false } }'),
        }),
        response: answer,
      },
    },
    async (request) => {
      const wanted = Object.entries(request.body.preferences).map(([kind, { inApp, email }]) => [
        kind,
        { in_app: inApp, email },
      ]);
      return {
        success: true as const,
        items: await request.rows<Preference>(
          'select * from api.set_notification_preferences($1)',
          [JSON.stringify(Object.fromEntries(wanted))],
        ),
      };
    },
  );
};
