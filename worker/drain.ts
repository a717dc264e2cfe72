import { setTimeout as delay } from 'node:timers/promises';

/**
 * Pauses before looking again once nothing was found. A wake-up may be swallowed: only one
 * transaction in flight carries the NOTIFY, and another may commit a moment after it. The second
 * look finds that one; what commits later still is found by the slow poll.
 */
const LOOK_AGAIN_AFTER_MS = [20, 80] as const;

interface DrainOptions {
  /** Does one batch; true when it found something to do. */
  step: () => Promise<boolean>;
  /** After this many batches a run ends and `onUnfinished` is told. Without it: until nothing is left. */
  maxSteps?: number;
  onUnfinished?: () => void;
}

/**
 * Empties one outbox, one run at a time in this process. Asking again while it runs is never
 * lost: the run in progress looks once more.
 */
export class Drain {
  readonly #options: DrainOptions;
  #running: Promise<void> | undefined;
  #isAsked = false;
  #rest: AbortController | undefined;
  #isStopping = false;

  constructor(options: DrainOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /**
   * Runs until nothing is found. While a run is in progress it returns at once, so that a queue
   * slot is never held by a second caller. Rejects with what the step threw.
   */
  async run(): Promise<void> {
    if (this.#isStopping) return;
    if (this.#running) {
      this.#isAsked = true;
      this.#rest?.abort();
      return;
    }
    this.#running = this.#loop();
    await this.#running;
  }

  /** Ends the run after the batch in hand and waits for it. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#rest?.abort();
    await this.#running?.catch(() => {});
  }

  async #loop(): Promise<void> {
    try {
      await this.#lookUntilQuiet();
    } finally {
      // In the same turn as the last look: whoever asks from now on starts a run of his own.
      this.#running = undefined;
    }
  }

  async #lookUntilQuiet(): Promise<void> {
    let quietLooks = 0;
    for (let steps = 0; !this.#isStopping; steps += 1) {
      if (steps === this.#options.maxSteps) {
        this.#options.onUnfinished?.();
        return;
      }
      this.#isAsked = false;
      const found = await this.#options.step();
      if (found || this.#isAsked) {
        quietLooks = 0;
        continue;
      }
      const pause = LOOK_AGAIN_AFTER_MS[quietLooks];
      if (pause === undefined) return;
      quietLooks += 1;
      await this.#restFor(pause);
      if (this.#isAsked) quietLooks = 0;
    }
  }

  async #restFor(milliseconds: number): Promise<void> {
    this.#rest = new AbortController();
    await delay(milliseconds, undefined, { signal: this.#rest.signal }).catch(() => {});
    this.#rest = undefined;
  }
}
