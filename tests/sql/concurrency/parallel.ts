import type pg from 'pg';
import type { Row, Stage } from '../fixtures.ts';

/** A wait this long is a wait for somebody's transaction: nothing here takes so long by itself. */
const LOCK_TIMEOUT = "set local lock_timeout = '2s'; set local statement_timeout = '10s'";

/** One statement as a person that fails, rather than wait for somebody else's transaction. */
export function withoutWaiting(
  stage: Stage,
  person: number,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return stage.database.asUser(person, async (client) => {
    await client.query(LOCK_TIMEOUT);
    return (await client.query(sql, values)).rows;
  });
}

/** A transaction of a person that is open until `end`, whose outcome is decided there. */
export interface Held {
  query(sql: string, values?: unknown[]): Promise<Row[]>;
  end(how: 'commit' | 'rollback'): Promise<void>;
}

export async function hold(stage: Stage, person: number): Promise<Held> {
  const undone = new Error('rolled back on purpose');
  let decide: (how: 'commit' | 'rollback') => void = () => {};
  const decided = new Promise<void>((resolve, reject) => {
    decide = (how) => (how === 'commit' ? resolve() : reject(undone));
  });
  let over: Promise<void> = Promise.resolve();
  const client = await new Promise<pg.PoolClient>((resolve, reject) => {
    over = stage.database.asUser(person, (opened) => {
      resolve(opened);
      return decided;
    });
    over.catch(reject);
  });
  return {
    query: async (sql, values = []) => (await client.query(sql, values)).rows,
    async end(how) {
      decide(how);
      await over.catch((error: unknown) => {
        if (error !== undone) throw error;
      });
    },
  };
}

const LOOKS = 5_000;

/** Until so many other sessions of this database wait for a lock. */
export async function untilBlocked(stage: Stage, count = 1): Promise<void> {
  for (let look = 0; look < LOOKS; look += 1) {
    const waiting = await stage.value<number>(
      `select count(*) from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (waiting >= count) return;
  }
  throw new Error('the other session does not wait');
}

export async function drain(stage: Stage, chunks = 1): Promise<number> {
  const [row] = await stage.byWorker('select bellwire.drain_fan_out($1) as done', [chunks]);
  return row?.done as number;
}

export async function drainAll(stage: Stage, chunks = 1): Promise<void> {
  while ((await drain(stage, chunks)) > 0);
}

export const queued = (stage: Stage) =>
  stage.value<number>('select count(*) from bellwire.fan_out_queue');

/** Nothing went wrong behind anybody's back. */
export const ruleFailures = (stage: Stage) =>
  stage.byAdministrator('select rule, sqlstate, message from bellwire.rule_failures');

/** The SQLSTATEs of those that failed; what is no error of the database is thrown. */
export function refusals(results: PromiseSettledResult<unknown>[]): string[] {
  return results.flatMap((result) => {
    if (result.status === 'fulfilled') return [];
    const code = (result.reason as { code?: string }).code;
    if (!code) throw result.reason;
    return [code];
  });
}
