import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { BenchDatabase } from '../database.ts';
import { type Measurement, median, rounded, seconds } from '../measure.ts';

const WRITERS = 16;
const WRITES_PER_ROUND = 1_600;
const ROUNDS = 4;

type Way = 'emitting' | 'silent' | 'locked' | 'applied';

const WAYS: Way[] = ['silent', 'emitting', 'locked', 'applied'];

/**
 * Sixteen writers, each with a document of its own, whose every commit is an event: with a
 * subscription, without one, and with a lock that gives the numbers in the writer and is held to the
 * commit. The reference's application takes it, then writes the event, its body and the deliveries,
 * a statement each (`applied`); `locked` is the same lock at its best, taken inside our own statement.
 */
export async function emitConcurrent(
  database: BenchDatabase,
  log: (line: string) => void,
): Promise<Measurement[]> {
  await prepare(database.admin);
  const pool = database.connect(WRITERS);
  const rates: Record<Way, number[]> = { emitting: [], silent: [], locked: [], applied: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const way of WAYS) {
      await setWay(database.admin, way);
      const emit = way === 'applied' ? applyEvent : undefined;
      const rate = await writesPerSecond(pool, `${way} ${round}`, emit);
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
      against: 'a sequence lock held by the writer to its commit, as in the reference',
      ratio: rounded(emitting / median(rates.applied)),
      goal: 2,
    },
    {
      ...common,
      against: 'such a lock taken inside the statement that writes the event',
      ratio: rounded(emitting / median(rates.locked)),
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
    create table public.applied_events (id bigint generated always as identity primary key, body text not null);
    create table public.applied_deliveries (
      event_id bigint references public.applied_events (id), subscription_id bigint,
      primary key (subscription_id, event_id));
    create trigger take_sequence_lock before insert on bellwire.webhook_events
      for each statement execute function public.take_sequence_lock();
  `);
  await admin.query('vacuum analyze');
}

async function setWay(admin: pg.Pool, way: Way): Promise<void> {
  await admin.query('update bellwire.webhook_subscriptions set is_enabled = $1', [
    way === 'emitting' || way === 'locked',
  ]);
  const verb = way === 'locked' ? 'enable' : 'disable';
  await admin.query(`alter table bellwire.webhook_events ${verb} trigger take_sequence_lock`);
  await admin.query('vacuum analyze suite.logs, bellwire.activity_log, bellwire.webhook_events');
}

/** Statement for statement what the reference does for an event after the change, under its lock. */
async function applyEvent(client: pg.PoolClient, title: string): Promise<void> {
  await client.query('select from public.sequence_lock for update');
  const { rows } = await client.query(
    "insert into public.applied_events (body) values ('') returning id",
  );
  const { id } = rows[0];
  await client.query('update public.applied_events set body = $2 where id = $1', [
    id,
    JSON.stringify({ id: randomUUID(), type: 'log.rename', sequence: id, data: { title } }),
  ]);
  await client.query(
    'insert into public.applied_deliveries (event_id, subscription_id) values ($1, 1)',
    [id],
  );
}

async function writesPerSecond(
  pool: pg.Pool,
  round: string,
  emit?: (client: pg.PoolClient, title: string) => Promise<void>,
): Promise<number> {
  const clients = await Promise.all(Array.from({ length: WRITERS }, () => pool.connect()));
  const perWriter = WRITES_PER_ROUND / WRITERS;
  const elapsed = await seconds(() =>
    Promise.all(
      clients.map(async (client, index) => {
        for (let write = 0; write < perWriter; write++) {
          await client.query('begin');
          const title = `${round} ${write}`;
          await client.query('update suite.logs set title = $2 where id = $1', [index + 1, title]);
          await emit?.(client, title);
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
  if (activities !== written * WAYS.length || deliveries !== written * 2 || failures !== 0)
    throw new Error(`the rows written do not agree: ${JSON.stringify(rows[0])}`);
}
