import type { FastifyBaseLogger } from 'fastify';
import pg from 'pg';
import { connectionConfig } from '../database.ts';
import type { PushEvent, PushLook } from './connection.ts';

interface Options {
  databaseUrl: string;
  log: FastifyBaseLogger;
  /** Whose events are wanted: asked at the beginning of each look. */
  listeners: () => number[];
  onLook: (look: PushLook) => void;
}

interface Look extends PushLook {
  snapshot: string;
  is_news: boolean;
  events: PushEvent[];
}

/** NOTIFY is a hint that may be missed; this is how late a push is then. */
const POLL_MS = 1_000;
/** After a find, how soon to look again for what was being committed at the same moment. */
const LOOK_AGAIN_MS = 30;
const RECONNECT_FIRST_MS = 200;
const RECONNECT_MOST_MS = 5_000;
const STOP_TIMEOUT_MS = 2_000;

/**
 * Follows what is new in the inboxes, on one connection of its own.
 *
 * The snapshot of the last look is kept across reconnects, so what was committed while the
 * database could not be reached is found afterwards: exactly once, late commits included.
 */
export class PushTail {
  readonly #options: Options;
  #snapshot: string | null = null;
  #isStopped = false;
  #wake: () => void = () => {};
  #isWoken = false;
  #running: Promise<void> | undefined;
  #isFollowing: () => void = () => {};
  readonly #following = new Promise<void>((resolve) => {
    this.#isFollowing = resolve;
  });
  #looking: Promise<unknown> | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /**
   * Resolves once every later commit will be seen for whoever is a listener now: the look that may
   * be under way did not ask for them.
   */
  async following(): Promise<void> {
    await this.#following;
    await this.#looking?.catch(() => {});
  }

  /** Ends by itself after the look that is under way; a database that hangs is not waited for. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#wakeUp();
    await within(STOP_TIMEOUT_MS, this.#running);
  }

  async #run(): Promise<void> {
    let delayMs = RECONNECT_FIRST_MS;
    while (!this.#isStopped) {
      const startedAt = Date.now();
      try {
        await this.#follow();
      } catch (error) {
        if (!this.#isStopped) this.#options.log.warn({ err: error }, 'lost the push connection');
      }
      if (this.#isStopped) return;
      // A connection that held for a while failed for a new reason: begin with short waits again.
      if (Date.now() - startedAt > RECONNECT_MOST_MS) delayMs = RECONNECT_FIRST_MS;
      await this.#sleep(delayMs);
      delayMs = Math.min(delayMs * 2, RECONNECT_MOST_MS);
    }
  }

  async #follow(): Promise<void> {
    const client = new pg.Client(connectionConfig(this.#options.databaseUrl));
    let lost: Error | undefined;
    client.on('error', (error) => {
      lost = error;
      this.#wakeUp();
    });
    client.on('notification', () => this.#wakeUp());
    try {
      await client.connect();
      await client.query('listen bellwire_push');
      while (!this.#isStopped && lost === undefined) {
        const found = await this.#drain(client);
        await this.#sleep(found ? LOOK_AGAIN_MS : POLL_MS);
      }
      if (lost) throw lost;
    } finally {
      await within(STOP_TIMEOUT_MS, client.end());
    }
  }

  /** One look. The caller waits for it, so there are never two at once. */
  async #drain(client: pg.Client): Promise<boolean> {
    const looking = client.query<Look>({
      name: 'push-tail',
      text: 'select snapshot, cursor, is_news, events from bellwire.push_tail($1, $2)',
      values: [this.#snapshot, this.#options.listeners()],
    });
    this.#looking = looking;
    const { rows } = await looking;
    const look = rows[0];
    if (look === undefined) return false;
    this.#snapshot = look.snapshot;
    this.#isFollowing();
    this.#options.onLook(look);
    return look.is_news;
  }

  #wakeUp(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Ends early when woken, also by a wake that came while nobody slept. */
  async #sleep(ms: number): Promise<void> {
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#wake = () => {};
    this.#isWoken = false;
  }
}

/** Waits for the promise, whatever becomes of it, but no longer than that. */
async function within(ms: number, promise: Promise<void> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise?.catch(() => {}), late]);
  clearTimeout(timer);
}
