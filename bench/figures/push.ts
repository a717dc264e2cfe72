import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { WebSocket } from 'ws';
import { freePort } from '../../db/embedded.ts';
import { digestOf, newSessionToken } from '../../server/session-token.ts';
import type { BenchDatabase } from '../database.ts';
import { type Measurement, median, percentile, rounded } from '../measure.ts';

const SOCKETS = 500;
const ROUNDS = 5;
const WRITES_PER_ROUND = 200;
const START_LIMIT_MS = 20_000;
const ARRIVAL_LIMIT_MS = 5_000;
const CHANNEL = 'bench_bare';
/** What a commit of a notification sends to the servers. */
const HINT_CHANNEL = 'bellwire_push';

/**
 * From the commit of a notification to the frame on its person's socket, with 500 people connected
 * to one server process, against a bare NOTIFY from its commit to a client that listens. Both
 * transactions are open before the clock starts; it starts when COMMIT is sent. The other way does
 * without the row, the rules, the look for what is new, JSON and the second connection.
 */
export async function push(
  database: BenchDatabase,
  log: (line: string) => void,
): Promise<Measurement[]> {
  const tokens = await prepare(database.admin);
  const port = await freePort();
  const server = startServer(database.adminUrl, port);
  const listener = new pg.Client({ connectionString: database.adminUrl });
  const arrivals = new Arrivals();
  try {
    await until(() => isReady(port), START_LIMIT_MS);
    const sockets = [];
    for (const token of tokens) sockets.push(await connect(port, token, arrivals));
    log(`push: ${sockets.length} sockets are open`);
    await listener.connect();
    await listener.query(`listen ${CHANNEL}; listen ${HINT_CHANNEL}`);
    listener.on('notification', ({ channel, payload }) => {
      if (channel === CHANNEL) arrivals.came(payload ?? '');
      else arrivals.hinted();
    });
    const writer = await database.connect(1).connect();
    const times: Times = { pushed: [], hinted: [], bare: [] };
    for (let round = 0; round <= ROUNDS; round++) {
      const pushed = await measureRound(round, (key, index) =>
        timed(writer, arrivals, key, 'select bellwire.notify($1, 1, $2, $3)', [
          1 + (index % SOCKETS),
          'mention',
          key,
        ]),
      );
      const bare = await measureRound(round, (key) =>
        timed(writer, arrivals, key, 'select pg_notify($1, $2)', [CHANNEL, key]),
      );
      const hinted = arrivals.takeHints();
      const middles = [pushed, hinted, bare].map((values) => rounded(median(values)));
      log(
        `push: round ${round} of ${ROUNDS}: ${middles[0]} ms, its NOTIFY ${middles[1]}, bare ${middles[2]}`,
      );
      // The first fills caches and plans.
      if (round === 0) continue;
      times.pushed.push(...pushed);
      times.hinted.push(...hinted);
      times.bare.push(...bare);
    }
    writer.release();
    for (const socket of sockets) socket.terminate();
    return compare(times);
  } finally {
    await listener.end();
    server.kill('SIGTERM');
    if (server.exitCode === null) await once(server, 'exit');
  }
}

interface Times {
  pushed: number[];
  /** Until the NOTIFY of the same commit came. */
  hinted: number[];
  bare: number[];
}

function compare({ pushed, hinted, bare }: Times): Measurement[] {
  const common = { figure: 'push', unit: 'ms from commit to socket' };
  return [
    {
      ...common,
      value: rounded(median(pushed)),
      against: 'a bare LISTEN/NOTIFY, medians',
      ratio: rounded(median(bare) / median(pushed)),
      goal: 0.333,
    },
    {
      ...common,
      value: rounded(median(pushed)),
      against: 'the NOTIFY of the same commit, medians',
      ratio: rounded(median(hinted) / median(pushed)),
    },
    {
      ...common,
      value: rounded(percentile(pushed, 0.99)),
      against: 'a bare LISTEN/NOTIFY, 99th percentiles',
      ratio: rounded(percentile(bare, 0.99) / percentile(pushed, 0.99)),
    },
  ];
}

/** People of one workspace, each with a session. Their tokens. */
async function prepare(admin: pg.Pool): Promise<string[]> {
  const tokens = Array.from({ length: SOCKETS }, () => newSessionToken());
  await admin.query(`
    insert into bellwire.users (name, email)
    select 'User ' || i, 'user' || i || '@example.com' from generate_series(1, ${SOCKETS}) as i;
    insert into bellwire.workspaces (name) values ('Bench');
    insert into suite.workspace_members (workspace_id, user_id) select 1, id from bellwire.users;
    -- Letters are another figure.
    update bellwire.notification_kinds set email_by_default = false;
  `);
  await admin.query(
    `select identity.open_session(id, digest, 'password', '', '')
     from unnest($1::text[]) with ordinality as session(digest, id)`,
    [tokens.map(digestOf)],
  );
  await admin.query('vacuum analyze');
  return tokens;
}

/** A process of its own, as in production. */
function startServer(databaseUrl: string, port: number): ChildProcess {
  const program = fileURLToPath(new URL('../../bin/bellwire.js', import.meta.url));
  return spawn(process.execPath, [program, 'server'], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      HOST: '127.0.0.1',
      PORT: String(port),
      APP_URL: `http://127.0.0.1:${port}`,
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function isReady(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
  return answer?.ok ?? false;
}

async function until(condition: () => Promise<boolean>, limitMs: number): Promise<void> {
  const end = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('the server did not start in time');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Signed in, each notification's title being the key of its arrival. */
function connect(port: number, token: string, arrivals: Arrivals): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/notifications-ws`, {
    headers: { origin: `http://127.0.0.1:${port}` },
  });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', (code) => reject(new Error(`a socket was closed with ${code}`)));
    socket.on('open', () => socket.send(JSON.stringify({ type: 'auth', token })));
    socket.on('message', (data) => {
      const frame = JSON.parse(data.toString());
      if (frame.type === 'ready') resolve(socket);
      else arrivals.came(frame.notification.title);
    });
  });
}

/** Who waits for what to arrive. */
class Arrivals {
  readonly #waiting = new Map<string, () => void>();
  #hints: number[] = [];
  #startedAt = 0n;
  #isHinted = true;

  came(key: string): void {
    const arrived = this.#waiting.get(key);
    if (!arrived) throw new Error(`${key} came twice, or was not asked for`);
    this.#waiting.delete(key);
    arrived();
  }

  /** The clock starts. */
  start(): void {
    this.#startedAt = process.hrtime.bigint();
    this.#isHinted = false;
  }

  /** Milliseconds since then. */
  elapsed(): number {
    return Number(process.hrtime.bigint() - this.#startedAt) / 1e6;
  }

  hinted(): void {
    if (!this.#isHinted) this.#hints.push(this.elapsed());
    this.#isHinted = true;
  }

  takeHints(): number[] {
    const hints = this.#hints;
    this.#hints = [];
    return hints;
  }

  async of(key: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${key} did not come`)), ARRIVAL_LIMIT_MS);
      this.#waiting.set(key, () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

async function measureRound(
  round: number,
  write: (key: string, index: number) => Promise<number>,
): Promise<number[]> {
  const times = [];
  for (let index = 0; index < WRITES_PER_ROUND; index++) {
    times.push(await write(`r${round} w${index}`, index));
  }
  return times;
}

/** Milliseconds from sending COMMIT to the arrival. */
async function timed(
  client: pg.PoolClient,
  arrivals: Arrivals,
  key: string,
  statement: string,
  values: unknown[],
): Promise<number> {
  await client.query('begin');
  await client.query(statement, values);
  const arrived = arrivals.of(key);
  arrivals.start();
  const committed = client.query('commit');
  await arrived;
  const elapsed = arrivals.elapsed();
  await committed;
  return elapsed;
}
