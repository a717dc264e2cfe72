import { WebSocket } from 'ws';
import type { Person } from './accounts.ts';

const READY_LIMIT_MILLISECONDS = 5_000;

export interface LiveNotification {
  id: number;
  /** A notification that is counted again within its minute is news again, with a higher count. */
  count: number;
  createdAt: string;
  arrivedAt: number;
}

interface Frame {
  type: 'ready' | 'notification' | 'read' | 'read-all' | 'resync';
  id?: number;
  notification?: { id: number; coalescedCount: number; createdAt: string };
}

/** A person's open page: everything the server pushed, in order of arrival. */
export class LiveSocket {
  readonly person: Person;
  readonly notifications: LiveNotification[] = [];
  readonly readIds: number[] = [];
  /** How often the server said that everything is read. */
  readAllCount = 0;
  /** Set when the server closed it, which it should not. */
  closedWith: number | undefined;
  readonly #socket: WebSocket;

  private constructor(address: string, person: Person) {
    this.person = person;
    this.#socket = new WebSocket(`${address.replace(/^http/, 'ws')}/notifications-ws`, {
      headers: { origin: address },
    });
  }

  /** Connects and signs in. Resolves once every later notification will arrive. */
  static async open(address: string, person: Person): Promise<LiveSocket> {
    const live = new LiveSocket(address, person);
    await live.#signIn();
    return live;
  }

  close(): void {
    this.#socket.close();
  }

  #signIn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(
        () => reject(new Error('The socket was not ready in time.')),
        READY_LIMIT_MILLISECONDS,
      );
      this.#socket.on('error', reject);
      this.#socket.on('close', (code) => {
        this.closedWith = code;
        reject(new Error(`The socket was closed with ${code}.`));
      });
      this.#socket.on('open', () => {
        this.#socket.send(JSON.stringify({ type: 'auth', token: this.person.token }));
      });
      this.#socket.on('message', (data) => {
        const frame: Frame = JSON.parse(data.toString());
        if (frame.type === 'ready') {
          clearTimeout(late);
          resolve();
        }
        this.#keep(frame);
      });
    });
  }

  #keep({ type, id, notification }: Frame): void {
    if (type === 'read' && id !== undefined) this.readIds.push(id);
    if (type === 'read-all') this.readAllCount++;
    if (type !== 'notification' || !notification) return;
    this.notifications.push({
      id: notification.id,
      count: notification.coalescedCount,
      createdAt: notification.createdAt,
      arrivedAt: Date.now(),
    });
  }
}
