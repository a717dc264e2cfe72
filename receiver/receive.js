import { UnacceptableEvent, WebhookVerificationError } from './errors.js';
import { MemoryStore } from './memory-store.js';
import { noteArrival } from './positions.js';
import { checkClock, findHeader, readKeys, verify } from './verify.js';

/**
 * @typedef {import('./index.js').Answer} Answer
 * @typedef {import('./index.js').Envelope} Envelope
 */

/** @type {typeof import('./index.js').createReceiver} */
export const createReceiver = (options) => {
  const { secrets, tolerance, headerPrefix = 'Codex', onRefused } = options;
  // What makes no sense is said at the start, not at the first request.
  readKeys(secrets);
  checkClock({ tolerance });
  const handleOnce = createHandling(options);
  const positionHeader = `x-${headerPrefix.toLowerCase()}-position`;
  /** @type {Map<string, Promise<Answer>>} */
  const inFlight = new Map();

  return async (rawBody, headers) => {
    /** @type {any} the event, of the type that `handle` takes */
    let event;
    try {
      event = verify(rawBody, headers, secrets, { tolerance });
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      await tell(() => onRefused?.(error));
      return { status: 401, body: { error: error.code } };
    }
    const { id } = event;
    const position = readPosition(findHeader(headers, positionHeader));
    // Sent again while it is being handled: both requests get the one answer.
    const running = inFlight.get(id) ?? handleOnce(event, position);
    inFlight.set(id, running);
    return running.finally(() => inFlight.delete(id));
  };
};

/**
 * What becomes of a genuine event, from its position to the answer.
 *
 * @template {Envelope} Event
 * @param {import('./index.js').ReceiverOptions<Event>} options
 */
function createHandling({ handle, store = new MemoryStore(), onGap, onError = logError }) {
  /** @param {Event} event @param {number | null} position @returns {Promise<Answer>} */
  async function settle(event, position) {
    const claim = await store.claim(event.id);
    if (claim === 'done') return { status: 200, body: { ok: true, duplicate: true } };
    // Another process has it. Whether it succeeds is not known yet, so: later again.
    if (claim === 'busy') return { status: 503, body: { error: 'busy' } };
    try {
      await handle(event, { position });
    } catch (error) {
      await store.release(event.id);
      if (!(error instanceof UnacceptableEvent)) throw error;
      return { status: 422, body: { error: 'unacceptable' } };
    }
    await store.finish(event.id);
    return { status: 200, body: { ok: true } };
  }

  /** @type {(event: Event, position: number | null) => Promise<Answer>} */
  return async (event, position) => {
    try {
      if (position !== null) await noteArrival(store, position, (gap) => onGap?.(gap, event));
      const answer = await settle(event, position);
      const isDealtWith = answer.status !== 503;
      if (position !== null && isDealtWith) await store.setPosition(position);
      return answer;
    } catch (error) {
      await tell(() => onError(error, event));
      return { status: 500, body: { error: 'failed' } };
    }
  };
}

/** @param {unknown} error */
export function logError(error) {
  console.error(error);
}

/**
 * Calls what the application wants to know by; a failure of it changes no answer.
 *
 * @param {() => unknown} callback
 */
export async function tell(callback) {
  try {
    await callback();
  } catch (error) {
    logError(error);
  }
}

/** @param {string | null} text */
function readPosition(text) {
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}
