import { readdirSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';

type Reason = 'shutting_down' | 'database' | 'migrations';

/** The answer of the database serves every probe of the next second. */
const REUSE_MS = 1_000;
const PROBE_TIMEOUT_MS = 2_000;
/** A query that may never answer is left behind after this long, so that a new one is tried. */
const ABANDON_MS = 10_000;

interface Asked {
  at: number;
  answer: Promise<Reason | undefined>;
  isPending: boolean;
}

/** SQLSTATEs of a database that answers but was never migrated. */
const NOT_MIGRATED_STATES = new Set(['42883', '42P01', '42501', '3F000']);

/** What a server or a worker says that does not start on an older database. */
export const NOT_MIGRATED =
  'The database is not migrated to this version: run "bellwire migrate" first.';

/** The migrations this version was written for, by name: a database without one of them is too old. */
export const KNOWN_MIGRATIONS: readonly string[] = readdirSync(
  path.join(import.meta.dirname, '../db/migrations'),
)
  .filter((name) => name.endsWith('.sql'))
  .map((name) => path.basename(name, '.sql'));

/** Whether this process should be sent requests, or work. */
export class Readiness {
  isShuttingDown = false;
  readonly #ask: () => Promise<boolean>;
  #asked: Asked | undefined;

  constructor(ask: () => Promise<boolean>) {
    this.#ask = ask;
  }

  /** The first reason not to, or undefined. Callers share one query. */
  async reason(): Promise<Reason | undefined> {
    if (this.isShuttingDown) return 'shutting_down';
    return withTimeout(this.#current().answer);
  }

  #current(): Asked {
    const age = this.#asked ? Date.now() - this.#asked.at : Number.POSITIVE_INFINITY;
    if (this.#asked && age <= (this.#asked.isPending ? ABANDON_MS : REUSE_MS)) return this.#asked;
    const answer = this.#query();
    const asked: Asked = { at: Date.now(), answer, isPending: true };
    this.#asked = asked;
    void answer.finally(() => {
      asked.isPending = false;
    });
    return asked;
  }

  async #query(): Promise<Reason | undefined> {
    try {
      return (await this.#ask()) ? undefined : 'migrations';
    } catch (error) {
      const state = error instanceof pg.DatabaseError ? error.code : undefined;
      return state && NOT_MIGRATED_STATES.has(state) ? 'migrations' : 'database';
    }
  }
}

async function withTimeout(answer: Promise<Reason | undefined>): Promise<Reason | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Reason>((resolve) => {
    timer = setTimeout(() => resolve('database'), PROBE_TIMEOUT_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
