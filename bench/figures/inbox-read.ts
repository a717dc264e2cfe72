import type pg from 'pg';
import type { BenchDatabase } from '../database.ts';
import { type Measurement, median, rounded } from '../measure.ts';

const SMALL = 50_000;
const LARGE = 5_000_000;
/** Each inbox has as many rows in both sizes: what grows is how many people there are. */
const ROWS_PER_PERSON = 100;
const UNREAD_OF_TEN = 3;
const WORKSPACE_PEOPLE = 500;
const SQUADS_PER_WORKSPACE = 10;
const SQUADS_PER_PERSON = 3;
const CHUNK = 500_000;
const ROUNDS = 7;
/** Whose inboxes are read, spread over all people; the same in each round, so that both sizes are read from memory. */
const READERS = 300;

/**
 * The first page of the inbox and the unread count, with five million notifications in the table
 * against fifty thousand, and under row security against the same functions for a role that row
 * security does not bind. Timed inside the database, so that the way there does not make the
 * difference smaller than it is.
 */
export async function inboxRead(
  database: BenchDatabase,
  log: (line: string) => void,
): Promise<Measurement[]> {
  await fill(database.admin, 0, SMALL, log);
  const small = await measure(database, SMALL, log);
  await fill(database.admin, SMALL, LARGE, log);
  const large = await measure(database, LARGE, log);
  return [...compare('page', small, large), ...compare('unread count', small, large)];
}

type Call = 'page' | 'unread count';
type Side = 'ruled' | 'open';
type Costs = Record<Call, Record<Side, number>>;

const STATEMENTS: Record<Call, string> = {
  page: 'perform count(*) from api.list_notifications()',
  'unread count': 'perform api.unread_count()',
};

function compare(call: Call, small: Costs, large: Costs): Measurement[] {
  const common = {
    figure: 'inbox-read',
    value: rounded(large[call].ruled),
    unit: `µs per ${call}`,
  };
  return [
    {
      ...common,
      against: `${SMALL} rows`,
      ratio: rounded(small[call].ruled / large[call].ruled),
      goal: rounded(1 / 1.5),
    },
    {
      ...common,
      against: 'without row security',
      ratio: rounded(large[call].open / large[call].ruled),
      goal: rounded(1 / 1.2),
    },
  ];
}

/** Both sides and both calls in turns. Microseconds per call: the median of the readers, and of the rounds. */
async function measure(
  database: BenchDatabase,
  rows: number,
  log: (line: string) => void,
): Promise<Costs> {
  const people = rows / ROWS_PER_PERSON;
  const sides: Record<Side, pg.PoolClient> = {
    ruled: await database.connect(1).connect(),
    open: await database.connect(1).connect(),
  };
  const times: Record<Call, Record<Side, number[]>> = {
    page: { ruled: [], open: [] },
    'unread count': { ruled: [], open: [] },
  };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const call of ['page', 'unread count'] as const) {
      for (const side of ['ruled', 'open'] as const) {
        const cost = await costOf(sides[side], side, call, people);
        // The first fills caches and plans.
        if (round > 0) times[call][side].push(cost);
      }
    }
  }
  for (const client of Object.values(sides)) client.release();
  const costs: Costs = {
    page: { ruled: median(times.page.ruled), open: median(times.page.open) },
    'unread count': {
      ruled: median(times['unread count'].ruled),
      open: median(times['unread count'].open),
    },
  };
  log(`inbox-read: ${rows} rows: ${JSON.stringify(costs)} µs`);
  return costs;
}

/** A superuser reads the same functions as the same person, past every policy. */
async function costOf(
  client: pg.PoolClient,
  side: Side,
  call: Call,
  people: number,
): Promise<number> {
  await client.query(
    `begin; select set_config('role', '${side === 'ruled' ? 'authenticated' : 'none'}', true)`,
  );
  await client.query(`
    do $$
    declare
      start_at timestamptz;
      times float8[];
    begin
      for reader in 1..${READERS} loop
        perform set_config('request.jwt.claims',
          '{"role": "authenticated", "sub": "' || 1 + reader * 7919 % ${people} || '"}', true);
        start_at := clock_timestamp();
        ${STATEMENTS[call]};
        times := times || (extract(epoch from clock_timestamp() - start_at) * 1e6)::float8;
      end loop;
      perform set_config('bench.took', (
        select percentile_cont(0.5) within group (order by taken) from unnest(times) as taken)::text, true);
    end $$`);
  const { rows } = await client.query("select current_setting('bench.took')::float8 as took");
  await client.query('commit');
  return rows[0].took;
}

/**
 * Adds people, their workspaces and squads, and their inboxes until there are so many rows. The
 * triggers are off and all but the primary key is indexed afterwards, which takes minutes off.
 */
async function fill(
  admin: pg.Pool,
  from: number,
  to: number,
  log: (line: string) => void,
): Promise<void> {
  const startedAt = Date.now();
  const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  const client = await admin.connect();
  try {
    await load(client, from, to, (rows) =>
      log(`inbox-read: ${rows} of ${to} rows after ${seconds()}`),
    );
  } finally {
    // Not back to the pool: it is set up for loading.
    client.release(true);
  }
  await admin.query('vacuum analyze');
  log(`inbox-read: ${to} rows are ready after ${seconds()}`);
}

async function load(
  client: pg.PoolClient,
  from: number,
  to: number,
  progress: (rows: number) => void,
): Promise<void> {
  await client.query("set session_replication_role = replica; set maintenance_work_mem = '512MB'");
  await addPeople(client, from / ROWS_PER_PERSON, to / ROWS_PER_PERSON);
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
     from pg_index where indrelid = 'bellwire.notifications'::regclass and not indisprimary`,
  );
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  for (let first = from; first < to; first += CHUNK) {
    await addNotifications(client, first, Math.min(first + CHUNK, to));
    progress(Math.min(first + CHUNK, to));
  }
  for (const { definition } of indexes) await client.query(definition);
}

/** Person n is in workspace n / 500 and in three of its ten squads. Ids of scopes follow from that. */
async function addPeople(client: pg.PoolClient, from: number, to: number): Promise<void> {
  const scopesEach = SQUADS_PER_WORKSPACE + 1;
  const firstWorkspace = from / WORKSPACE_PEOPLE + 1;
  const lastWorkspace = to / WORKSPACE_PEOPLE;
  await client.query(`
    insert into bellwire.users (id, name, email)
    select i, 'User ' || i, 'user' || i || '@example.com' from generate_series(${from + 1}, ${to}) as i;
    insert into bellwire.workspaces (id, name)
    select i, 'Workspace ' || i from generate_series(${firstWorkspace}, ${lastWorkspace}) as i;
    insert into bellwire.resources (id, type, ref, parent_id, workspace_id, scope_id, ancestors, title)
    overriding system value
    select root + number, case when number = 0 then 'workspace' else 'squad' end,
      case when number = 0 then i::text else (root + number)::text end,
      case when number > 0 then root end, i, root + number,
      case when number > 0 then array[root] else '{}' end, 'Scope'
    from generate_series(${firstWorkspace}, ${lastWorkspace}) as i
    cross join lateral (values ((i - 1) * ${scopesEach} + 1)) as placed(root)
    cross join generate_series(0, ${SQUADS_PER_WORKSPACE}) as number;
    insert into bellwire.memberships (scope_id, user_id, role, scope_type, scope_ref)
    select ${scopeOf('person', 'number')}, person, 'member',
      case number when 0 then 'workspace' else 'squad' end, (${scopeOf('person', 'number')})::text
    from generate_series(${from + 1}, ${to}) as person
    cross join generate_series(0, ${SQUADS_PER_PERSON}) as number;
  `);
}

/** 0 is the workspace, the others are squads of the person. */
function scopeOf(person: string, number: string): string {
  const scopesEach = SQUADS_PER_WORKSPACE + 1;
  return (
    `(${person} - 1) / ${WORKSPACE_PEOPLE} * ${scopesEach} + 1 + ` +
    `case when ${number} = 0 then 0 else (${person} + ${number}) % ${SQUADS_PER_WORKSPACE} + 1 end`
  );
}

/** One of each person after the other, so that an inbox is spread over the table as in life. */
async function addNotifications(client: pg.PoolClient, from: number, to: number): Promise<void> {
  const few = SMALL / ROWS_PER_PERSON;
  const many = LARGE / ROWS_PER_PERSON - few;
  await client.query(`
    insert into bellwire.notifications (
      workspace_id, scope_id, user_id, kind, actor_id, resource_id, title, link_path, metadata, created_at, read_at)
    select
      (person - 1) / ${WORKSPACE_PEOPLE} + 1,
      case when number % 4 > 0 then ${scopeOf('person', '(number % 4)')} end,
      person, 'watched_log_update', person % ${few} + 1, ${scopeOf('person', '(number % 4)')},
      'User 7 updated “Document ' || row || '”', '/documents/' || row, '{"action": "log.update"}',
      now() - make_interval(secs => ${LARGE} - row),
      case when number % 10 >= ${UNREAD_OF_TEN} then now() end
    from generate_series(${from}, ${to} - 1) as row
    cross join lateral (
      select row % ${few} + 1 as person, row / ${few} as number where row < ${SMALL}
      union all
      select ${few} + 1 + (row - ${SMALL}) % ${many}, (row - ${SMALL}) / ${many} where row >= ${SMALL}
    ) as placed`);
}
