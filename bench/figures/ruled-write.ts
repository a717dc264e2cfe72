import type pg from 'pg';
import type { BenchDatabase } from '../database.ts';
import { type Measurement, median, rounded, seconds } from '../measure.ts';

const CLIENTS = 8;
/** Four times as many must not write less. */
const MANY_CLIENTS = 32;
const WRITES_PER_ROUND = 3_200;
/** Many short ones: what else the machine does then falls on all ways alike. */
const ROUNDS = 7;
/** Per client before a round, not timed: the statistics are new, so every statement is planned anew. */
const WARM_UP_WRITES = 5;
/** Each document is written once per way, so that no write coalesces with an earlier one. */
const DOCUMENTS = (WRITES_PER_ROUND + WARM_UP_WRITES * MANY_CLIENTS) * ROUNDS * 6;
const WATCHER_ID = MANY_CLIENTS + 1;
const ARCHIVE_ID = 1;

/**
 * How a statement is sent. Plain is what the server does and what node-postgres does by itself:
 * parsed and planned each time. Prepared leaves the planning out, of which the long hand-written
 * statement has more to lose than the short update; the rules' own statements are prepared anyway.
 */
type Mode = 'plain' | 'prepared';

/**
 * An update of a document as a signed-in user with every rule on, against one statement that
 * writes the very same rows with triggers and row security off, and against the bare update.
 * One person watches the archive, one receiver subscribes to everything.
 */
export async function ruledWrite(
  database: BenchDatabase,
  log: (line: string) => void,
): Promise<Measurement[]> {
  await prepare(database.admin);
  const pool = database.connect(CLIENTS);
  const largePool = database.connect(MANY_CLIENTS);
  let nextDocument = 1;
  const take = () => {
    const first = nextDocument;
    nextDocument += WRITES_PER_ROUND + WARM_UP_WRITES * MANY_CLIENTS;
    return first;
  };
  const measurements: Measurement[] = [];
  for (const mode of ['plain', 'prepared'] as const) {
    const rates: Rates = { ruled: [], many: [], hand: [], manyHand: [], bare: [] };
    for (let round = 0; round < ROUNDS; round++) {
      const measureMany = async () => {
        await setTriggers(database.admin, 'enable');
        rates.many.push(await rate(largePool, mode, ruledUpdate, take()));
      };
      // In turns: what runs later finds larger tables.
      if (mode === 'plain' && round % 2 === 1) await measureMany();
      await setTriggers(database.admin, 'enable');
      rates.ruled.push(await rate(pool, mode, ruledUpdate, take()));
      if (mode === 'plain' && round % 2 === 0) await measureMany();
      await setTriggers(database.admin, 'disable');
      if (mode === 'plain') rates.manyHand.push(await rate(largePool, mode, handWritten, take()));
      const first = take();
      rates.hand.push(await rate(pool, mode, handWritten, first));
      rates.bare.push(await rate(pool, mode, bareUpdate, first));
      log(`ruled-write, ${mode}: round ${round + 1} of ${ROUNDS}: ${last(rates)} writes/s`);
    }
    measurements.push(...compare(mode, rates));
  }
  await checkRows(database.admin);
  return measurements;
}

/** Writes per second, one per round. */
interface Rates {
  ruled: number[];
  /** With many clients; in one mode only. */
  many: number[];
  hand: number[];
  /** The same with many: what so many clients cost where there are no rules. */
  manyHand: number[];
  bare: number[];
}

function compare(mode: Mode, rates: Rates): Measurement[] {
  const [ruled, hand, bare] = [median(rates.ruled), median(rates.hand), median(rates.bare)];
  const common = { figure: 'ruled-write', value: Math.round(ruled), unit: 'writes/s' };
  const suffix = mode === 'prepared' ? ', both prepared' : '';
  const measurements: Measurement[] = [
    {
      ...common,
      against: `a hand-written statement${suffix}`,
      ratio: rounded(ruled / hand),
      goal: 0.7,
    },
    { ...common, against: `the bare update${suffix}`, ratio: rounded(ruled / bare) },
  ];
  if (rates.many.length > 0) {
    const many = median(rates.many);
    measurements.push({
      ...common,
      value: Math.round(many),
      against: `itself at ${CLIENTS} clients, with ${MANY_CLIENTS}`,
      ratio: rounded(many / ruled),
      goal: 1,
    });
    const manyHand = median(rates.manyHand);
    measurements.push({
      ...common,
      value: Math.round(manyHand),
      against: `the hand-written statement at ${CLIENTS} clients, by itself with ${MANY_CLIENTS}`,
      ratio: rounded(manyHand / hand),
    });
  }
  return measurements;
}

function last(rates: Rates): string {
  return JSON.stringify(
    Object.fromEntries(
      Object.entries(rates)
        .filter(([, values]) => values.length > 0)
        .map(([name, values]) => [name, Math.round(values.at(-1) ?? 0)]),
    ),
  );
}

async function prepare(admin: pg.Pool): Promise<void> {
  await admin.query(`
    insert into bellwire.users (name, email)
    select 'User ' || i, 'user' || i || '@example.com' from generate_series(1, ${WATCHER_ID}) as i;
    insert into bellwire.workspaces (name) values ('Bench');
    insert into suite.workspace_members (workspace_id, user_id) select 1, id from bellwire.users;
    insert into suite.squads (workspace_id, name) values (1, 'Bench');
    insert into suite.squad_members (squad_id, user_id) select 1, id from bellwire.users;
    insert into suite.archives (squad_id, name) values (1, 'Bench');
    insert into suite.logs (archive_id, title, html)
    select ${ARCHIVE_ID}, 'Document ' || i, repeat('<p>lorem ipsum</p>', 40)
    from generate_series(1, ${DOCUMENTS}) as i;
    insert into bellwire.watches (resource_id, user_id, source)
    select id, ${WATCHER_ID}, 'manual' from bellwire.resources where type = 'archive';
    select bellwire.create_webhook_subscription('http://127.0.0.1:9/');
  `);
  await admin.query('vacuum analyze');
}

async function setTriggers(admin: pg.Pool, verb: 'enable' | 'disable'): Promise<void> {
  for (const table of ['suite.logs', 'bellwire.activity_log', 'bellwire.notifications'])
    await admin.query(`alter table ${table} ${verb} trigger user`);
  // What earlier rounds left behind is cleaned up between them, not during one of them.
  await admin.query('vacuum analyze suite.logs, bellwire.notifications, bellwire.activity_log');
}

type Write = (
  client: pg.PoolClient,
  mode: Mode,
  user: number,
  document: number,
) => Promise<unknown>;

/** Writes per second of all clients together, each on documents of its own. */
async function rate(
  pool: pg.Pool,
  mode: Mode,
  write: Write,
  firstDocument: number,
): Promise<number> {
  const clients = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  const perClient = WRITES_PER_ROUND / clients.length;
  const all = (from: number, count: number) =>
    Promise.all(
      clients.map(async (client, index) => {
        for (let id = from + index * count; id < from + (index + 1) * count; id++)
          await write(client, mode, index + 1, id);
      }),
    );
  await all(firstDocument, WARM_UP_WRITES);
  const elapsed = await seconds(() =>
    all(firstDocument + WARM_UP_WRITES * clients.length, perClient),
  );
  for (const client of clients) client.release();
  return WRITES_PER_ROUND / elapsed;
}

/** All three ways send the same three messages; only the statement in the middle differs. */
async function inTransaction(
  client: pg.PoolClient,
  mode: Mode,
  user: number,
  role: string,
  statement: { name: string; text: string; values: unknown[] },
): Promise<void> {
  const claims = JSON.stringify({ sub: String(user), role: 'authenticated' });
  await client.query(
    `begin; select set_config('role', '${role}', true), set_config('request.jwt.claims', '${claims}', true)`,
  );
  const { name, text, values } = statement;
  await client.query(mode === 'prepared' ? { name, text, values } : { text, values });
  await client.query('commit');
}

const ruledUpdate: Write = (client, mode, user, document) =>
  inTransaction(client, mode, user, 'authenticated', {
    name: 'ruled',
    text: `update suite.logs set html = html || 'x' where id = $1`,
    values: [document],
  });

const bareUpdate: Write = (client, mode, user, document) =>
  inTransaction(client, mode, user, 'none', {
    name: 'bare',
    text: `update suite.logs set html = html || 'x', updated_at = now(), updated_by = $2 where id = $1`,
    values: [document, user],
  });

const handWritten: Write = (client, mode, user, document) =>
  inTransaction(client, mode, user, 'none', {
    name: 'hand',
    text: `
      with document as (
        update suite.logs set html = html || 'x', updated_at = now(), updated_by = $2 where id = $1
        returning id, title
      ),
      activity as (
        insert into bellwire.activity_log (workspace_id, scope_id, actor_id, action, resource_id, metadata)
        select resource.workspace_id, resource.scope_id, $2, 'log.update', resource.id,
          jsonb_build_object('title', document.title, 'parent_id', null)
        from document
        join bellwire.resources as resource on resource.type = 'log' and resource.ref = document.id::text
        returning id, workspace_id, scope_id, resource_id
      ),
      event as (
        insert into bellwire.webhook_events (activity_id, type, workspace_id, title)
        select activity.id, 'log.update', activity.workspace_id, document.title
        from activity cross join document
        returning id
      ),
      delivery as (
        insert into bellwire.webhook_deliveries (subscription_id, event_id) select 1, id from event
      ),
      watch as (
        insert into bellwire.watches (resource_id, user_id, source)
        select resource_id, $2, 'auto_edit' from activity
      )
      insert into bellwire.notifications (
        workspace_id, scope_id, user_id, kind, actor_id, resource_id, activity_id, title, link_path, metadata)
      select activity.workspace_id, activity.scope_id, ${WATCHER_ID}, 'watched_log_update', $2, activity.resource_id,
        activity.id, 'User ' || $2 || ' updated “' || document.title || '”', '/documents/' || document.id,
        '{"action": "log.update"}'
      from activity cross join document`,
    values: [document, user],
  });

/** Both ways must have written the same rows, or the ratio says nothing. */
async function checkRows(admin: pg.Pool): Promise<void> {
  const { rows } = await admin.query(`
    select
      (select count(*) from bellwire.activity_log where action = 'log.update')::int as activities,
      (select count(*) from bellwire.notifications)::int as notifications,
      (select count(*) from bellwire.webhook_deliveries)::int as deliveries,
      (select count(*) from bellwire.watches where source = 'auto_edit')::int as watches,
      (select count(*) from bellwire.fan_out_queue)::int as queued,
      (select count(*) from bellwire.rule_failures)::int as failures`);
  const { activities, notifications, deliveries, watches, queued, failures } = rows[0];
  // Both ways in both modes, and both with many clients once.
  const warmUps = WARM_UP_WRITES * (CLIENTS * 4 + MANY_CLIENTS * 2);
  const expected = (WRITES_PER_ROUND * 6 + warmUps) * ROUNDS;
  const isComplete =
    activities === expected &&
    notifications + queued === expected &&
    deliveries === expected &&
    watches === expected &&
    failures === 0;
  if (!isComplete) throw new Error(`the rows written do not agree: ${JSON.stringify(rows[0])}`);
}
