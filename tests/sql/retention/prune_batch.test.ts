import type pg from 'pg';
import t from 'tap';
import { createStage, type Row, refused, type Stage } from '../fixtures.ts';

interface Batch {
  deleted: number;
  refused: number;
  next: unknown;
}

/** What goes after how many days, and how rows of it are made: `$1` of them, `$2` days old. */
interface Retention {
  what: string;
  table: string;
  days: number;
  fill: string;
  /** Rows of the same age that stay. */
  neighbours?: string;
}

const AGO = "now() - $2 * interval '1 day'";
const NOTIFICATION = `insert into bellwire.notifications (workspace_id, user_id, kind, title, created_at`;
const PERSON = '(select min(id) from bellwire.users)';

const DIGEST = 'md5(gen_random_uuid()::text) || md5(number::text)';
/** Somebody else in each row; whether there is such a person is not looked at. */
const SOMEBODY = '(random() * 1e15)::bigint';

const RETENTIONS: Retention[] = [
  {
    what: 'webhook_deliveries',
    table: 'bellwire.webhook_deliveries',
    days: 30,
    fill: `with event as (
             insert into bellwire.webhook_events (activity_id, type, workspace_id) values (0, 'log.update', 1) returning id)
           insert into bellwire.webhook_deliveries (subscription_id, event_id, state, created_at)
           select 1, event.id, (array['delivered', 'dead'])[1 + number % 2], ${AGO}
           from event, generate_series(1, $1) as number`,
    neighbours: `with event as (
             insert into bellwire.webhook_events (activity_id, type, workspace_id) values (0, 'log.update', 1) returning id)
           insert into bellwire.webhook_deliveries (subscription_id, event_id, state, created_at)
           select 1, event.id, 'pending', ${AGO} from event, generate_series(1, $1)`,
  },
  {
    what: 'orphaned_deliveries',
    table: 'bellwire.webhook_deliveries',
    days: 30,
    fill: `with event as (
             insert into bellwire.webhook_events (activity_id, type, workspace_id) values (0, 'log.update', 1) returning id)
           insert into bellwire.webhook_deliveries (subscription_id, event_id, created_at)
           select 0, event.id, ${AGO} from event, generate_series(1, $1)`,
    // Those of a receiver that is there, however long it has been off.
    neighbours: `with receiver as (
             insert into bellwire.webhook_subscriptions (url, is_enabled) values ('https://x.example', false) returning id),
           event as (
             insert into bellwire.webhook_events (activity_id, type, workspace_id) values (0, 'log.update', 1) returning id)
           insert into bellwire.webhook_deliveries (subscription_id, event_id, created_at)
           select receiver.id, event.id, ${AGO} from receiver, event, generate_series(1, $1)`,
  },
  {
    what: 'webhook_events',
    table: 'bellwire.webhook_events',
    days: 30,
    fill: `insert into bellwire.webhook_events (activity_id, type, workspace_id, created_at)
           select 0, 'log.update', 1, ${AGO} from generate_series(1, $1)`,
    neighbours: `with event as (
             insert into bellwire.webhook_events (activity_id, type, workspace_id, created_at)
             select 0, 'log.update', 1, ${AGO} from generate_series(1, $1) returning id)
           insert into bellwire.webhook_deliveries (subscription_id, event_id) select 1, event.id from event`,
  },
  {
    what: 'webhook_changes',
    table: 'bellwire.webhook_changes',
    days: 365,
    fill: `insert into bellwire.webhook_changes (subscription_id, what, at)
           select 1, 'created', ${AGO} from generate_series(1, $1)`,
  },
  {
    what: 'webhook_secrets',
    table: 'bellwire.webhook_secrets',
    days: 0,
    fill: `insert into bellwire.webhook_secrets (subscription_id, secret, expires_at)
           select 1, 'whsec_' || repeat('x', 44), ${AGO} from generate_series(1, $1)`,
    // Those that sign, however old.
    neighbours: `insert into bellwire.webhook_secrets (subscription_id, secret, created_at)
           select 1, 'whsec_' || repeat('x', 44), ${AGO} from generate_series(1, $1)`,
  },
  {
    what: 'emails',
    table: 'bellwire.email_outbox',
    days: 90,
    fill: `with notification as (
             ${NOTIFICATION}) select 1, ${PERSON}, 'mention', 'x', ${AGO} from generate_series(1, $1) returning id)
           insert into bellwire.email_outbox (notification_id, state, created_at)
           select id, (array['sent', 'skipped', 'failed'])[1 + id % 3], ${AGO} from notification`,
    neighbours: `with notification as (
             ${NOTIFICATION}) select 1, ${PERSON}, 'mention', 'x', ${AGO} from generate_series(1, $1) returning id)
           insert into bellwire.email_outbox (notification_id, state, created_at)
           select id, (array['pending', 'sending'])[1 + id % 2], ${AGO} from notification`,
  },
  {
    what: 'read_notifications',
    table: 'bellwire.notifications',
    days: 180,
    fill: `${NOTIFICATION}, read_at)
           select 1, ${PERSON}, 'mention', 'x', now() - interval '900 days', ${AGO} from generate_series(1, $1)`,
    // Unread, however old.
    neighbours: `${NOTIFICATION}) select 1, ${PERSON}, 'mention', 'x', ${AGO} from generate_series(1, $1)`,
  },
  {
    what: 'deleted_notifications',
    table: 'bellwire.notifications',
    days: 90,
    fill: `${NOTIFICATION}, deleted_at)
           select 1, ${PERSON}, 'mention', 'x', now() - interval '900 days', ${AGO} from generate_series(1, $1)`,
    neighbours: `${NOTIFICATION}) select 1, ${PERSON}, 'mention', 'x', ${AGO} from generate_series(1, $1)`,
  },
  {
    what: 'activity_log',
    table: 'bellwire.activity_log',
    days: 365,
    fill: `insert into bellwire.activity_log (workspace_id, scope_id, action, resource_id, created_at)
           select 1, 1, 'log.update', 1, ${AGO} from generate_series(1, $1)`,
  },
  {
    what: 'rule_failures',
    table: 'bellwire.rule_failures',
    days: 30,
    fill: `insert into bellwire.rule_failures (rule, sqlstate, message, created_at)
           select 'fan_out', '22012', 'x', ${AGO} from generate_series(1, $1)`,
  },
  {
    what: 'invitations',
    table: 'identity.invitations',
    days: 30,
    fill: `insert into identity.invitations (email, token_digest, invited_by, accepted_at, expires_at)
           select 'x@example.org', ${DIGEST}, ${PERSON}, now(), ${AGO} from generate_series(1, $1) as number`,
  },
  {
    what: 'sessions',
    table: 'identity.sessions',
    days: 0,
    fill: `insert into identity.sessions (token_digest, user_id, provider, expires_at)
           select ${DIGEST}, ${PERSON}, 'password', ${AGO} from generate_series(1, $1) as number`,
  },
  {
    what: 'sign_in_steps',
    table: 'identity.sign_in_steps',
    days: 0,
    fill: `insert into identity.sign_in_steps (token_digest, user_id, expires_at)
           select ${DIGEST}, ${PERSON}, ${AGO} from generate_series(1, $1) as number`,
  },
  {
    what: 'password_resets',
    table: 'identity.password_resets',
    days: 0,
    fill: `insert into identity.password_resets (user_id, token_digest, expires_at)
           select ${SOMEBODY}, ${DIGEST}, ${AGO} from generate_series(1, $1) as number`,
  },
  {
    what: 'email_changes',
    table: 'identity.email_changes',
    days: 0,
    fill: `insert into identity.email_changes (user_id, new_email, code_digest, expires_at)
           select ${SOMEBODY}, 'x@example.org', ${DIGEST}, ${AGO} from generate_series(1, $1) as number`,
  },
  {
    what: 'rate_limits',
    table: 'identity.rate_limits',
    days: 0,
    fill: `insert into identity.rate_limits (key_digest, bucket, attempt_count, ends_at)
           select md5(gen_random_uuid()::text) || md5(number::text), 'credentials', 1, ${AGO}
           from generate_series(1, $1) as number`,
  },
];

/** Makes rows with no rule looking on: what they are is all that counts here. */
async function fill(stage: Stage, sql: string, count: number, days: number): Promise<void> {
  await quietly(stage, (client) => client.query(sql, [count, days]));
}

async function quietly(stage: Stage, use: (client: pg.PoolClient) => Promise<unknown>) {
  const client = await stage.database.admin.connect();
  try {
    await client.query('begin');
    await client.query('set local session_replication_role = replica');
    await use(client);
    await client.query('commit');
  } finally {
    client.release();
  }
}

async function prune(stage: Stage, what: string, count: number, after: unknown = null) {
  const [batch] = await stage.byWorker(
    'select deleted, refused, next from bellwire.prune_batch($1, $2, $3)',
    [what, count, after === null ? null : JSON.stringify(after)],
  );
  return batch as unknown as Batch;
}

/** As the worker's task does it; returns the batches. */
async function pruneAll(stage: Stage, what: string, count: number): Promise<Batch[]> {
  const batches: Batch[] = [];
  let after: unknown = null;
  do {
    const batch = await prune(stage, what, count, after);
    batches.push(batch);
    after = batch.next;
  } while (after !== null && batches.length < 100);
  return batches;
}

const sum = (batches: Batch[], what: 'deleted' | 'refused') =>
  batches.reduce((total, batch) => total + batch[what], 0);

async function clear(stage: Stage): Promise<void> {
  await quietly(stage, async (client) => {
    for (const { table } of RETENTIONS) await client.query(`delete from ${table}`);
  });
}

const count = (stage: Stage, table: string) => stage.value<number>(`select count(*) from ${table}`);

t.test('the list here is the list of the database', async (t) => {
  const stage = await createStage(t);
  t.strictSame(
    await stage
      .byWorker(
        `select what, table_name::text as "table", coalesce(value, 0) as days from bellwire.retentions()
       left join bellwire.settings on name = setting`,
      )
      .catch((error) => error.code),
    '42501',
    'the worker sees no setting',
  );
  const rows = await stage.byAdministrator(
    `select what, table_name::text as "table", coalesce(value, 0) as days from bellwire.retentions()
     left join bellwire.settings on name = setting`,
  );
  t.strictSame(
    rows,
    RETENTIONS.map(({ what, table, days }) => ({ what, table, days })),
  );
});

for (const retention of RETENTIONS) {
  const { what, table, days } = retention;

  t.test(what, async (t) => {
    const stage = await createStage(t);

    await t.test(`a batch reads what it needs and no more`, async (t) => {
      await clear(stage);
      await fill(stage, retention.fill, 20, days + 1);
      if (retention.neighbours) await fill(stage, retention.neighbours, 20, days + 1);
      await fill(stage, retention.fill, 5_000, days - 1);
      await stage.look(`analyze ${table}`);
      const read = await stage.database.asWorker(async (client) => {
        await client.query('select bellwire.prune_batch($1, 50)', [what]);
        const { rows } = await client.query(
          `select sum(seq_tup_read + idx_tup_fetch)::int as read, sum(seq_scan)::int as scans
           from pg_stat_xact_user_tables where schemaname || '.' || relname = $1`,
          [table],
        );
        return rows[0];
      });
      t.equal(read.scans, 0, 'the table is not read from end to end');
      t.ok(read.read < 400, `${read.read} rows read for a batch of 50 in 5,000`);
    });

    await t.test(`what is older than ${days} days goes, a batch at a time`, async (t) => {
      await clear(stage);
      await fill(stage, retention.fill, 7, days + 0.01);
      await fill(stage, retention.fill, 3, days - 0.01);
      let staying = 3;
      if (retention.neighbours) {
        await fill(stage, retention.neighbours, 2, days + 300);
        staying += 2;
      }
      const before = await count(stage, table);
      const first = await prune(stage, what, 2);
      t.match(first, { deleted: what === 'webhook_events' ? Number : 2, refused: 0 });
      t.ok(first.deleted <= 2, 'no more than asked for');
      t.not(first.next, null, 'there is more');
      const rest = await pruneAll(stage, what, 2);
      t.equal(first.deleted + sum(rest, 'deleted'), 7, 'all that is old');
      t.equal(await count(stage, table), before - 7);
      t.equal(await count(stage, table), staying, 'the younger ones and the neighbours');
      t.match(await prune(stage, what, 100), { deleted: 0, refused: 0, next: null }, 'once');
    });

    await t.test(`a locked row is passed over, and two at once share the rest`, async (t) => {
      await clear(stage);
      await fill(stage, retention.fill, 10, days + 1);
      const holder = await stage.database.admin.connect();
      const other = await stage.database.admin.connect();
      try {
        await holder.query('begin');
        await holder.query(
          `select from ${table} where ctid = (select min(ctid) from ${table}) for update`,
        );
        await other.query('begin');
        const { rows } = await other.query('select deleted from bellwire.prune_batch($1, 4)', [
          what,
        ]);
        const [held] = rows as Row[];
        t.ok(Number(held?.deleted) >= 3, 'the first of two, not committed yet');
        const deleted = sum(await pruneAll(stage, what, 4), 'deleted');
        await other.query('commit');
        t.equal(Number(held?.deleted) + deleted, 9, 'each once, and neither waited');
        t.equal(await count(stage, table), 1, 'the locked one is there');
        await holder.query('commit');
        t.equal(sum(await pruneAll(stage, what, 4), 'deleted'), 1, 'it goes the next time');
      } finally {
        holder.release();
        other.release();
      }
    });

    await t.test(`rows that cannot go do not keep the others`, async (t) => {
      await clear(stage);
      await fill(stage, retention.fill, 12, days + 1);
      // A host may forbid it: here for the oldest five, more than two batches of two.
      await stage.look(`create schema host;
        create table host.kept (place tid);
        grant usage on schema host to public;
        grant select on host.kept to public;
        insert into host.kept select ctid from ${table} order by ctid limit 5`);
      await stage.look(`create function host.keep() returns trigger language plpgsql as $$
        begin
          if exists (select from host.kept join ${table} as row_ on row_.ctid = kept.place where row_ = old) then
            raise exception 'the host needs this row';
          end if;
          return old;
        end $$;
        create trigger keep before delete on ${table} for each row execute function host.keep()`);
      const batches = await pruneAll(stage, what, 2);
      t.equal(sum(batches, 'deleted'), 7, 'the others went');
      t.equal(sum(batches, 'refused'), 5);
      t.equal(await count(stage, table), what === 'rule_failures' ? 5 + 3 : 5, 'those are there');
      t.match(
        await stage.look(
          "select sqlstate, message from bellwire.rule_failures where rule = 'prune' limit 1",
        ),
        [{ sqlstate: 'P0001', message: 'the host needs this row' }],
        'an administrator can read why',
      );
      await stage.look(`drop trigger keep on ${table}`);
      t.equal(sum(await pruneAll(stage, what, 2), 'deleted'), 5, 'and they go when they can');
    });
  });
}

t.test(
  'a foreign key that is checked at the end of the transaction keeps one row, not the batch',
  async (t) => {
    const stage = await createStage(t);
    await clear(stage);
    const log = RETENTIONS.find(({ what }) => what === 'activity_log') as Retention;
    await fill(stage, log.fill, 3, 366);
    const id = await stage.value<number>('select min(id) from bellwire.activity_log');
    await stage.look(`create schema host;
    create table host.notes (activity_id bigint references bellwire.activity_log deferrable initially deferred);
    insert into host.notes values (${id})`);
    t.match(await prune(stage, 'activity_log', 10), { deleted: 2, refused: 1 });
    t.match(
      await stage.look("select message, context from bellwire.rule_failures where rule = 'prune'"),
      [{ message: /foreign key/, context: `bellwire.activity_log: id ${id}` }],
      'and the row is named',
    );
  },
);

t.test('the figures are settings', async (t) => {
  const stage = await createStage(t);
  await clear(stage);
  const read = RETENTIONS.find(({ what }) => what === 'read_notifications') as Retention;
  await fill(stage, read.fill, 1, 20);
  t.match(await prune(stage, 'read_notifications', 10), { deleted: 0 });
  await stage.set('read_notification_retention_days', 19);
  t.match(await prune(stage, 'read_notifications', 10), { deleted: 1 });
});

t.test('an e-mail goes with its notification, not the other way round', async (t) => {
  const stage = await createStage(t);
  await clear(stage);
  const emails = RETENTIONS.find(({ what }) => what === 'emails') as Retention;
  await fill(stage, emails.fill, 2, 91);
  t.match(await prune(stage, 'emails', 10), { deleted: 2 });
  t.equal(await count(stage, 'bellwire.notifications'), 2, 'the inbox stays');
  await fill(stage, emails.fill, 1, 1);
  await quietly(stage, (client) =>
    client.query("update bellwire.notifications set deleted_at = now() - interval '91 days'"),
  );
  t.match(await prune(stage, 'deleted_notifications', 10), { deleted: 3 });
  t.equal(await count(stage, 'bellwire.email_outbox'), 0);
});

t.test('prune() does a batch of everything, for an administrator by hand', async (t) => {
  const stage = await createStage(t);
  await clear(stage);
  for (const { fill: sql, days } of RETENTIONS) await fill(stage, sql, 2, days + 1);
  const done = await stage.byAdministrator(
    'select what, deleted, refused from bellwire.prune(100)',
  );
  t.strictSame(
    done.map(({ what }) => what),
    RETENTIONS.map(({ what }) => what),
  );
  for (const { what, deleted } of done) t.equal(deleted, 2, String(what));
});

t.test('who may, and with what', async (t) => {
  const stage = await createStage(t);
  await refused(
    t,
    prune(stage, 'users', 10),
    { code: '22023', hint: /retentions/ },
    'no such thing',
  );
  await refused(t, prune(stage, 'sessions', 0), { code: '22023' }, 'no row');
  const call = "select bellwire.prune_batch('sessions', 1)";
  await refused(t, stage.by(stage.people.owner, call), { code: '42501' }, 'a person');
  await refused(t, stage.byServer(call), { code: '42501' }, 'the server');
});
