import type { Channel, EndReason, Frame } from './channel.ts';
import { Snapshot } from './snapshot.ts';

/** Something the push tail found for one person. */
export interface PushEvent {
  userId: number;
  type: 'notification' | 'read' | 'read-all' | 'resync';
  /** The notification's id. */
  id: number;
  /** The transactions it comes from. */
  xids: string[];
  unreadCount: number;
  /** The item as the inbox shows it; null where the event stands for several. */
  notification: Record<string, unknown> | null;
}

/** What one look of the push tail found, by person and id, and the cursor of everything up to it. */
export interface PushLook {
  cursor: string;
  events: readonly PushEvent[];
}

/** Where a client begins: all that is visible in the snapshot was counted or replayed. */
export interface Start {
  snapshot: string;
  cursor: string;
}

/** So many events are kept for a client while its replay is being read. */
const MOST_HELD_EVENTS = 1_000;

/** A signed-in client. Until `open()` events are held, so that nothing overtakes the replay. */
export class Connection {
  readonly userId: number;
  readonly digest: string;
  readonly #channel: Channel;
  #held: PushLook[] | undefined = [];
  #heldEvents = 0;
  #start: Snapshot | undefined;
  /** What everything sent so far adds up to. */
  #cursor = '';

  constructor(channel: Channel, userId: number, digest: string) {
    this.#channel = channel;
    this.userId = userId;
    this.digest = digest;
  }

  get kind(): Channel['kind'] {
    return this.#channel.kind;
  }

  send(frame: Frame & Record<string, unknown>): Promise<void> {
    return this.#channel.send(frame);
  }

  /** Takes this person's events of one look. */
  deliver(look: PushLook): void {
    if (this.#held === undefined) {
      this.#pass(look);
      return;
    }
    this.#heldEvents += look.events.length;
    if (this.#heldEvents <= MOST_HELD_EVENTS) this.#held.push(look);
    else this.#channel.drop();
  }

  /** The replay is sent: now what was held, and from here on everything as it comes. */
  open(start: Start): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#start = new Snapshot(start.snapshot);
    this.#cursor = start.cursor;
    for (const look of held) this.#pass(look);
  }

  /**
   * Sends what the start did not have yet. A look may reach back behind the start for as long as
   * the tail's last one was before it; the transaction says what was in both.
   *
   * Between two frames of one look the cursor names what was sent before, the look, and how far
   * into it the client is; nothing is lost or sent again when the connection breaks there.
   */
  #pass({ cursor, events }: PushLook): void {
    const fresh = events.filter(({ xids }) => xids.some((xid) => !this.#start?.sees(Number(xid))));
    for (const [index, event] of fresh.entries()) {
      const isLast = index === fresh.length - 1;
      void this.send(frameOf(event, isLast ? cursor : `${this.#cursor}.${cursor}.${event.id}`));
    }
    if (fresh.length > 0) this.#cursor = cursor;
  }

  ping(): void {
    this.#channel.ping();
  }

  end(reason: EndReason): void {
    this.#channel.end(reason);
  }
}

export function frameOf(event: PushEvent, cursor: string): Frame & Record<string, unknown> {
  const { type, id, unreadCount, notification } = event;
  switch (type) {
    case 'notification':
      return { type, notification, unreadCount, cursor };
    case 'read':
      return { type, id, notification, unreadCount, cursor };
    default:
      return { type, unreadCount, cursor };
  }
}
