import { createHmac } from 'node:crypto';
import { USER_AGENT } from '../version.ts';

const MILLISECONDS_PER_SECOND = 1000;

interface Delivery {
  eventId: string;
  eventType: string;
  /** Gapless per subscription; a gap tells the receiver that an event was given up. Null: not counted. */
  position: number | null;
  /** The bytes as stored; signed and sent as they are. */
  body: Buffer;
  /** Newest first. During a rotation the old one still signs. */
  secrets: readonly string[];
}

/**
 * The headers of one attempt. Standard Webhooks (`webhook-*`, one signature per secret) for
 * receivers that use its libraries, and the `X-<prefix>-*` set, signed with the newest secret.
 *
 * @param now milliseconds since the epoch of this attempt; receivers refuse old attempts by it
 * @throws when there is no secret: an unsigned delivery is never sent
 */
export function deliveryHeaders(
  delivery: Delivery,
  prefix: string,
  now: number,
): Record<string, string> {
  const [newestSecret] = delivery.secrets;
  if (newestSecret === undefined) throw new Error('A delivery cannot be signed without a secret.');
  const timestamp = Math.floor(now / MILLISECONDS_PER_SECOND);
  return {
    'Content-Type': 'application/json',
    'Content-Length': String(delivery.body.length),
    'User-Agent': USER_AGENT,
    'webhook-id': delivery.eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': delivery.secrets
      .map((secret) => standardSignature(secret, delivery, timestamp))
      .join(' '),
    [`X-${prefix}-Signature-256`]: bodySignature(newestSecret, delivery.body),
    [`X-${prefix}-Event`]: headerText(delivery.eventType),
    [`X-${prefix}-Delivery`]: delivery.eventId,
    ...(delivery.position !== null && { [`X-${prefix}-Position`]: String(delivery.position) }),
  };
}

/** `v1,<base64>` over `id.timestamp.body`, keyed by the bytes the secret encodes. */
function standardSignature(secret: string, delivery: Delivery, timestamp: number): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const digest = createHmac('sha256', key)
    .update(`${delivery.eventId}.${timestamp}.`)
    .update(delivery.body)
    .digest('base64');
  return `v1,${digest}`;
}

/** `sha256=<hex>` over the body, keyed by the UTF-8 of the whole secret, prefix included. */
function bodySignature(secret: string, body: Buffer): string {
  return `sha256=${createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest('hex')}`;
}

/** Anything but visible ASCII is percent-encoded: a type must never break a header. */
function headerText(text: string): string {
  return text.replace(/[^\x21-\x7e]+/g, (part) =>
    Array.from(Buffer.from(part), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

/** @throws with a sentence when the operator's prefix cannot be part of a header name */
export function checkHeaderPrefix(prefix: string): string {
  if (/^[A-Za-z][A-Za-z0-9-]{0,39}$/.test(prefix)) return prefix;
  throw new Error(
    'The webhook header prefix must be a letter followed by at most 39 letters, digits or dashes.',
  );
}
