import type pg from 'pg';
import type { BenchDatabase } from '../database.ts';
import { type Measurement, median, rounded, seconds } from '../measure.ts';

const WRITERS = 16;
const WRITES_PER_ROUND = 1_600;
const ROUNDS = 4;

type Way = 'emitting' | 'silent' | 'locked';

/**
 * Sixteen writers, each with a document of its own, whose every commit is an event: with a
 * subscription, without one, and with a lock that gives the numbers in the writer, taken when the
 * event is written and held to the commit, as the reference does it.
 */
export async function emitConcurrent(
  database: BenchDatabase,
  log: (line: string) => void,
): Promise<Measurement[]> {
  await prepare(database.admin);
  const pool = database.connect(WRITERS);
  const rates: Record<Way, number[]> = { emitting: [], silent: [], locked: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const way of ['silent', 'emitting', 'locked'] as const) {
      await setWay(database.admin, way);
      const rate = await writesPerSecond(pool, `${way} ${round}`);
      // The first fills caches and plans.
      if (round > 0) rates[way].push(rate);
    }
    if (round > 0) log(`emit-concurrent: round ${round} of ${ROUNDS}: ${last(rates)} writes/s`);
  }
  await checkRows(database.admin);
  return compare(rates);
}

function last(rates: Record<Way, number[]>): string {
  const entries = Object.entries(rates).map(([way, of]) => [way, Math.round(of.at(-1) ?? 0)]);
  return JSON.stringify(Object.fromEntries(entries));
}

function compare(rates: Record<Way, number[]>): Measurement[] {
  const emitting = median(rates.emitting);
  const common = { figure: 'emit-concurrent', value: Math.round(emitting), unit: 'writes/s' };
  return [
    {
      ...common,
      against: 'the same without a subscription',
      ratio: rounded(emitting / median(rates.silent)),
      goal: 0.8,
    },
    {
      ...common,
      against: 'a sequence lock held by the writer to its commit',
      ratio: rounded(emitting / median(rates.locked)),
      goal: 2,
    },
  ];
}

async function prepare(admin: pg.Pool): Promise<void> {
  await admin.query(`
    insert into bellwire.users (name, email) values ('User', 'user@example.com');
    insert into bellwire.workspaces (name) values ('Bench');
    insert into suite.squads (workspace_id, name) values (1, 'Bench');
    insert into suite.archives (squad_id, name) values (1, 'Bench');
    insert into suite.logs (archive_id, title)
    select 1, 'Document ' || i from generate_series(1, ${WRITERS}) as i;
    select bellwire.create_webhook_subscription('http://127.0.0.1:9/');
    create table public.sequence_lock (is_only boolean);
    insert into public.sequence_lock values (true);
    create function public.take_sequence_lock() returns trigger language plpgsql security definer as
      'begin perform from public.sequence_lock for update; return null; end';
    create trigger take_sequence_lock before insert on bellwire.webhook_events
      for each statement execute function public.take_sequence_lock();
  `);
  await admin.query('vacuum analyze');
}

async function setWay(admin: pg.Pool, way: Way): Promise<void> {
  await admin.query('update bellwire.webhook_subscriptions set is_enabled = $1', [
    way !== 'silent',
  ]);
  const verb = way === 'locked' ? 'enable' : 'disable';
  await admin.query(`alter table bellwire.webhook_events ${verb} trigger take_sequence_lock`);
  await admin.query('vacuum analyze suite.logs, bellwire.activity_log, bellwire.webhook_events');
}

async function writesPerSecond(pool: pg.Pool, round: string): Promise<number> {
  const clients = await Promise.all(Array.from({ length: WRITERS }, () => pool.connect()));
  const perWriter = WRITES_PER_ROUND / WRITERS;
  const elapsed = await seconds(() =>
    Promise.all(
      clients.map(async (client, index) => {
        for (let write = 0; write < perWriter; write++) {
          await client.query('begin');
          await client.query('update suite.logs set title = $2 where id = $1', [
            index + 1,
            `${round} ${write}`,
          ]);
          await client.query('commit');
        }
      }),
    ),
  );
  for (const client of clients) client.release();
  return WRITES_PER_ROUND / elapsed;
}

/** Every write is an event where somebody subscribes, or the ratio says nothing. */
async function checkRows(admin: pg.Pool): Promise<void> {
  const { rows } = await admin.query(`
    select
      (select count(*) from bellwire.activity_log where action = 'log.rename')::int as activities,
      (select count(*) from bellwire.webhook_deliveries)::int as deliveries,
      (select count(*) from bellwire.rule_failures)::int as failures`);
  const { activities, deliveries, failures } = rows[0];
  const written = WRITES_PER_ROUND * (ROUNDS + 1);
  if (activities !== written * 3 || deliveries !== written * 2 || failures !== 0)
    throw new Error(`the rows written do not agree: ${JSON.stringify(rows[0])}`);
}
