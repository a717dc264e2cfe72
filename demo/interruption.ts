/** Under npm one Ctrl-C arrives twice: from the terminal, and again from npm, which passes it on. */
const SAME_SIGNAL_MILLISECONDS = 500;
const STOP_LIMIT_MILLISECONDS = 20_000;

/** Thrown wherever the demo was when it was to end. The cause is set when that was a mistake. */
export class Interrupted extends Error {
  override name = 'Interrupted';
}

/**
 * A signal, or a mistake in the program, ends the demo at its next step, so that Postgres is
 * stopped and the data removed in any case. A second signal ends the process at once.
 */
export class Interruption {
  #signalledAt: number | undefined;
  #reason: Interrupted | undefined;

  constructor() {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(name, () => this.#onSignal());
    }
    for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
      process.on(event, (error: unknown) => {
        this.#request(new Interrupted('stopped by a mistake in the program', { cause: error }));
      });
    }
    // Whoever read our output is gone, as in `npm run demo | head -1`.
    process.stdout.on('error', () => this.#request(new Interrupted('nobody reads the output')));
    process.stderr.on('error', () => {});
  }

  /** Called between any two steps. */
  checkpoint(): void {
    if (this.#reason) throw this.#reason;
  }

  #onSignal(): void {
    if (this.#signalledAt === undefined) {
      this.#signalledAt = Date.now();
      console.error('\nStopping …');
      this.#request(new Interrupted('stopped by a signal'));
    } else if (Date.now() - this.#signalledAt > SAME_SIGNAL_MILLISECONDS) {
      process.exit(1);
    }
  }

  #request(reason: Interrupted): void {
    if (this.#reason) return;
    this.#reason = reason;
    setTimeout(() => {
      console.error(`Not stopped after ${STOP_LIMIT_MILLISECONDS / 1000} s: giving up.`);
      process.exit(1);
    }, STOP_LIMIT_MILLISECONDS).unref();
  }
}
