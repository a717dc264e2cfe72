import { createHmac, timingSafeEqual } from 'node:crypto';
import { WebhookVerificationError } from './errors.js';

const DEFAULT_TOLERANCE_SECONDS = 300;
const MILLISECONDS_PER_SECOND = 1000;
const ENVELOPE_VERSION = 1;
/** The least that Standard Webhooks takes; what is shorter is not a secret of Bellwire's. */
const MIN_KEY_BYTES = 24;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** @type {typeof import('./index.js').verify} */
export const verify = (rawBody, headers, secrets, options = {}) => {
  const keys = readKeys(secrets);
  const id = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const signatures = readHeader(headers, 'webhook-signature');
  const body = readBytes(rawBody);
  checkTime(timestamp, checkClock(options));
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  if (!isSigned(signed, signatures, keys)) {
    throw new WebhookVerificationError('bad_signature', 'No signature fits the body and a secret.');
  }
  return readEvent(body, id);
};

/**
 * The keys of the secrets. Says what is wrong with one, but never what it is.
 *
 * @param {string | readonly string[]} secrets
 */
export function readKeys(secrets) {
  const list = typeof secrets === 'string' ? [secrets] : secrets;
  if (!Array.isArray(list) || list.length === 0) throw new TypeError('There is no secret.');
  return list.map((secret) => {
    const text = typeof secret === 'string' ? secret.trim().replace(/^whsec_/, '') : '';
    const key = Buffer.from(text, 'base64');
    if (BASE64.test(text) && key.length >= MIN_KEY_BYTES) return key;
    throw new TypeError('A secret is whsec_ and base64, as it was shown.');
  });
}

/**
 * @param {import('./index.js').RequestHeaders} headers
 * @param {string} name in lower case
 */
export function findHeader(headers, name) {
  if (typeof headers.get === 'function') return headers.get(name) ?? null;
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name);
  const value = found?.[1];
  return typeof value === 'string' ? value : null;
}

/**
 * @param {import('./index.js').RequestHeaders} headers
 * @param {string} name
 */
function readHeader(headers, name) {
  const value = findHeader(headers, name);
  if (value) return value;
  throw new WebhookVerificationError('missing_header', `The header ${name} is missing.`);
}

/** @param {unknown} rawBody */
function readBytes(rawBody) {
  if (typeof rawBody === 'string') return Buffer.from(rawBody);
  if (rawBody instanceof Uint8Array) return rawBody;
  throw new WebhookVerificationError(
    'bad_body',
    'The signature is over the bytes that arrived: pass them as they came, not a parsed object.',
  );
}

/**
 * The options with their defaults. A comparison with NaN is false, and every request would be new
 * enough.
 *
 * @param {import('./index.js').VerifyOptions} options
 */
export function checkClock({ tolerance = DEFAULT_TOLERANCE_SECONDS, now = Date.now() }) {
  if (tolerance >= 0 && Number.isFinite(now)) return { tolerance, now };
  throw new TypeError('tolerance is in seconds and not negative, now in milliseconds.');
}

/**
 * @param {string} timestamp
 * @param {{ tolerance: number, now: number }} clock
 */
function checkTime(timestamp, { tolerance, now }) {
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError('bad_timestamp', 'The time is not in seconds since 1970.');
  }
  const age = Math.floor(now / MILLISECONDS_PER_SECOND) - Number(timestamp);
  if (age > tolerance) throw new WebhookVerificationError('too_old', 'The request is too old.');
  if (-age > tolerance) {
    throw new WebhookVerificationError('too_new', 'The request is from the future.');
  }
}

/**
 * Whether one of the signatures is by one of the keys. Versions other than v1 are passed over.
 *
 * @param {Buffer} signed
 * @param {string} signatures
 * @param {readonly Buffer[]} keys
 */
function isSigned(signed, signatures, keys) {
  const given = signatures
    .split(' ')
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => Buffer.from(signature.slice('v1,'.length), 'base64'));
  let isGenuine = false;
  for (const key of keys) {
    const expected = createHmac('sha256', key).update(signed).digest();
    for (const each of given) {
      if (each.length === expected.length && timingSafeEqual(each, expected)) isGenuine = true;
    }
  }
  return isGenuine;
}

/**
 * @param {Uint8Array} body
 * @param {string} id
 */
function readEvent(body, id) {
  let event;
  try {
    event = JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    throw new WebhookVerificationError('bad_body', 'The body is not JSON.');
  }
  const isEvent = event?.id === id && typeof event.type === 'string' && isObject(event.data);
  if (!isEvent || event.version !== ENVELOPE_VERSION) {
    throw new WebhookVerificationError('bad_body', 'The body is not an event of version 1.');
  }
  return event;
}

/** @param {unknown} value */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
