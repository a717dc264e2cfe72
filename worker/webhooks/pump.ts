import { setTimeout as delay } from 'node:timers/promises';
import type { ClaimedWebhook } from '../database.ts';

/** As in the drains: a claim may miss what commits a moment later. */
const LOOK_AGAIN_AFTER_MS = 30;
/** A pause that ends within this time is not worth a timer per poll, and a clock may jump. */
const MAX_TIMER_MS = 60_000;
const MIN_TIMER_MS = 50;
/** So many runs at once are work enough for two workers. */
const SHARE_FROM_RUNS = 8;

interface PumpOptions {
  /** Subscriptions being sent to by this process, with one delivery in flight each. */
  maxInFlight: number;
  /** At most so many runs, one per subscription. */
  claim: (maxCount: number) => Promise<ClaimedWebhook[][]>;
  /** Sends a run one after the other and writes down what came of it. Must not throw. */
  deliver: (run: ClaimedWebhook[]) => Promise<void>;
  /** Milliseconds until the next paused subscription wakes; null: none. */
  millisecondsToNext: () => Promise<number | null>;
  /** There is more than one worker need do: the moment to let others know. */
  onMuch: () => void;
  /** What a run started by the pump's own timer could not do. */
  onTimerError: (error: unknown) => void;
}

/**
 * Keeps a bounded set of runs in flight and claims again whenever one ends, so that a receiver
 * that hangs occupies its own place and nobody else's. There is no batch and no barrier.
 */
export class Pump {
  readonly #options: PumpOptions;
  readonly #inFlight = new Set<Promise<void>>();
  #running: Promise<void> | undefined;
  #isAsked = false;
  #isStopping = false;
  #wakeUp: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PumpOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /**
   * Claims and sends until nothing can be claimed and nothing is in flight. While a run is in
   * progress it returns at once and makes that run claim again.
   */
  async run(): Promise<void> {
    if (this.#isStopping) return;
    if (this.#running) {
      this.#ask();
      return;
    }
    clearTimeout(this.#timer);
    this.#running = this.#loop();
    await this.#running;
    await this.#setTimer();
  }

  /** Claims nothing more and waits for what is in flight. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    this.#ask();
    await this.#running?.catch(() => {});
    await Promise.all(this.#inFlight);
  }

  /** Also remembered when nobody waits at the moment: a send may end in the middle of a claim. */
  #ask(): void {
    this.#isAsked = true;
    this.#wakeUp?.();
  }

  async #loop(): Promise<void> {
    try {
      let isSecondLook = false;
      while (!this.#isStopping) {
        this.#isAsked = false;
        const claimed = await this.#claim();
        if (claimed > 0) isSecondLook = false;
        if (this.#isAsked) continue;
        if (this.#inFlight.size > 0) {
          await this.#anyEndsOrIsAsked();
          isSecondLook = false;
        } else if (isSecondLook) {
          return;
        } else {
          await this.#waitFor(LOOK_AGAIN_AFTER_MS);
          isSecondLook = !this.#isAsked;
        }
      }
    } finally {
      // In the same turn as the last look: whoever asks from now on starts a run of his own.
      this.#running = undefined;
    }
  }

  async #claim(): Promise<number> {
    const places = this.#options.maxInFlight - this.#inFlight.size;
    if (places <= 0) return 0;
    const claimed = await this.#options.claim(places);
    for (const run of claimed) this.#start(run);
    if (claimed.length >= Math.min(places, SHARE_FROM_RUNS)) this.#options.onMuch();
    return claimed.length;
  }

  #start(run: ClaimedWebhook[]): void {
    const sending = this.#options.deliver(run).finally(() => {
      this.#inFlight.delete(sending);
      this.#ask();
    });
    this.#inFlight.add(sending);
  }

  #anyEndsOrIsAsked(): Promise<void> {
    return new Promise((resolve) => {
      this.#wakeUp = () => {
        this.#wakeUp = undefined;
        resolve();
      };
    });
  }

  async #waitFor(milliseconds: number): Promise<void> {
    const rest = new AbortController();
    this.#wakeUp = () => rest.abort();
    await delay(milliseconds, undefined, { signal: rest.signal }).catch(() => {});
    this.#wakeUp = undefined;
  }

  /** Wakes the pump when the next pause ends. The slow poll would find it too, only later. */
  async #setTimer(): Promise<void> {
    const milliseconds = await this.#options.millisecondsToNext();
    if (milliseconds === null || this.#isStopping || this.#running) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => this.run().catch(this.#options.onTimerError),
      Math.min(Math.max(milliseconds, MIN_TIMER_MS), MAX_TIMER_MS),
    );
  }
}
