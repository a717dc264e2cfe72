import type { FinishedWebhook, WrittenWebhook } from '../database.ts';

type Write = (
  finished: readonly FinishedWebhook[],
  isStopping: boolean,
) => Promise<WrittenWebhook[]>;

interface Entry {
  finished: FinishedWebhook;
  resolve: (written: WrittenWebhook) => void;
  reject: (error: unknown) => void;
}

/**
 * Writes down outcomes, one call at a time: what ends while a call is under way is written by the
 * next one. So the more there is to write, the more is written at once, and a single outcome waits
 * for nothing.
 */
export class Ledger {
  readonly #write: Write;
  #waiting: Entry[] = [];
  #isWriting = false;
  #isStopping = false;

  constructor(write: Write) {
    this.#write = write;
  }

  /** From now on no run goes on after its delivery in flight. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Rejects when the database could not be told. */
  finish(finished: FinishedWebhook): Promise<WrittenWebhook> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ finished, resolve, reject });
      if (this.#isWriting) return;
      this.#isWriting = true;
      // After this turn of the event loop, in which others may end as well.
      setImmediate(() => void this.#writeAll());
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const entries = this.#waiting;
      this.#waiting = [];
      await this.#writeTogether(entries);
    }
    this.#isWriting = false;
  }

  async #writeTogether(entries: readonly Entry[]): Promise<void> {
    try {
      const written = await this.#write(
        entries.map(({ finished }) => finished),
        this.#isStopping,
      );
      const byId = new Map(written.map((each) => [each.deliveryId, each]));
      for (const { finished, resolve } of entries) {
        const { deliveryId } = finished;
        // What the database does not answer for belongs to another worker by now.
        resolve(byId.get(deliveryId) ?? { deliveryId, outcome: 'stale', goesOn: false });
      }
    } catch (error) {
      // One that cannot be written must not keep the others from being written.
      if (entries.length > 1) for (const entry of entries) await this.#writeTogether([entry]);
      else entries[0]?.reject(error);
    }
  }
}
