import type pg from 'pg';
import type { BenchDatabase } from '../database.ts';
import { type Measurement, median, rounded, seconds } from '../measure.ts';

const ROWS = 10_000;
const ROUNDS = 5;
const ARCHIVE_ID = 1;
/** Tracked, one UPDATE may take four times as long as with the triggers off. */
const GOAL = 0.25;

/** One UPDATE over all rows, as the same role both ways. */
interface Way {
  against: string;
  table: string;
  sql: string;
  /** Entries a tracked statement records. */
  entries: number;
}

const WAYS: Way[] = [
  {
    against: 'untracked: a column no action looks at',
    table: 'bench.orders',
    sql: 'update bench.orders set total = total + 1',
    entries: 0,
  },
  {
    against: 'untracked: one entry per row',
    table: 'bench.orders',
    sql: "update bench.orders set status = case status when 'open' then 'held' else 'open' end",
    entries: ROWS,
  },
  {
    against: 'untracked: documents, with all their rules',
    table: 'suite.logs',
    sql: `update suite.logs set html = html || 'x'`,
    entries: ROWS,
  },
];

/**
 * One statement over ten thousand rows of a tracked table against the same statement with the
 * triggers of the table disabled. Nobody waits for the worker in either.
 */
export async function bulkWrite(
  database: BenchDatabase,
  log: (line: string) => void,
): Promise<Measurement[]> {
  await prepare(database.admin);
  const pool = database.connect(1);
  const measurements: Measurement[] = [];
  let actor = 0;
  for (const way of WAYS) {
    const tracked: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      // Another person each time: a second save of one person within five minutes is dropped.
      actor += 1;
      await setTriggers(database.admin, way.table, 'disable');
      bare.push(await milliseconds(pool, way.sql, actor));
      await setTriggers(database.admin, way.table, 'enable');
      const before = await countEntries(database.admin);
      tracked.push(await milliseconds(pool, way.sql, actor));
      await check(database.admin, before + way.entries);
      const last = [tracked, bare].map((values) => Math.round(values.at(-1) ?? 0));
      log(`bulk-write, ${way.against}: round ${round + 1} of ${ROUNDS}: ${last.join(' / ')} ms`);
    }
    const value = median(tracked);
    measurements.push({
      figure: 'bulk-write',
      value: Math.round(value),
      unit: 'ms',
      against: way.against,
      ratio: rounded(median(bare) / value),
      goal: GOAL,
    });
  }
  return measurements;
}

async function prepare(admin: pg.Pool): Promise<void> {
  await admin.query(`
    insert into bellwire.users (name, email)
    select 'User ' || i, 'user' || i || '@example.com' from generate_series(1, ${ROUNDS * WAYS.length}) as i;
    insert into bellwire.workspaces (name) values ('Bench');
    insert into suite.workspace_members (workspace_id, user_id) select 1, id from bellwire.users;
    insert into suite.squads (workspace_id, name) values (1, 'Bench');
    insert into suite.squad_members (squad_id, user_id) select 1, id from bellwire.users;
    insert into suite.archives (squad_id, name) values (1, 'Bench');
    insert into suite.logs (archive_id, title, html)
    select ${ARCHIVE_ID}, 'Document ' || i, repeat('<p>lorem ipsum</p>', 40)
    from generate_series(1, ${ROWS}) as i;

    create schema bench;
    create table bench.orders (
      id bigint generated always as identity primary key, workspace_id bigint not null default 1,
      customer text not null, total numeric not null default 0, status text not null default 'open');
    insert into bellwire.action_rules (action, verb) values ('order.hold', 'held');
    select bellwire.track('bench.orders', 'order', workspace => 'workspace_id', title => 'customer',
      actions => '[{"on": "update", "of": ["status"], "action": "order.hold"}]');
    insert into bench.orders (customer) select 'Customer ' || i from generate_series(1, ${ROWS}) as i;
    grant usage on schema bench to authenticated;
    grant select, update on bench.orders to authenticated;
  `);
}

async function setTriggers(
  admin: pg.Pool,
  table: string,
  verb: 'enable' | 'disable',
): Promise<void> {
  await admin.query(`alter table ${table} ${verb} trigger user`);
  // What earlier rounds left behind is cleaned up between them, not during one of them.
  await admin.query('vacuum analyze');
}

async function milliseconds(pool: pg.Pool, sql: string, actor: number): Promise<number> {
  const client = await pool.connect();
  try {
    const claims = JSON.stringify({ sub: String(actor), role: 'authenticated' });
    await client.query(
      `begin; select set_config('role', 'authenticated', true), set_config('request.jwt.claims', '${claims}', true)`,
    );
    const elapsed = await seconds(() => client.query(sql));
    await client.query('commit');
    return elapsed * 1000;
  } finally {
    client.release();
  }
}

async function countEntries(admin: pg.Pool): Promise<number> {
  const { rows } = await admin.query('select count(*)::int as count from bellwire.activity_log');
  return rows[0].count;
}

/** A tracked statement that recorded nothing, or failed, would be a fast one. */
async function check(admin: pg.Pool, entries: number): Promise<void> {
  const { rows } = await admin.query('select message from bellwire.rule_failures limit 1');
  const found = await countEntries(admin);
  if (rows.length > 0 || found !== entries)
    throw new Error(`${found} entries instead of ${entries}: ${rows[0]?.message ?? 'no failure'}`);
}
