import type { Stage } from '../fixtures.ts';

export interface Event {
  userId: number;
  type: string;
  id: number;
  xids: string[];
  unreadCount: number;
  notification: Record<string, unknown> | null;
}

/** A server that looks again and again. */
export class Tail {
  snapshot: string | null = null;
  /** What a client has after everything up to the last look. */
  cursor = '';
  isNews = false;
  readonly stage: Stage;
  readonly listeners: number[] | null;

  constructor(stage: Stage, listeners: number[] | null = null) {
    this.stage = stage;
    this.listeners = listeners;
  }

  async look(): Promise<Event[]> {
    const [row] = await this.stage.byServer('select * from bellwire.push_tail($1, $2)', [
      this.snapshot,
      this.listeners,
    ]);
    this.snapshot = row?.snapshot as string;
    this.cursor = row?.cursor as string;
    this.isNews = row?.is_news as boolean;
    return row?.events as Event[];
  }
}

interface Missed {
  snapshot: string;
  cursor: string;
  unread_count: number;
  needs_resync: boolean;
  events: (Event & { cursor: string })[];
}

export const MOST = 500;

export async function missed(stage: Stage, person: number, cursor: string | null, count = MOST) {
  const [row] = await stage.byServer('select * from bellwire.missed_notifications($1, $2, $3)', [
    person,
    cursor,
    count,
  ]);
  return row as unknown as Missed;
}

export const titles = (events: Event[]) =>
  events.map((event) => event.notification?.title as string);

export const send = (stage: Stage, person: number, title = 'Hello') =>
  stage.byAdministrator("select bellwire.notify($1, $2, 'mention', $3)", [
    person,
    stage.workspaceId,
    title,
  ]);
