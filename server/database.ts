import pg from 'pg';
import { statementName } from '../operations/statement-name.ts';
import { isConnectionLost } from './database-problem.ts';
import type { Identity } from './identity.ts';
import { camelRow } from './json.ts';

/** What may be bound to a parameter. */
export type Parameter = string | number | boolean | null | readonly string[];

export interface DatabaseOptions {
  /** Connects as bellwire_server. */
  databaseUrl: string;
  /** Most connections at once. */
  poolSize: number;
  /** Told about a connection that broke while nobody used it. */
  onIdleError: (error: Error) => void;
  /** Told of every statement that took so long, the wait for a connection included. */
  slowQueryMs: number;
  onSlow: (statement: string, ms: number) => void;
}

const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 15_000;
/** The client's own limit, for a server that vanished without closing the connection. */
const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 20_000;
const IDLE_TIMEOUT_MS = 30_000;

/**
 * How often a statement is begun again on another connection, and until when. After a restart of
 * the database the pool may hand out connections whose end it has not noticed yet; those fail at
 * once, where a database that does not answer fails after a time-out and is not asked again.
 */
const BEGIN_ATTEMPTS = 3;
const BEGIN_AGAIN_WITHIN_MS = 1_000;

const INT8_OID = 20;
const TIMESTAMPTZ_OID = 1184;

/** Ids are JSON numbers, times ISO 8601 in UTC; everything else as the driver has it. */
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8_OID) return Number;
    if (oid === TIMESTAMPTZ_OID) return readTime;
    return pg.types.getTypeParser(oid, format);
  }) as pg.CustomTypesConfig['getTypeParser'],
};

function readTime(text: string): string | null {
  const parsed: unknown = pg.types.getTypeParser(TIMESTAMPTZ_OID)(text);
  return parsed instanceof Date ? parsed.toISOString() : null;
}

/** How every connection of this process is made. */
export function connectionConfig(databaseUrl: string): pg.ClientConfig {
  return {
    connectionString: databaseUrl,
    application_name: 'bellwire-server',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    types: TYPES,
  };
}

/** The server's connections. Connects at the first statement, not before. */
export class Database {
  readonly #pool: pg.Pool;
  readonly #options: DatabaseOptions;

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#pool = new pg.Pool({
      ...connectionConfig(options.databaseUrl),
      max: options.poolSize,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
    });
    // Without a listener the loss of a connection would end the process: the pool listens while
    // the connection is idle in it, and nobody while it is taken and between two statements. The
    // next statement fails then, which is all there is to do.
    this.#pool.on('error', options.onIdleError);
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /** How many connections are taken, and how many callers wait for one. */
  get pool(): { inUse: number; waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { inUse: totalCount - idleCount, waiting: waitingCount };
  }

  /** A statement that only reads, as the login role; begun again if its connection was dead. */
  async read<Row>(sql: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    const startedAt = Date.now();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.write<Row>(sql, parameters);
      } catch (error) {
        if (!mayBeginAgain(error, attempt, startedAt)) throw error;
      }
    }
  }

  /** One statement as the login role, in a transaction of its own. */
  async write<Row>(sql: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    const result = await this.#timed(sql, () =>
      this.#pool.query<Record<string, unknown>>(sql, [...parameters]),
    );
    return result.rows.map((row) => camelRow(row) as Row);
  }

  /**
   * One statement under the rules: as the request role of `identity`, in a transaction of its own.
   * Row keys come back in camel case; the route's response schema is the check of their types.
   */
  async callAs<Row>(
    identity: Identity,
    sql: string,
    parameters: readonly Parameter[] = [],
  ): Promise<Row[]> {
    return this.#timed(sql, () => this.#callAs<Row>(identity, sql, parameters));
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #callAs<Row>(
    identity: Identity,
    sql: string,
    parameters: readonly Parameter[],
  ): Promise<Row[]> {
    const client = await this.#begin(identity);
    try {
      const result = await client.query<Record<string, unknown>>(sql, [...parameters]);
      await client.query('commit');
      client.release();
      return result.rows.map((row) => camelRow(row) as Row);
    } catch (error) {
      await abandon(client, error);
      throw error;
    }
  }

  async #timed<T>(sql: string, run: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await run();
    } finally {
      const ms = Math.round(performance.now() - startedAt);
      const { slowQueryMs, onSlow } = this.#options;
      if (ms >= slowQueryMs) onSlow(statementName(sql), ms);
    }
  }

  async #begin(identity: Identity): Promise<pg.PoolClient> {
    const begin = beginAs(identity);
    const startedAt = Date.now();
    for (let attempt = 1; ; attempt += 1) {
      const client = await this.#pool.connect();
      try {
        await client.query(begin);
        return client;
      } catch (error) {
        client.release(true);
        // Nothing has been asked yet, so asking again cannot do anything twice.
        if (!mayBeginAgain(error, attempt, startedAt)) throw error;
      }
    }
  }
}

function mayBeginAgain(error: unknown, attempt: number, startedAt: number): boolean {
  return (
    attempt < BEGIN_ATTEMPTS &&
    Date.now() - startedAt < BEGIN_AGAIN_WITHIN_MS &&
    isConnectionLost(error)
  );
}

/** `begin` and the identity in one round trip, the way PostgREST does it. */
function beginAs(identity: Identity): string {
  const claims =
    identity.role === 'anon'
      ? { role: identity.role }
      : { sub: String(identity.userId), role: identity.role };
  return (
    `begin; select set_config('role', ${pg.escapeLiteral(identity.role)}, true), ` +
    `set_config('request.jwt.claims', ${pg.escapeLiteral(JSON.stringify(claims))}, true)`
  );
}

/** Gives a connection back after a failure: rolled back, or destroyed when that is not certain. */
async function abandon(client: pg.PoolClient, error: unknown): Promise<void> {
  if (isConnectionLost(error)) {
    client.release(true);
    return;
  }
  try {
    await client.query('rollback');
    client.release();
  } catch {
    client.release(true);
  }
}
