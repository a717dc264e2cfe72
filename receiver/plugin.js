import { BodyTooLarge } from './errors.js';
import { DEFAULT_MAX_BODY_BYTES, readRawBody } from './raw-body.js';
import { createReceiver } from './receive.js';

/**
 * The part of Fastify that is used, so that nothing has to be imported.
 *
 * @typedef {object} Fastify
 * @property {() => void} removeAllContentTypeParsers
 * @property {(type: string, parse: (request: unknown, payload: NodeJS.ReadableStream) => Promise<unknown>) => void} addContentTypeParser
 * @property {(path: string, handler: (request: Request, reply: Reply) => Promise<unknown>) => void} post
 *
 * @typedef {object} Request
 * @property {any} body what the parser below returned
 * @property {import('node:http').IncomingHttpHeaders} headers
 *
 * @typedef {object} Reply
 * @property {(status: number) => Reply} code
 * @property {(name: string, value: string) => Reply} header
 */

/** @type {typeof import('./index.js').webhookPlugin} */
export const webhookPlugin = async (instance, options) => {
  const fastify = /** @type {Fastify} */ (instance);
  const receive = createReceiver(options);
  const { maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = options;
  // In this plugin's own scope: the parsers of other routes stay.
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', async (_request, payload) => {
    try {
      return await readRawBody(payload, maxBodyBytes);
    } catch (error) {
      if (error instanceof BodyTooLarge) return error;
      throw error;
    }
  });
  fastify.post('/', async (request, reply) => {
    if (request.body instanceof BodyTooLarge) {
      reply.code(413).header('Connection', 'close');
      return { error: 'too_large' };
    }
    const { status, body } = await receive(request.body ?? '', request.headers);
    reply.code(status);
    return body;
  });
};
