import type { Connection, PushEvent, PushLook } from './connection.ts';

/** Close codes of the protocol. */
export const CLOSE = {
  timeout: 4001,
  malformed: 4002,
  denied: 4003,
  /** Too many sockets, or the session has ended. */
  ended: 4004,
  shuttingDown: 1001,
  tryAgainLater: 1013,
} as const;

const MOST_SOCKETS_PER_USER = 10;

/** The signed-in sockets of this process. */
export class SocketHub {
  readonly #byUser = new Map<number, Set<Connection>>();

  /** False when the person has as many as they may. */
  add(connection: Connection): boolean {
    const existing = this.#byUser.get(connection.userId) ?? new Set();
    if (existing.size >= MOST_SOCKETS_PER_USER) return false;
    existing.add(connection);
    this.#byUser.set(connection.userId, existing);
    return true;
  }

  remove(connection: Connection): void {
    const existing = this.#byUser.get(connection.userId);
    existing?.delete(connection);
    if (existing?.size === 0) this.#byUser.delete(connection.userId);
  }

  /** Hands each person's events of one look to their sockets. */
  deliver({ cursor, events }: PushLook): void {
    const byUser = new Map<number, PushEvent[]>();
    for (const event of events) {
      const own = byUser.get(event.userId);
      if (own) own.push(event);
      else byUser.set(event.userId, [event]);
    }
    for (const [userId, own] of byUser) {
      for (const connection of this.#byUser.get(userId) ?? []) {
        connection.deliver({ cursor, events: own });
      }
    }
  }

  /** Who has a socket open. */
  userIds(): number[] {
    return [...this.#byUser.keys()];
  }

  /** The digests of the sessions that hold a socket open, each once. */
  digests(): string[] {
    return [...new Set(this.#all().map((connection) => connection.digest))];
  }

  closeSessions(isEnded: (digest: string) => boolean): void {
    for (const connection of this.#all()) {
      if (isEnded(connection.digest)) connection.close(CLOSE.ended, 'Session ended');
    }
  }

  pingAll(): void {
    for (const connection of this.#all()) connection.ping();
  }

  #all(): Connection[] {
    return [...this.#byUser.values()].flatMap((connections) => [...connections]);
  }
}
