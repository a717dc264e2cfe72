import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { describeError, type Logger } from './logger.ts';

/**
 * One connection that listens. A notification is a hint that something was committed: whoever
 * gets it looks at the rows. Every (re)connect counts as a hint on all channels, because what was
 * notified while nobody listened is gone.
 */

const CONNECT_TIMEOUT_MS = 10_000;
const PROBE_TIMEOUT_MS = 5_000;
const PROBE_EVERY_MS = 30_000;
const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 10_000;

interface WakeOptions {
  databaseUrl: string;
  channels: readonly string[];
  onWake: (channel: string) => void;
  logger: Logger;
}

export class WakeListener {
  readonly #options: WakeOptions;
  readonly #stopping = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(options: WakeOptions) {
    this.#options = options;
  }

  start(): void {
    this.#loop = this.#keepListening();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  async #keepListening(): Promise<void> {
    let retryMs = MIN_RETRY_MS;
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#listenUntilLost(() => {
          retryMs = MIN_RETRY_MS;
        });
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        const { logger } = this.#options;
        logger.warn(
          { error: describeError(error) },
          'the wake-up connection was lost; polling meanwhile',
        );
      }
      await this.#pause(retryMs);
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
    }
  }

  async #listenUntilLost(onListening: () => void): Promise<void> {
    const { databaseUrl, channels, onWake } = this.#options;
    const client = new pg.Client({
      connectionString: databaseUrl,
      application_name: 'bellwire worker wake',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: PROBE_TIMEOUT_MS,
      keepAlive: true,
    });
    // Also what is under way is left when the worker stops: a client that is ended while it still
    // connects never settles its connect().
    const lost = new Promise<never>((_resolve, reject) => {
      client.on('error', reject);
      client.on('end', () => reject(new Error('The connection ended.')));
      this.#stopping.signal.addEventListener('abort', () => reject(new Error('Stopping.')));
    });
    lost.catch(() => {});
    client.on('notification', ({ channel }) => onWake(channel));
    try {
      await Promise.race([lost, client.connect()]);
      for (const channel of channels)
        await Promise.race([lost, client.query(`listen ${client.escapeIdentifier(channel)}`)]);
      onListening();
      for (const channel of channels) onWake(channel);
      // A peer that vanished without a word is only noticed by asking.
      while (!this.#stopping.signal.aborted) {
        await Promise.race([lost, this.#pause(PROBE_EVERY_MS)]);
        await Promise.race([lost, client.query('select 1')]);
      }
    } finally {
      // Not waited for: it may hang for the same reason as connect().
      void client.end().catch(() => {});
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    const { signal } = this.#stopping;
    await delay(milliseconds, undefined, { signal }).catch(() => {});
  }
}
