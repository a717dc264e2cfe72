import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { seed } from '../../db/seed/seed.ts';
import { Keyring } from '../../secrets/keyring.ts';
import { createDatabase } from '../support/database.ts';
import { blocks, readPage, section, tableRows } from './markdown.ts';

const PAGE = readPage('docs/dba.md');

t.test('the settings on the page are those of the database', async (t) => {
  const database = await createDatabase(t);
  const { rows } = await database.admin.query({
    text: 'select name, value, unit, description from bellwire.settings',
    rowMode: 'array',
  });
  const shown = section(PAGE, 'Settings')
    .split('\n')
    .filter((line) => line.split('|').length === 4)
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([name]) => name !== 'name');
  t.strictSame(shown.sort(), rows.map((row) => row.map(String)).sort());
});

t.test('the retention on the page is that of the database', async (t) => {
  const database = await createDatabase(t);
  const { rows } = await database.admin.query(
    `select what, setting, value from bellwire.retentions() left join bellwire.settings on name = setting`,
  );
  const shown = tableRows(section(PAGE, 'What is deleted by itself')).map(([what, after]) => {
    const [, setting, value] = /`(\w+)` \((\d+)\)/.exec(after ?? '') ?? [];
    return { what: what?.replaceAll('`', ''), setting: setting ?? null, value: value ?? null };
  });
  t.strictSame(shown, rows);
});

t.test('the example of a watchable table and its first failure', async (t) => {
  const database = await createDatabase(t);
  const { admin } = database;
  const [example = ''] = blocks(section(PAGE, 'Make a table watchable'), 'sql');
  await admin.query(`
    insert into bellwire.users (name, email) values ('Ada Lovelace', 'ada@example.com'), ('Ben Okri', 'ben@example.com');
    insert into bellwire.workspaces (name) values ('Shop');
    insert into suite.workspace_members (workspace_id, user_id) values (1, 1), (1, 2);
    create schema shop`);
  await admin.query(example);
  await admin.query(`
    select bellwire.act_as(2);
    insert into shop.orders (workspace_id, customer, total) values (1, 'Katherine', 12);
    select bellwire.act_as(1);
    update shop.orders set status = 'shipped' where customer = 'Katherine'`);
  const { rows: told } = await admin.query(
    'select user_id, kind, title, link_path from bellwire.notifications',
  );
  t.match(told, [
    {
      user_id: '2',
      kind: 'order_shipped',
      title: 'Ada Lovelace shipped the order of Katherine',
      link_path: '/orders/1',
    },
  ]);

  await admin.query("update shop.orders set status = 'open'");
  await admin.query("update shop.orders set status = 'shipped', items = 0");
  const { rows: failures } = await admin.query(
    'select rule, sqlstate, message from bellwire.rule_failures',
  );
  t.strictSame(failures, [
    { rule: 'track shop.orders', sqlstate: '22012', message: 'division by zero' },
  ]);
});

interface Example {
  sql: string;
  head: string[];
  rows: string[][];
}

/** The statements of a section and the tables shown below them. */
function examples(heading: string): Example[] {
  return examplesIn(section(PAGE, heading));
}

function examplesIn(text: string): Example[] {
  const found: Example[] = [];
  const cells = (line: string) => line.split('|').map((cell) => cell.trim());
  for (const block of blocks(text, 'text')) {
    for (const part of block.split(/^=> /m).slice(1)) {
      const [sql = '', output = ''] = part.split(';\n');
      const [head = '', , ...rows] = output.split('\n').filter((line) => line.trim() !== '');
      found.push({ sql, head: cells(head), rows: rows.map(cells) });
    }
  }
  return found;
}

/** Times are another each time. */
function timeless(value: unknown): string {
  return String(value ?? '')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00/g, 'time')
    .replaceAll(/\d\d:\d\d:\d\d(\.\d+)?/g, 'span')
    .replace(/^true$/, 't')
    .replace(/^false$/, 'f');
}

/** The demo workspace after what the page shows has happened in it. */
async function createShown(t: Parameters<typeof createDatabase>[0]) {
  const database = await createDatabase(t);
  await seed(database.adminUrl);
  const client = await database.admin.connect();
  const as = (id: number | null) => client.query('select bellwire.act_as($1)', [id]);
  try {
    await as(3);
    await client.query("select api.watch('log', '1', 'ignored')");
    await as(2);
    await client.query("select api.publish_document(1, 'Second edition')");
    await as(null);
    for (const name of ['one', 'two']) {
      await client.query('select bellwire.create_webhook_subscription($1, 1)', [
        `https://${name}.example/hooks`,
      ]);
    }
    await as(1);
    await client.query("update suite.logs set title = 'Welcome!' where id = 1");
    await client.query("update suite.logs set title = 'Welcome' where id = 1");
    await as(null);
    await client.query('select bellwire.sequence_webhooks(100)');
    await client.query(
      `update bellwire.webhook_subscriptions
       set paused_until = now() + interval '1 hour', consecutive_failures = 2 where id = 2`,
    );
    await client.query(
      'alter table bellwire.watches add constraint out_of_order check (false) not valid',
    );
    await as(3);
    await client.query("update suite.logs set html = html || '<p>More</p>' where id = 2");
    await as(null);
    await client.query('alter table bellwire.watches drop constraint out_of_order');
    await client.query(
      "update bellwire.email_outbox set state = 'sent', sent_at = now() where id < 3",
    );
  } finally {
    client.release();
  }
  return database;
}

/** Runs an example as an administrator, everything as text, as psql shows it. */
async function run(database: Awaited<ReturnType<typeof createDatabase>>, sql: string) {
  return database.asAdministrator(async (client) => {
    await client.query("set local timezone = 'UTC'");
    await client.query('savepoint example');
    const result = await client.query({
      text: sql,
      rowMode: 'array',
      types: { getTypeParser: () => (value: unknown) => value },
    });
    await client.query('rollback to example');
    return {
      head: result.fields.map(({ name }) => name),
      rows: result.rows.map((row: unknown[]) => row.map(timeless)),
    };
  });
}

t.test('what administrators ask: the examples give what the page shows', async (t) => {
  const database = await createShown(t);
  let compared = 0;
  for (const [heading, only] of [
    ['Why somebody was told, or not', /./],
    ['Who watches what, and who has not read', /./],
    ['When a rule fails', /admin_failures/],
    ['Is it healthy?', /./],
  ] as const) {
    for (const { sql, head, rows } of examples(heading)) {
      if (!only.test(sql)) continue;
      // The demo goes on after the entry that the page asks about.
      const asked = sql.includes('from bellwire.activity_log order by id desc')
        ? sql.replace('order by', 'where id <= 10 order by')
        : sql;
      const found = await run(database, asked);
      t.strictSame(found.head, head, `${sql}: columns`);
      if (sql.includes('pg_stat')) continue;
      t.strictSame(
        found.rows,
        rows.map((row) => row.map(timeless)),
        sql,
      );
      compared += 1;
    }
  }
  t.equal(compared, 11);
});

t.test('the questions of explain_delivery() are those of the page', async (t) => {
  const database = await createShown(t);
  const { rows } = await run(database, 'select step from bellwire.explain_delivery(1, 10)');
  const shown = tableRows(section(PAGE, 'Why somebody was told, or not'));
  t.strictSame(
    shown.map(([step]) => step?.replaceAll('`', '')),
    rows.map(([step]) => step),
  );
});

t.test('a subscription is administered as the page says', async (t) => {
  const database = await createShown(t);
  const [calls = ''] = blocks(section(PAGE, 'Webhooks'), 'sql');
  const seen = new Map<string, unknown>();
  let last: Record<string, unknown>[] = [];
  for (const call of calls.split('\n').filter(Boolean)) {
    last = (await database.asAdministrator((client) => client.query(call))).rows;
    const { rows } = await database.admin.query(
      'select is_enabled, disabled_reason, name from bellwire.webhook_subscriptions where id = 1',
    );
    seen.set(/bellwire\.(\w+)/.exec(call)?.[1] ?? '', rows[0]);
  }
  t.strictSame(seen.get('disable_webhook_subscription'), {
    is_enabled: false,
    disabled_reason: 'moves on Sunday',
    name: null,
  });
  t.match(seen.get('enable_webhook_subscription'), { is_enabled: true, disabled_reason: null });
  t.match(seen.get('change_webhook_subscription'), { name: 'Mirror' });
  t.equal(seen.get('delete_webhook_subscription'), undefined);
  t.strictSame(
    last.slice(2).map(({ what }) => what),
    [
      'disabled',
      'enabled',
      'tested',
      'changed',
      'rotated',
      'skipped',
      'redelivered',
      'replayed',
      'deleted',
    ],
  );
  const shown = tableRows(section(PAGE, 'Webhooks')).map(([name]) => name?.replaceAll('`', ''));
  const { rows } = await database.admin.query(
    `select from pg_proc where pronamespace = 'bellwire'::regnamespace and proname = any ($1)
       and has_function_privilege('bellwire_admin', oid, 'execute')`,
    [shown],
  );
  t.equal(rows.length, shown.length, 'the functions of the table are there for administrators');
});

t.test('the keys of secrets are shown as operations.md has them', async (t) => {
  const database = await createDatabase(t);
  const page = section(readPage('docs/operations.md'), 'Exchanging SECRETS_KEY');
  const key = randomBytes(32).toString('base64');
  const keyring = new Keyring([key]);
  await database.admin.query(
    `insert into bellwire.users (name, email) values ('Ada Lovelace', 'ada@example.com'), ('Ben Okri', 'ben@example.com');
     insert into identity.second_factors (user_id, secret) values (1, 'ABCDEFGHABCDEFGH');
     select bellwire.create_webhook_subscription('https://example.com/hooks')`,
  );
  await database.admin.query(
    'insert into identity.second_factors (user_id, secret) values (2, $1)',
    [keyring.seal('ABCDEFGHABCDEFGH', 'second-factor:2')],
  );
  const [shown] = examplesIn(page);
  const found = await run(database, shown?.sql ?? '');
  t.strictSame(found.head, shown?.head);
  t.strictSame(found.rows, [
    ['second factors', String(keyring.currentKeyId), '1'],
    ['second factors', '', '1'],
    ['webhooks', '', '1'],
  ]);
  const [command = ''] = blocks(page, 'sh');
  const id = execFileSync('sh', ['-c', command], { env: { ...process.env, KEY: key } });
  t.equal(id.toString(), keyring.currentKeyId, 'the id of a key, by the command of the page');
});

t.test('administrators of the installation are made and unmade as accounts.md says', async (t) => {
  const database = await createDatabase(t);
  await database.admin.query(
    `insert into bellwire.users (name, email, is_admin)
     values ('Ada Lovelace', 'ada@example.com', true), ('Ben Okri', 'ben@example.com', false)`,
  );
  const page = section(readPage('docs/accounts.md'), 'Administrators of the installation');
  const [calls = ''] = blocks(page, 'sql');
  const [look = '', make = '', unmake = ''] = calls.split('\n').filter(Boolean);
  const by = (sql: string) => database.asAdministrator((client) => client.query(sql));
  const admins = async () => (await by(look)).rows.map(({ name }) => name);
  t.strictSame(await admins(), ['Ada Lovelace']);
  await t.rejects(by(unmake), { code: '22023', detail: 'last_admin' });
  await by(make);
  await by(unmake);
  t.strictSame(await admins(), ['Ben Okri']);
});
