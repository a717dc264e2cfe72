import { BodyTooLarge } from './errors.js';
import { DEFAULT_MAX_BODY_BYTES, readRawBody } from './raw-body.js';
import { createReceiver, logError, tell } from './receive.js';

/** @typedef {import('node:http').IncomingMessage & { body?: unknown }} Request */

/** @type {typeof import('./index.js').webhookHandler} */
export const webhookHandler = (options) => {
  const receive = createReceiver(options);
  const { maxBodyBytes = DEFAULT_MAX_BODY_BYTES, onError = logError } = options;

  return async (request, response) => {
    if (request.method !== 'POST') {
      response.setHeader('Allow', 'POST');
      return send(response, 405, { error: 'method_not_allowed' });
    }
    try {
      const rawBody = await findRawBody(request, maxBodyBytes);
      const { status, body } = await receive(rawBody, request.headers);
      send(response, status, body);
    } catch (error) {
      if (error instanceof BodyTooLarge) {
        response.setHeader('Connection', 'close');
        return send(response, 413, { error: 'too_large' });
      }
      if (!request.complete) return;
      await tell(() => onError(error, null));
      send(response, 500, { error: 'failed' });
    }
  };
};

/**
 * The bytes: as something in front of us kept them, or read here.
 *
 * @param {Request} request
 * @param {number} maxBytes
 */
async function findRawBody(request, maxBytes) {
  const { body } = request;
  if (typeof body === 'string' || body instanceof Uint8Array) {
    if (Buffer.byteLength(body) > maxBytes) throw new BodyTooLarge('The body is too large.');
    return body;
  }
  const isUntouched = !request.readableDidRead && !request.readableEnded;
  if (isUntouched) return readRawBody(request, maxBytes);
  throw new Error('The body was parsed before: put the webhook handler in front of the parser.');
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {number} status
 * @param {object} body
 */
function send(response, status, body) {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(body));
}
