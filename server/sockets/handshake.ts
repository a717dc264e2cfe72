import type { RawData, WebSocket } from 'ws';
import { z } from 'zod';
import { findSession } from '../plugins/authentication.ts';
import { Connection } from './connection.ts';
import type { ConnectionHub } from './hub.ts';
import { findMissed, greet, type PushSources, readCursor } from './missed.ts';
import { CLOSE, SocketChannel } from './socket-channel.ts';

export interface HandshakeTools extends PushSources {
  hub: ConnectionHub;
  authTimeoutMs: number;
  onFailure: (error: unknown) => void;
}

const TOKEN_CHARACTERS = 512;
/** More than any cursor has: what is longer is no auth frame of ours. */
const CURSOR_CHARACTERS = 4_000;

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
  const connection = new Connection(new SocketChannel(socket), session.user.id, session.digest);
  const added = tools.hub.add(connection);
  if (added !== 'added') {
    connection.end(added);
    return;
  }
  socket.once('close', () => tools.hub.remove(connection));
  const cursor = readCursor(frame.cursor);
  await greet(connection, await findMissed(tools, connection.userId, cursor), cursor);
}

function refuse(socket: WebSocket, error: unknown, tools: HandshakeTools): void {
  tools.onFailure(error);
  socket.close(CLOSE.tryAgainLater, 'Try again later');
}
