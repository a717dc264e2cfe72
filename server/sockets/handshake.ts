import type { RawData, WebSocket } from 'ws';
import { z } from 'zod';
import type { Database } from '../database.ts';
import type { Session } from '../identity.ts';
import { findSession } from '../plugins/authentication.ts';
import { Connection, frameOf, type PushEvent, type Start } from './connection.ts';
import { CLOSE, type SocketHub } from './hub.ts';
import type { PushTail } from './push-tail.ts';

export interface HandshakeTools {
  database: Database;
  hub: SocketHub;
  tail: PushTail;
  authTimeoutMs: number;
  onFailure: (error: unknown) => void;
}

interface Missed extends Start {
  unreadCount: number;
  needsResync: boolean;
  events: (PushEvent & { cursor: string })[];
}

const TOKEN_CHARACTERS = 512;
/** More than any cursor has: what is longer is no auth frame of ours. */
const CURSOR_CHARACTERS = 4_000;
const FOLLOWING_TIMEOUT_MS = 5_000;
/** Who missed more is told so, and reads the inbox instead. */
const MOST_REPLAYED = 500;

const authFrame = z.object({
  type: z.literal('auth'),
  token: z.string().min(1).max(TOKEN_CHARACTERS).optional(),
  cursor: z.string().max(CURSOR_CHARACTERS).nullish(),
});
type AuthFrame = z.infer<typeof authFrame>;

/**
 * Waits for the first frame and makes a connection of the socket, or closes it with the code that
 * says why. The token travels in a frame and not in the address, which would land in logs; the
 * cookie of the upgrade request stands in for it, as a page cannot read an HttpOnly cookie.
 */
export function beginHandshake(
  socket: WebSocket,
  cookie: string | undefined,
  tools: HandshakeTools,
): void {
  const timer = setTimeout(
    () => socket.close(CLOSE.timeout, 'No auth frame in time'),
    tools.authTimeoutMs,
  );
  socket.once('close', () => clearTimeout(timer));
  // Later frames are no part of the protocol and are ignored.
  socket.once('message', (data: RawData, isBinary: boolean) => {
    clearTimeout(timer);
    const frame = isBinary ? undefined : readFrame(data);
    const token = frame?.token ?? cookie;
    if (frame === undefined || token === undefined) {
      socket.close(CLOSE.malformed, 'Malformed auth frame');
      return;
    }
    signIn(socket, token, frame, tools).catch((error: unknown) => refuse(socket, error, tools));
  });
}

function readFrame(data: RawData): AuthFrame | undefined {
  try {
    return authFrame.safeParse(JSON.parse(data.toString())).data;
  } catch {
    return undefined;
  }
}

async function signIn(
  socket: WebSocket,
  token: string,
  frame: AuthFrame,
  tools: HandshakeTools,
): Promise<void> {
  const session = await findSession(tools.database, token);
  if (session === null) {
    socket.close(CLOSE.denied, 'Access denied');
    return;
  }
  // The other side may have left while the database was asked.
  if (socket.readyState !== socket.OPEN) return;
  const connection = new Connection(socket, session.user.id, session.digest);
  if (!tools.hub.add(connection)) {
    socket.close(CLOSE.ended, 'Too many connections');
    return;
  }
  socket.once('close', () => tools.hub.remove(connection));
  await greet(connection, session, frame.cursor ?? undefined, tools);
}

/**
 * In this order nothing is lost: events are held from now on, and once the tail follows for this
 * person the state is read, in one snapshot. What is held or comes later and was in it is left out.
 */
async function greet(
  connection: Connection,
  session: Session,
  cursor: string | undefined,
  tools: HandshakeTools,
): Promise<void> {
  await withTimeout(tools.tail.following());
  const [missed] = await tools.database.read<Missed>(
    'select snapshot, cursor, unread_count, needs_resync, events ' +
      'from bellwire.missed_notifications($1, $2, $3)',
    [session.user.id, cursor ?? null, MOST_REPLAYED],
  );
  if (missed === undefined) throw new Error('missed_notifications() gave no row.');
  connection.send({
    type: 'ready',
    unreadCount: missed.unreadCount,
    // Before the replay the client is where it was.
    cursor: missed.events.length > 0 ? cursor : missed.cursor,
    resync: missed.needsResync,
  });
  for (const event of missed.events) connection.send(frameOf(event, event.cursor));
  connection.open(missed);
}

function refuse(socket: WebSocket, error: unknown, tools: HandshakeTools): void {
  tools.onFailure(error);
  socket.close(CLOSE.tryAgainLater, 'Try again later');
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
