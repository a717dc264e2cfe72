import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import fp from 'fastify-plugin';
import { createJsonSchemaTransform } from 'fastify-type-provider-zod';
import { webhookDocumentation } from '../webhook-documentation.ts';

interface Options {
  version: string;
  cookieName: string;
}

/** OpenAPI from the schemas the routes are checked with, at /docs (and /docs/json). */
export const documentationPlugin = fp(
  async (app, options: Options) => {
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'Bellwire',
          description:
            'Activity, watches, notifications and the built-in documents. Sign in with ' +
            'POST /api/login and send the token as a bearer. Live push: /notifications-ws.',
          version: options.version,
        },
        components: {
          securitySchemes: {
            bearer: { type: 'http', scheme: 'bearer' },
            cookie: { type: 'apiKey', in: 'cookie', name: options.cookieName },
          },
        },
        security: [{ bearer: [] }, { cookie: [] }],
      },
      transform: createJsonSchemaTransform({ zodToJsonConfig: { unrepresentable: 'any' } }),
    });
    await app.register(swaggerUi, {
      ...webhookDocumentation(app),
      routePrefix: '/docs',
      uiConfig: { docExpansion: 'list', displayRequestDuration: true },
    });
    app.get('/', { schema: { hide: true } }, (_request, reply) => reply.redirect('/docs'));
  },
  { name: 'bellwire-documentation', fastify: '5.x' },
);
