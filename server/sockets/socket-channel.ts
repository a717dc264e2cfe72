import type { WebSocket } from 'ws';
import { type Channel, type EndReason, type Frame, MOST_BUFFERED_BYTES } from './channel.ts';

/** Close codes of the protocol. */
export const CLOSE = {
  timeout: 4001,
  malformed: 4002,
  denied: 4003,
  /** Too many connections, or the session has ended. */
  ended: 4004,
  shuttingDown: 1001,
  tryAgainLater: 1013,
} as const;

const ENDS: Record<EndReason, [code: number, reason: string]> = {
  'too-many': [CLOSE.ended, 'Too many connections'],
  'session-ended': [CLOSE.ended, 'Session ended'],
  stopping: [CLOSE.shuttingDown, 'Server shutting down'],
};

/** A WebSocket: one text message per frame. */
export class SocketChannel implements Channel {
  readonly kind = 'socket';
  readonly #socket: WebSocket;
  #isAlive = true;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('pong', () => {
      this.#isAlive = true;
    });
  }

  async send(frame: Frame): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > MOST_BUFFERED_BYTES) {
      this.drop();
      return;
    }
    await new Promise<void>((resolve) => {
      this.#socket.send(JSON.stringify(frame), () => resolve());
    });
  }

  /** Who has not answered the last one is dropped. */
  ping(): void {
    if (!this.#isAlive) {
      this.drop();
      return;
    }
    this.#isAlive = false;
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
  }

  end(reason: EndReason): void {
    this.#socket.close(...ENDS[reason]);
  }

  drop(): void {
    this.#socket.terminate();
  }
}
