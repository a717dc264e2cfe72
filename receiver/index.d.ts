/**
 * The receiver kit: what `import … from 'bellwire/receiver'` gives. Plain JavaScript without
 * dependencies, for Node 20 or newer. Guide: docs/receiver.md.
 *
 * The files beside this one are checked against it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** One event, envelope version 1. `Data` is what its type brings with it. */
export interface Envelope<Type extends string = string, Data extends object = object> {
  /** UUID; the same at every attempt and for every subscription. */
  id: string;
  type: Type;
  version: 1;
  /** Counts all events of the installation; jumps where the subscription leaves some out. */
  sequence: number;
  /** ISO 8601, UTC, milliseconds. */
  occurred_at: string;
  /** Null only in the test of a subscription to every workspace. */
  workspace_id: number | null;
  squad_id: number | null;
  /** Null where the system acted; the name is null once the account is gone. */
  actor: { id: number; name: string | null } | null;
  data: Data;
}

interface ArchiveData {
  archive_id: number | null;
  name: string;
}

interface LogData {
  log_id: number | null;
  archive_id: number | null;
  parent_id: number | null;
  title: string;
}

/** What the actions of the suite send. `event.type` says which `data` it is. */
export type KnownEvent =
  | Envelope<'archive.rename', ArchiveData & { previous: string }>
  | Envelope<'archive.delete', ArchiveData>
  | Envelope<'log.update', LogData>
  | Envelope<'log.rename', LogData & { previous: string }>
  | Envelope<'log.move', LogData & { previous_parent_id: number | null }>
  | Envelope<'log.publish', LogData & { version_id: number | null }>
  | Envelope<'log.restore', LogData & { version_id: number | null }>
  | Envelope<'log.delete', LogData>
  | Envelope<'webhook.test', { message: string; subscription_id: number }>;

/** As they arrived. A parsed object is refused: written again it would be other bytes. */
export type RawBody = string | Uint8Array;

/** Of `fetch`, of `node:http`, or a plain object with names in any case. */
export type RequestHeaders =
  | { get(name: string): string | null }
  | Record<string, string | string[] | undefined>;

export interface VerifyOptions {
  /** Seconds a request may be older or newer than now; 300 by default. */
  tolerance?: number;
  /** Milliseconds since 1970; the clock by default. */
  now?: number;
}

export type VerificationCode =
  | 'missing_header'
  | 'bad_timestamp'
  | 'too_old'
  | 'too_new'
  | 'bad_signature'
  | 'bad_body';

/** The request is not one to act on. */
export class WebhookVerificationError extends Error {
  constructor(code: VerificationCode, message: string);
  readonly code: VerificationCode;
}

/**
 * The event of a genuine request.
 *
 * @param secrets `whsec_…` as Bellwire showed it; several while you change it
 * @throws WebhookVerificationError when the request is not genuine or too old
 * @throws TypeError when a secret or an option makes no sense
 */
export function verify<Event extends Envelope = KnownEvent>(
  rawBody: RawBody,
  headers: RequestHeaders,
  secrets: string | readonly string[],
  options?: VerifyOptions,
): Event;

/** Thrown by a handler: this event will never be accepted. Answered with 422, never retried. */
export class UnacceptableEvent extends Error {}

type Maybe<Value> = Value | Promise<Value>;

/** What a receiver has to remember: one per subscription. Every method may be asynchronous. */
export interface ReceiverStore {
  /**
   * Takes an event to be handled. `mine`: nobody has handled it, the caller does it now. `done`: it
   * was handled. `busy`: another process is at it. A claim should lapse, so that the event of a
   * process that died is handled by the next attempt.
   */
  claim(id: string): Maybe<'mine' | 'done' | 'busy'>;
  /** It was handled: never again, for 72 hours at least. */
  finish(id: string): Maybe<void>;
  /** It was not handled, and may be claimed again. */
  release(id: string): Maybe<void>;
  /** Up to where deliveries were dealt with, or are known to be missing; null before the first. */
  position(): Maybe<number | null>;
  /** Must never lower it: older deliveries come again, and two processes may call this at once. */
  setPosition(position: number): Maybe<void>;
}

export interface MemoryStoreOptions {
  /** Ids to remember, the newest; 10,000 by default. */
  limit?: number;
  /** Where to go on counting. 0: the first delivery must be number 1. Unset: whatever comes first. */
  position?: number;
}

/** Forgets everything with the process, so the first delivery after a start is never a gap. */
export class MemoryStore implements ReceiverStore {
  constructor(options?: MemoryStoreOptions);
  claim(id: string): 'mine' | 'done' | 'busy';
  finish(id: string): void;
  release(id: string): void;
  position(): number | null;
  setPosition(position: number): void;
}

export interface Gap {
  /** The position that should have come. */
  expected: number;
  /** The one that came. What is before it was given up, whether attempts of it failed here or not. */
  received: number;
}

export interface ReceiverOptions<Event extends Envelope = KnownEvent> {
  secrets: string | readonly string[];
  /** Resolves once the event is dealt with for good: only then the sender hears that it is. */
  handle: (event: Event, delivery: { position: number | null }) => unknown;
  /** A `MemoryStore` by default. */
  store?: ReceiverStore;
  /** Deliveries are missing before this one: read the state anew. Awaited before it is handled. */
  onGap?: (gap: Gap, event: Event) => unknown;
  /** What made the answer 500; `console.error` by default. */
  onError?: (error: unknown, event: Event | null) => unknown;
  /** What made the answer 401. The sender does not read more than the status. */
  onRefused?: (error: WebhookVerificationError) => unknown;
  /** WEBHOOK_HEADER_PREFIX of the sender; `Codex` by default. */
  headerPrefix?: string;
  /** Seconds, as for `verify()`. */
  tolerance?: number;
  /** 64 KiB by default; a webhook has at most 4. */
  maxBodyBytes?: number;
}

/** What to answer. */
export interface Answer {
  status: number;
  body: { ok: true; duplicate?: true } | { error: string };
}

/** Everything but HTTP, for frameworks that have no adapter here. The promise never rejects. */
export function createReceiver<Event extends Envelope = KnownEvent>(
  options: ReceiverOptions<Event>,
): (rawBody: RawBody, headers: RequestHeaders) => Promise<Answer>;

/** For Express, in front of `express.json()`, and for `http.createServer()`. */
export function webhookHandler<Event extends Envelope = KnownEvent>(
  options: ReceiverOptions<Event>,
): (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** For Fastify: `fastify.register(webhookPlugin, { prefix: '/hooks', … })`. */
export function webhookPlugin<Event extends Envelope = KnownEvent>(
  fastify: unknown,
  options: ReceiverOptions<Event>,
): Promise<void>;
