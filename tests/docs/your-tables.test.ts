import t from 'tap';
import { createDatabase } from '../support/database.ts';
import { blocks, readPage } from './markdown.ts';

const PAGE = readPage('docs/your-tables.md');
const key = (digit: number) => `0b9f6c1e-0000-4000-8000-00000000000${digit}`;

t.test('the page from top to bottom, by an administrator who owns the tables', async (t) => {
  const database = await createDatabase(t);
  const { admin } = database;
  const dba = `${database.name}_dba`;
  await admin.query(
    `insert into bellwire.workspaces (name) values ('CRM');
     create role ${dba} login in role bellwire_admin; create schema crm authorization ${dba}`,
  );
  t.teardown(() => admin.query(`drop owned by ${dba} cascade; drop role ${dba}`));
  const client = await admin.connect();
  const examples = blocks(PAGE, 'sql');
  t.ok(examples.length >= 5);
  try {
    await client.query(`set session authorization ${dba}`);
    for (const example of examples) await client.query(example);
    await client.query(
      `insert into crm.people values ('${key(1)}', 'Ada', 'ada@crm.example'), ('${key(2)}', 'Ben', null), ('${key(3)}', 'Cy', null);
       insert into crm.teams values ('${key(9)}', 'North');
       insert into crm.team_people select '${key(9)}', id from crm.people`,
    );
    await client.query(
      `set crm.person = '${key(1)}';
       insert into crm.deals (team_id, owner_id, name) values ('${key(9)}', '${key(2)}', 'Windmill');
       update crm.deals set notes = '<span data-type="mention" data-id="${key(3)}">@Cy</span>', stage = 'won'`,
    );
    const { rows: retracked } = await client.query(examples.at(-1) ?? '');
    t.strictSame(retracked, [{ table_name: 'crm.deals', call: 'track', problem: null }]);
  } finally {
    client.release(true);
  }
  const { rows } = await admin.query(
    `select person.external_id, notification.kind, notification.title, notification.link_path
     from bellwire.notifications as notification join bellwire.users as person on person.id = notification.user_id
     order by person.external_id`,
  );
  t.strictSame(rows, [
    { external_id: key(2), kind: 'deal_won', title: 'Ada won “Windmill”', link_path: '/deals/1' },
    {
      external_id: key(3),
      kind: 'mention',
      title: 'Ada mentioned you in “Windmill”',
      link_path: '/deals/1',
    },
  ]);
  const { rows: failures } = await admin.query('select rule, message from bellwire.rule_failures');
  t.strictSame(failures, []);
});
