import type { EndReason } from './channel.ts';
import type { Connection, PushEvent, PushLook } from './connection.ts';

/** Sockets and streams together, in this process. */
const MOST_PER_USER = 10;

/** The signed-in clients of this process, whichever way they came. */
export class ConnectionHub {
  #isStopping = false;
  readonly #byUser = new Map<number, Set<Connection>>();

  /** Or why not: the person has as many as they may, or the server stops. */
  add(connection: Connection): 'added' | EndReason {
    if (this.#isStopping) return 'stopping';
    if (this.countOf(connection.userId) >= MOST_PER_USER) return 'too-many';
    const existing = this.#byUser.get(connection.userId) ?? new Set();
    existing.add(connection);
    this.#byUser.set(connection.userId, existing);
    return 'added';
  }

  remove(connection: Connection): void {
    const existing = this.#byUser.get(connection.userId);
    existing?.delete(connection);
    if (existing?.size === 0) this.#byUser.delete(connection.userId);
  }

  countOf(userId: number): number {
    return this.#byUser.get(userId)?.size ?? 0;
  }

  countOfKind(kind: Connection['kind']): number {
    return this.#all().filter((connection) => connection.kind === kind).length;
  }

  /** Hands each person's events of one look to their clients. */
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

  /** Who is connected. */
  userIds(): number[] {
    return [...this.#byUser.keys()];
  }

  /** The digests of the sessions that are connected, each once. */
  digests(): string[] {
    return [...new Set(this.#all().map((connection) => connection.digest))];
  }

  closeSessions(isEnded: (digest: string) => boolean): void {
    for (const connection of this.#all()) {
      if (isEnded(connection.digest)) connection.end('session-ended');
    }
  }

  pingAll(): void {
    for (const connection of this.#all()) connection.ping();
  }

  /** Ends all there are, and lets nobody in any more. */
  stop(): void {
    this.#isStopping = true;
    for (const connection of this.#all()) connection.end('stopping');
  }

  #all(): Connection[] {
    return [...this.#byUser.values()].flatMap((connections) => [...connections]);
  }
}
