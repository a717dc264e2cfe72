/** How long everything together may take to stop before the process ends regardless. */
const STOP_LIMIT_MILLISECONDS = 10_000;

/** Kept back for what was started first, Postgres, which must not outlive us. */
const RESERVED_MILLISECONDS = 3_000;

/** What a part still gets after an earlier one has used up the time. */
const LEAST_PATIENCE_MILLISECONDS = 500;

/**
 * Under npm one Ctrl-C arrives twice: from the terminal, and again from npm, which passes it on.
 * Only a later signal counts as the impatient second one.
 */
const SAME_SIGNAL_MILLISECONDS = 500;

const ALIVE_MILLISECONDS = 60_000;

type Stop = () => Promise<void>;

/** Thrown by `checkpoint` when a signal came while booting; what was started has to be stopped. */
export class Interrupted extends Error {
  override name = 'Interrupted';
}

/**
 * Starts and stops the parts of a long-running command in order.
 *
 * The first SIGINT or SIGTERM stops them, the last started first, and exits 0; a second one, or a
 * stop that takes too long, exits 1. A signal during boot lets the step in hand finish, since half
 * a migration or half an initdb helps nobody, and then stops what was started.
 */
export class Lifecycle {
  readonly #stops: { name: string; stop: Stop }[] = [];
  #signalledAt: number | undefined;
  #failed = false;
  #wake: () => void = () => {};
  readonly #signal = new Promise<void>((resolve) => {
    this.#wake = resolve;
  });

  constructor() {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(name, () => this.#onSignal());
    }
    // Whoever read our output is gone, as in `bellwire db | head -1`: nobody is served any more.
    process.stdout.on('error', () => this.#requestStop());
    process.stderr.on('error', () => {});
    // A mistake in the program must not leave Postgres running behind it.
    for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
      process.on(event, (error: unknown) => {
        console.error(error);
        this.#failed = true;
        this.#requestStop();
      });
    }
  }

  /** Registers how to stop what was just started. */
  onStop(name: string, stop: Stop): void {
    this.#stops.push({ name, stop });
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
      await this.#signal;
    } catch (error) {
      if (!(error instanceof Interrupted)) {
        code = 1;
        console.error(describeError(error));
      }
    }
    const clean = await this.#stopAll();
    clearInterval(alive);
    return clean && !this.#failed ? code : 1;
  }

  #onSignal(): void {
    if (this.#signalledAt === undefined) {
      console.error('\nStopping …');
      this.#requestStop();
    } else if (Date.now() - this.#signalledAt > SAME_SIGNAL_MILLISECONDS) {
      process.exit(1);
    }
  }

  #requestStop(): void {
    if (this.#signalledAt !== undefined) return;
    this.#signalledAt = Date.now();
    setTimeout(() => {
      console.error(`Not stopped after ${STOP_LIMIT_MILLISECONDS / 1000} s: giving up.`);
      process.exit(1);
    }, STOP_LIMIT_MILLISECONDS).unref();
    this.#wake();
  }

  async #stopAll(): Promise<boolean> {
    let clean = true;
    const deadline = Date.now() + STOP_LIMIT_MILLISECONDS - RESERVED_MILLISECONDS;
    for (const [index, { name, stop }] of this.#stops.toReversed().entries()) {
      const isFirstStarted = index === this.#stops.length - 1;
      const patience = Math.max(deadline - Date.now(), LEAST_PATIENCE_MILLISECONDS);
      try {
        await (isFirstStarted ? stop() : withLimit(stop(), patience));
      } catch (error) {
        clean = false;
        console.error(`${name} did not stop cleanly: ${describeError(error)}`);
      }
    }
    return clean;
  }
}

/** Goes on without waiting for something that hangs. */
function withLimit(work: Promise<void>, milliseconds: number): Promise<void> {
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
