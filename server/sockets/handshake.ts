import type { RawData, WebSocket } from 'ws';
import { z } from 'zod';
import type { Database } from '../database.ts';
import { databaseProblem } from '../database-problem.ts';
import type { Session } from '../identity.ts';
import { findSession } from '../plugins/authentication.ts';
import { Connection, eventKey } from './connection.ts';
import { CLOSE, type SocketHub } from './hub.ts';
import type { PushTail } from './push-tail.ts';

export interface HandshakeTools {
  database: Database;
  hub: SocketHub;
  tail: PushTail;
  authTimeoutMs: number;
  onFailure: (error: unknown) => void;
}

interface Missed {
  notification: Record<string, unknown>;
  cursor: string;
}

const TOKEN_CHARACTERS = 512;
const CURSOR_CHARACTERS = 200;
const FOLLOWING_TIMEOUT_MS = 5_000;
const REPLAY_PAGE = 100;
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

/** In this order nothing is lost: events are held from now on, then the state is read and sent. */
async function greet(
  connection: Connection,
  session: Session,
  cursor: string | undefined,
  tools: HandshakeTools,
): Promise<void> {
  await withTimeout(tools.tail.following());
  const { missed, isComplete } =
    cursor !== undefined
      ? await readMissed(session.user.id, cursor, tools.database)
      : { missed: [], isComplete: true };
  const state = await readState(session, tools.database);
  connection.send({
    type: 'ready',
    unreadCount: state.unreadCount,
    cursor: missed.at(-1)?.cursor ?? cursor ?? state.cursor,
    isComplete,
  });
  for (const { notification } of missed) {
    connection.send({ type: 'notification', notification, unreadCount: state.unreadCount });
  }
  connection.open(new Set(missed.map(({ notification }) => eventKey(notification))));
}

async function readState(session: Session, database: Database) {
  const [state] = await database.callAs<{ unreadCount: number; cursor: string | null }>(
    { role: 'authenticated', userId: session.user.id },
    'select api.unread_count() as unread_count, ' +
      // An empty inbox has a place, too: before anything that will come.
      'coalesce((select cursor from api.list_notifications(null, 1, false)), ' +
      "bellwire.encode_cursor('epoch', 0)) as cursor",
  );
  return state ?? { unreadCount: 0, cursor: null };
}

async function readMissed(userId: number, after: string, database: Database) {
  const missed: Missed[] = [];
  let cursor = after;
  while (missed.length < MOST_REPLAYED) {
    const rows = await database.read<Missed>(
      'select notification, cursor from bellwire.missed_notifications($1, $2, $3)',
      [userId, cursor, REPLAY_PAGE],
    );
    missed.push(...rows);
    cursor = rows.at(-1)?.cursor ?? cursor;
    if (rows.length < REPLAY_PAGE) return { missed, isComplete: true };
  }
  return { missed, isComplete: false };
}

function refuse(socket: WebSocket, error: unknown, tools: HandshakeTools): void {
  const problem = databaseProblem(error);
  if (problem?.status === 400) {
    socket.close(CLOSE.malformed, 'Unknown cursor');
    return;
  }
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
