/** How long everything together may take to stop before the process ends regardless. */
const STOP_LIMIT_MILLISECONDS = 10_000;

/** Kept back for what was started first, Postgres, which must not outlive us. */
const RESERVED_MILLISECONDS = 3_000;

/** What a part still gets after an earlier one has used up the time. */
const LEAST_PATIENCE_MILLISECONDS = 500;

/**
 * Under npm one Ctrl-C arrives twice: from the terminal, and again from npm, which passes it on.
 * Only a later one counts as the impatient second.
 */
const SAME_INTERRUPT_MILLISECONDS = 500;

const ALIVE_MILLISECONDS = 60_000;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Resolves to what did not end as it should, a sentence each; everything else is done all the same. */
// biome-ignore lint/suspicious/noConfusingVoidType: most parts have nothing to say.
type Stop = () => Promise<void | readonly string[]>;

/** Thrown by `checkpoint` when a signal came while booting; what was started has to be stopped. */
export class Interrupted extends Error {
  override name = 'Interrupted';
}

/**
 * Starts and stops the parts of a long-running command in order.
 *
 * The first SIGINT or SIGTERM stops them, the last started first, and exits 0; the last line says
 * whether every step of that worked. A second one, or a stop that takes too long, exits 1.
 *
 * A signal during boot exits 0 at once, as long as there is nothing to stop. With the embedded
 * Postgres there is: the step in hand finishes, since half an initdb helps nobody, and then what was
 * started is stopped.
 */
export class Lifecycle {
  readonly #stops: { name: string; stop: Stop }[] = [];
  #signalledAt: number | undefined;
  #signalledBy = '';
  #isBooting = true;
  #isCareful = false;
  #failed = false;
  #wake: () => void = () => {};
  readonly #signal = new Promise<void>((resolve) => {
    this.#wake = resolve;
  });

  constructor() {
    for (const name of SIGNALS) {
      // bin/bellwire.js has one of its own for the time until here.
      process.removeAllListeners(name);
      process.on(name, () => this.#onSignal(name));
    }
    // Whoever read our output is gone, as in `bellwire db | head -1`: nobody is served any more.
    process.stdout.on('error', () => this.#requestStop('a closed output'));
    process.stderr.on('error', () => {});
    // A mistake in the program must not leave Postgres running behind it.
    for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
      process.on(event, (error: unknown) => {
        console.error(error);
        this.#failed = true;
        this.#requestStop('a failure');
      });
    }
  }

  /** Registers how to stop what was just started. */
  onStop(name: string, stop: Stop): void {
    this.#stops.push({ name, stop });
  }

  /** From here on a signal during boot finds something that must not be left behind. */
  beginCareful(): void {
    this.#isCareful = true;
  }

  /** Between two steps of the boot: throws when a signal asked to stop. */
  checkpoint(): void {
    if (this.#signalledAt !== undefined) throw new Interrupted('stopped while starting');
  }

  /** Boots, waits for a signal, stops everything. Resolves to the exit code. */
  async run(boot: () => Promise<void>): Promise<number> {
    let code = 0;
    // Waiting for a signal does not keep a process alive; a timer does.
    const alive = setInterval(() => {}, ALIVE_MILLISECONDS);
    try {
      await boot();
      this.#isBooting = false;
      await this.#signal;
    } catch (error) {
      if (!(error instanceof Interrupted)) {
        code = 1;
        console.error(describeError(error));
      }
    }
    const failed = await this.#stopAll();
    clearInterval(alive);
    if (this.#signalledAt !== undefined) console.error(this.#lastLine(failed));
    return this.#failed ? 1 : code;
  }

  #onSignal(name: NodeJS.Signals): void {
    if (this.#signalledAt === undefined) {
      if (this.#isBooting && !this.#isCareful && this.#stops.length === 0) {
        console.error(`stopped on ${name} during boot`);
        process.exit(0);
      }
      console.error('\nStopping …');
      this.#requestStop(name);
    } else if (name !== 'SIGINT' || Date.now() - this.#signalledAt > SAME_INTERRUPT_MILLISECONDS) {
      console.error(`${name} again: not waiting any longer`);
      process.exit(1);
    }
  }

  #lastLine(failed: number): string {
    if (failed === 0) return `stopped cleanly on ${this.#signalledBy}`;
    const steps = failed === 1 ? '1 failed step' : `${failed} failed steps`;
    return `stopped on ${this.#signalledBy} with ${steps}`;
  }

  #requestStop(cause: string): void {
    if (this.#signalledAt !== undefined) return;
    this.#signalledAt = Date.now();
    this.#signalledBy = cause;
    setTimeout(() => {
      console.error(`Not stopped after ${STOP_LIMIT_MILLISECONDS / 1000} s: giving up.`);
      process.exit(1);
    }, STOP_LIMIT_MILLISECONDS).unref();
    this.#wake();
  }

  /** Every part, also after one that failed; how many steps did. */
  async #stopAll(): Promise<number> {
    let failed = 0;
    const deadline = Date.now() + STOP_LIMIT_MILLISECONDS - RESERVED_MILLISECONDS;
    for (const [index, { name, stop }] of this.#stops.toReversed().entries()) {
      const isFirstStarted = index === this.#stops.length - 1;
      const patience = Math.max(deadline - Date.now(), LEAST_PATIENCE_MILLISECONDS);
      try {
        const failures = await (isFirstStarted ? stop() : withLimit(stop(), patience));
        failed += failures?.length ?? 0;
        for (const failure of failures ?? [])
          console.error(`${name} did not stop cleanly: ${failure}`);
      } catch (error) {
        failed += 1;
        console.error(`${name} did not stop cleanly: ${describeError(error)}`);
      }
    }
    return failed;
  }
}

/** Goes on without waiting for something that hangs. */
function withLimit<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('it took too long')), milliseconds);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** An error as a sentence for a person; with its stack when it is a mistake in the program. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof TypeError || error instanceof ReferenceError) {
    return error.stack ?? error.message;
  }
  // A refused connection to several addresses comes as one error with an empty message.
  if (error instanceof AggregateError && !error.message) {
    return error.errors.map(describeError).join('; ');
  }
  return error.message || error.name;
}
