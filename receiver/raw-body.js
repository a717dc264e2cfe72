import { BodyTooLarge } from './errors.js';

export const DEFAULT_MAX_BODY_BYTES = 64 * 1024;

/**
 * All bytes of a request's body. What comes behind the limit is dropped as it arrives, so that the
 * sender can still be answered.
 *
 * @param {NodeJS.ReadableStream} stream
 * @param {number} maxBytes
 * @returns {Promise<Buffer>}
 */
export function readRawBody(stream, maxBytes) {
  return new Promise((resolve, reject) => {
    /** @type {Buffer[]} */
    const chunks = [];
    let bytes = 0;
    stream.on('data', (/** @type {Buffer} */ chunk) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else reject(new BodyTooLarge(`The body is larger than ${maxBytes} bytes.`));
    });
    stream.on('end', () => resolve(Buffer.concat(chunks)));
    stream.on('error', reject);
    stream.on('close', () => reject(new Error('The request was broken off.')));
  });
}
