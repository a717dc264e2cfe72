import t from 'tap';
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
