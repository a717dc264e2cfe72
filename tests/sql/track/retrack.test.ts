import { appendFile, cp } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { migrate } from '../../../db/migrate.ts';
import { createStage } from '../fixtures.ts';
import { addActions, createNeighbour } from './dba.ts';

const SCRIPTS = fileURLToPath(new URL('../../../db/', import.meta.url));

t.test('an upgrade of the generator makes the functions of all tables again', async (t) => {
  const stage = await createStage(t);
  const { dba, app } = await createNeighbour(t, stage, 'yard');
  await addActions(stage);
  await dba(
    `create table yard.orders (id bigint primary key, title text, extra text);
     create table yard.broken (id bigint primary key, title text, extra text);
     create table yard.crew (squad bigint, person bigint, primary key (squad, person));
     create table yard.people (id bigint primary key, name text)`,
  );
  for (const [table, type] of [
    ['broken', 'broken_order'],
    ['orders', 'order'],
  ]) {
    await dba(
      `select bellwire.track('yard.${table}', '${type}', workspace => '${stage.workspaceId}', title => 'title',
         actions => '[{"on": "insert", "action": "order.open", "metadata": {"extra": "new.extra"}}]')`,
    );
  }
  await dba(
    "select bellwire.track_members('yard.crew', scope => 'squad:squad', member => 'person')",
  );
  await dba("select bellwire.track_users('yard.people', name => 'name', email => 'null')");
  await dba('alter table yard.broken rename column extra to other');

  const directory = t.testdir({});
  await cp(SCRIPTS, directory, { recursive: true });
  await appendFile(
    path.join(directory, 'functions/track/tracked_failure.sql'),
    '-- The next version.\n',
  );
  const generated = () =>
    stage.look(
      "select proname, xmin::text from pg_proc where pronamespace = 'bellwire_tracked'::regnamespace and proname ~ '^(order|broken|yard)' order by 1",
    );
  const triggers = () =>
    stage.look(
      "select tgname, oid::text from pg_trigger where tgrelid::regclass::text like 'yard.%' and tgname like 'bellwire%' order by 2",
    );
  const [functionsBefore, triggersBefore] = [await generated(), await triggers()];
  const lines: string[] = [];
  await migrate(stage.database.adminUrl, { directory, log: (line) => lines.push(line) });

  t.match(
    lines.filter((line) => line.includes('yard.')).sort(),
    [
      'tracked yard.crew again',
      'tracked yard.orders again',
      'tracked yard.people again',
      /^warning: yard\.broken could not be tracked again and goes on as before: .*extra/,
    ],
    'the one that cannot be made is named, and costs the others nothing',
  );
  t.ok(lines.includes('applied functions/track/tracked_failure.sql'), 'nor the upgrade');
  const changed = (await generated()).filter((row, at) => row.xmin !== functionsBefore[at]?.xmin);
  t.strictSame(
    changed.map((row) => String(row.proname).replace(/_[0-9a-f]{6}_/, '_')),
    [
      'order_delete',
      'order_insert',
      'order_update',
      'yard_crew_members_delete',
      'yard_crew_members_insert',
      'yard_crew_members_update',
      'yard_people_users_delete',
      'yard_people_users_insert',
      'yard_people_users_update',
    ],
    'new functions',
  );
  t.strictSame(
    await triggers(),
    triggersBefore,
    'under the triggers that were there: no lock on the tables',
  );
  t.match(await stage.look('select rule, sqlstate from bellwire.rule_failures'), [
    { rule: 'retrack yard.broken', sqlstate: '22023' },
  ]);

  t.equal(
    (await stage.recorded(() => app(null, "insert into yard.orders values (1, 'A', 'x')"))).length,
    1,
  );
  await app(null, "insert into yard.broken values (1, 'B', 'y')");
  t.ok(await stage.resourceId('broken_order', '1'), 'it goes on as before');

  const again: string[] = [];
  await migrate(stage.database.adminUrl, { directory, log: (line) => again.push(line) });
  t.strictSame(
    again.filter((line) => line.includes('yard.')),
    [],
    'once',
  );
});

t.test('retrack brings the registry in step', async (t) => {
  const stage = await createStage(t);
  const { dba, app } = await createNeighbour(t, stage, 'yard');
  await dba('create table yard.orders (id bigint primary key, title text)');
  await dba(
    `select bellwire.track('yard.orders', 'order', workspace => '${stage.workspaceId}', title => 'title')`,
  );
  await app(null, "insert into yard.orders values (1, 'A'), (2, 'B')");
  await stage.look(
    `set session_replication_role = replica; delete from yard.orders where id = 1; update yard.orders set title = 'B2';
     insert into yard.orders values (3, 'C'); set session_replication_role = origin`,
  );
  const registered = () =>
    stage.look(
      "select ref, title, deleted_at is not null as is_deleted from bellwire.resources where type = 'order' order by 1",
    );
  t.match(await registered(), [{ ref: '1', is_deleted: false }, { title: 'B' }]);
  t.strictSame(
    await dba("select table_name::text, call, problem from bellwire.retrack('yard.orders')"),
    [{ table_name: 'yard.orders', call: 'track', problem: null }],
  );
  t.strictSame(await registered(), [
    { ref: '1', title: 'A', is_deleted: true },
    { ref: '2', title: 'B2', is_deleted: false },
    { ref: '3', title: 'C', is_deleted: false },
  ]);
  const all = await dba('select table_name::text as name, call, problem from bellwire.retrack()');
  const problem = (name: string) => all.find((row) => row.name === name)?.problem;
  t.equal(problem('yard.orders'), null);
  t.match(
    problem('suite.archives'),
    /row security hides rows.*42501/,
    'a table of somebody else is named and left as it is',
  );
  t.ok(
    (await stage.look('select problem from bellwire.retrack()')).every(
      (row) => row.problem === null,
    ),
    'all of them, by who may',
  );
});
