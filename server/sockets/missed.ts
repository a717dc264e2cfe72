import type { Database } from '../database.ts';
import { type Connection, frameOf, type PushEvent, type Start } from './connection.ts';
import type { PushTail } from './push-tail.ts';

export interface PushSources {
  database: Database;
  tail: PushTail;
}

/** What a client has missed since its cursor, and where it goes on from. */
export interface Missed extends Start {
  unreadCount: number;
  /** More was missed than is replayed, or the cursor is none of ours. */
  needsResync: boolean;
  events: (PushEvent & { cursor: string })[];
}

const FOLLOWING_TIMEOUT_MS = 5_000;
/** Who missed more is told so, and reads the inbox instead. */
const MOST_REPLAYED = 500;
/** What does not look like a cursor is one that no server knows. */
const CURSOR_FORM = /^[A-Za-z0-9._-]{1,3000}$/;
const UNKNOWN_CURSOR = '';

/** A client's own cursor, in a form that can be asked about. */
export function readCursor(text: string | null | undefined): string | undefined {
  if (text === null || text === undefined) return undefined;
  return CURSOR_FORM.test(text) ? text : UNKNOWN_CURSOR;
}

/**
 * The connection must be in the hub already, which holds its events from then on. In this order
 * nothing is lost: once the tail follows for this person the state is read, in one snapshot; what
 * is held or comes later and was in it is left out.
 */
export async function findMissed(
  { database, tail }: PushSources,
  userId: number,
  cursor: string | undefined,
): Promise<Missed> {
  await withTimeout(tail.following());
  const [missed] = await database.read<Missed>(
    'select snapshot, cursor, unread_count, needs_resync, events ' +
      'from bellwire.missed_notifications($1, $2, $3)',
    [userId, cursor ?? null, MOST_REPLAYED],
  );
  if (missed === undefined) throw new Error('missed_notifications() gave no row.');
  return missed;
}

/** Says that the client is in, what it missed, and from here on everything as it comes. */
export async function greet(
  connection: Connection,
  missed: Missed,
  cursor: string | undefined,
): Promise<void> {
  await connection.send({
    type: 'ready',
    unreadCount: missed.unreadCount,
    // Before the replay the client is where it was.
    cursor: missed.events.length > 0 ? cursor : missed.cursor,
    resync: missed.needsResync,
  });
  // One at a time: a long replay waits for its client instead of piling up for it.
  for (const event of missed.events) await connection.send(frameOf(event, event.cursor));
  connection.open(missed);
}

async function withTimeout(promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error('The push connection is not up.')),
      FOLLOWING_TIMEOUT_MS,
    );
  });
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
