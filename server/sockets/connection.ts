import type { WebSocket } from 'ws';

/** Something the push tail found for one person. */
export interface PushEvent {
  userId: number;
  type: 'notification' | 'read';
  /** The notification's id. */
  id: number;
  unreadCount: number;
  /** The item as the inbox shows it, its cursor included; only for type `notification`. */
  notification?: Record<string, unknown>;
}

/** A client that lets more than this wait is not reading, and is dropped. */
const MOST_BUFFERED_BYTES = 1024 * 1024;
/** So many events are kept for a client while its replay is being read. */
const MOST_HELD_EVENTS = 1_000;

/** A signed-in socket. Until `open()` events are held, so that nothing overtakes the replay. */
export class Connection {
  readonly userId: number;
  readonly digest: string;
  readonly #socket: WebSocket;
  #held: PushEvent[] | undefined = [];
  #isAlive = true;

  constructor(socket: WebSocket, userId: number, digest: string) {
    this.#socket = socket;
    this.userId = userId;
    this.digest = digest;
    socket.on('pong', () => {
      this.#isAlive = true;
    });
  }

  send(frame: object): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > MOST_BUFFERED_BYTES) {
      this.#socket.terminate();
      return;
    }
    this.#socket.send(JSON.stringify(frame));
  }

  deliver(event: PushEvent): void {
    if (this.#held === undefined) {
      this.send(frameOf(event));
    } else if (this.#held.length < MOST_HELD_EVENTS) {
      this.#held.push(event);
    } else {
      this.#socket.terminate();
    }
  }

  /** Sends what was held, but for what the replay has shown already. */
  open(replayed: ReadonlySet<string>): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const event of held) {
      if (!replayed.has(eventKey(event.notification))) this.send(frameOf(event));
    }
  }

  /** Asks whether the other side is still there; one that did not answer the last time is dropped. */
  ping(): void {
    if (!this.#isAlive) {
      this.#socket.terminate();
      return;
    }
    this.#isAlive = false;
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }
}

/** One state of one notification: counted again within the window it is news again. */
export function eventKey(notification: Record<string, unknown> | undefined): string {
  return notification ? `${notification.id}:${notification.coalescedCount}` : '';
}

function frameOf(event: PushEvent): object {
  const { type, id, unreadCount, notification } = event;
  return type === 'read' ? { type, id, unreadCount } : { type, notification, unreadCount };
}
