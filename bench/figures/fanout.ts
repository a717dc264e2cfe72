import type pg from 'pg';
import type { BenchDatabase } from '../database.ts';
import { type Measurement, median, rounded, seconds } from '../measure.ts';

const WATCHERS = 10_000;
const ROUNDS = 5;
/** The application's loop is so slow that it is timed over part of the watchers and scaled up. */
const LOOPED_WATCHERS = 1_000;
const ACTOR_ID = WATCHERS + 1;

/**
 * One event to ten thousand watchers with every rule (membership, access, mutes, preferences,
 * window), against a bare insert of the same rows into a table with the same columns and indexes,
 * and against an application that asks and inserts watcher by watcher.
 */
export async function fanout(
  database: BenchDatabase,
  log: (line: string) => void,
): Promise<Measurement[]> {
  await prepare(database.admin);
  const client = await database.connect(1).connect();
  const times = { ruled: [] as number[], bare: [] as number[], loop: [] as number[] };
  // One round to fill the caches and plans of all three.
  for (let round = 0; round <= ROUNDS; round++) {
    const ruled = await seconds(() => publish(client, round + 1));
    const bare = await seconds(() => bareInsert(client, round + 1));
    const loop = (await seconds(() => applicationLoop(client))) * (WATCHERS / LOOPED_WATCHERS);
    log(`fanout: round ${round} of ${ROUNDS}: ${JSON.stringify({ ruled, bare, loop })} s`);
    if (round === 0) continue;
    times.ruled.push(ruled);
    times.bare.push(bare);
    times.loop.push(loop);
  }
  client.release();
  const [ruled, bare, loop] = [median(times.ruled), median(times.bare), median(times.loop)];
  const common = { figure: 'fanout', value: rounded(ruled * 1000), unit: 'ms per 10,000 watchers' };
  return [
    {
      ...common,
      against: 'a bare insert of the same rows',
      ratio: rounded(bare / ruled),
      goal: 0.7,
    },
    {
      ...common,
      against: 'an application looping over watchers',
      ratio: rounded(loop / ruled),
      goal: 50,
    },
  ];
}

async function prepare(admin: pg.Pool): Promise<void> {
  await admin.query(`
    insert into bellwire.users (name, email)
    select 'User ' || i, 'user' || i || '@example.com' from generate_series(1, ${ACTOR_ID}) as i;
    insert into bellwire.workspaces (name) values ('Bench');
    insert into suite.workspace_members (workspace_id, user_id) select 1, id from bellwire.users;
    insert into suite.squads (workspace_id, name) values (1, 'Bench');
    insert into suite.squad_members (squad_id, user_id) select 1, id from bellwire.users;
    insert into suite.archives (squad_id, name) values (1, 'Bench');
    insert into suite.logs (archive_id, title, html)
    select 1, 'Document ' || i, '<p>lorem ipsum</p>' from generate_series(1, ${ROUNDS + 1}) as i;
    insert into bellwire.watches (resource_id, user_id, source)
    select resource.id, person.id, 'manual'
    from bellwire.resources as resource cross join bellwire.users as person
    where resource.type = 'archive' and person.id <> ${ACTOR_ID};
    -- All in the transaction of the change, so that what is measured is the fan-out and not the queue.
    update bellwire.settings set value = ${WATCHERS * 2} where name = 'sync_fanout_limit';
    create schema bench;
    create table bench.notifications (like bellwire.notifications including all);
    create table bench.looped (like bellwire.notifications including all);
  `);
  await admin.query('vacuum analyze');
}

/** The ruled way: an edit of a document in the archive they all watch. No e-mail by default, as in the bare insert. */
async function publish(client: pg.PoolClient, document: number): Promise<void> {
  const claims = JSON.stringify({ sub: String(ACTOR_ID), role: 'authenticated' });
  await client.query(
    `begin; select set_config('role', 'authenticated', true), set_config('request.jwt.claims', '${claims}', true)`,
  );
  await client.query(`update suite.logs set html = html || 'x' where id = $1`, [document]);
  await client.query('commit');
  const { rows } = await client.query(
    `select count(*)::int as told from bellwire.notifications where link_path = $1`,
    [`/documents/${document}`],
  );
  if (rows[0].told !== WATCHERS) throw new Error(`told ${rows[0].told} of ${WATCHERS} watchers`);
}

async function bareInsert(client: pg.PoolClient, document: number): Promise<void> {
  await client.query(
    `insert into bench.notifications (
       workspace_id, scope_id, user_id, kind, actor_id, resource_id, activity_id, title, link_path, metadata)
     select workspace_id, scope_id, user_id, kind, actor_id, resource_id, activity_id, title, link_path, metadata
     from bellwire.notifications where link_path = $1`,
    [`/documents/${document}`],
  );
}

/** What an application does that keeps the rules itself: three questions and an insert per watcher. */
async function applicationLoop(client: pg.PoolClient): Promise<void> {
  const { rows: watchers } = await client.query(
    `select watch.user_id from bellwire.watches as watch order by watch.user_id limit $1`,
    [LOOPED_WATCHERS],
  );
  for (const { user_id } of watchers) {
    await client.query({
      name: 'preference',
      text: `select in_app, email from bellwire.notification_preferences where user_id = $1 and kind = $2`,
      values: [user_id, 'watched_log_update'],
    });
    await client.query({
      name: 'coalescing',
      text: `select id from bench.looped
             where user_id = $1 and kind = $2 and resource_id = $3 and created_at > now() - interval '60 seconds'`,
      values: [user_id, 'watched_log_update', 0],
    });
    await client.query({
      name: 'insert',
      text: `insert into bench.looped (workspace_id, user_id, kind, actor_id, resource_id, title, link_path)
             values (1, $1, $2, ${ACTOR_ID}, $3, 'User updated a document', '/documents/1')`,
      values: [user_id, 'watched_log_update', 1],
    });
  }
}
