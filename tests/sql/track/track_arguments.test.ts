import t from 'tap';
import { createStage, refused } from '../fixtures.ts';
import { addActions, createNeighbour } from './dba.ts';

interface Bad {
  what: string;
  /** The arguments after the table. */
  call: string;
  actions?: unknown;
  table?: string;
  hint?: RegExp;
  code?: string | RegExp;
}

const entry = (values: object) => [{ on: 'insert', action: 'order.open', ...values }];

const BAD: Bad[] = [
  { what: 'no table', table: 'null', call: "'order'" },
  { what: 'a type in capitals', call: "'Order'" },
  { what: 'a type with a quote', call: "'order''; drop table x'" },
  { what: 'an empty type', call: "''" },
  { what: 'a parent without an expression', call: "'order', parent => 'nonsense'" },
  { what: 'a parent nobody tracks', call: "'order', parent => 'unheard:id'", hint: /first/ },
  { what: 'a table without a key', table: "'yard.keyless'", call: "'order'", hint: /key/ },
  { what: 'actions that are no array', call: "'order'", actions: {} },
  { what: 'an entry without "on"', call: "'order'", actions: [{ action: 'order.open' }] },
  { what: 'an entry on select', call: "'order'", actions: entry({ on: 'select' }) },
  {
    what: 'an entry with an unknown field',
    call: "'order'",
    actions: entry({ off: 1 }),
    hint: /Fields/,
  },
  {
    what: 'an action without a rule',
    call: "'order'",
    actions: entry({ action: 'order.unheard' }),
    hint: /action_rules/,
  },
  {
    what: 'a column that is not there',
    call: "'order'",
    actions: entry({ on: 'update', of: ['nope'] }),
  },
  {
    what: 'an action on a parent that is not given',
    call: "'order'",
    actions: entry({ resource: 'parent' }),
    hint: /parent/,
  },
  { what: 'an action on itself without a type', call: 'null', actions: entry({}), hint: /type/ },
  { what: 'an entry that is no object', call: "'order'", actions: ['insert'] },
  { what: 'a title that is no expression', call: "'order', title => 'no ) such'", code: '22023' },
  { what: 'a title that is no column', call: "'order', title => 'nope'", code: /^42|^22023/ },
  {
    what: 'a condition that does not parse',
    call: "'order'",
    actions: entry({ when: 'new.id =' }),
    code: '22023',
  },
  {
    what: 'a link that leaves the application',
    call: "'order', link_template => '//evil.example'",
    code: '23514',
  },
];

t.test('what cannot be tracked is refused with a code and a hint', async (t) => {
  const stage = await createStage(t);
  const { dba, app } = await createNeighbour(t, stage, 'yard');
  await addActions(stage);
  await dba('create table yard.orders (id bigint primary key, name text, workspace_id bigint)');
  await dba('create table yard.keyless (id bigint)');
  for (const bad of BAD) {
    await refused(
      t,
      dba(`select bellwire.track(${bad.table ?? "'yard.orders'"}, ${bad.call}, actions => $1)`, [
        JSON.stringify(bad.actions ?? []),
      ]),
      bad.code ? { code: bad.code as string } : { code: '22023', hint: bad.hint ?? /\S/ },
      bad.what,
    );
  }
  t.strictSame(
    await stage.look("select tgname from pg_trigger where tgrelid = 'yard.orders'::regclass"),
    [],
    'nothing of it stayed',
  );
  await app(null, "insert into yard.orders values (1, 'One', $1)", [stage.workspaceId]);
  t.strictSame(await stage.look("select from bellwire.resource_types where type = 'order'"), []);
});

t.test('an expression that cannot work is refused now, not at the next write', async (t) => {
  const stage = await createStage(t);
  const { dba, app } = await createNeighbour(t, stage, 'yard');
  await addActions(stage);
  await dba('create table yard.orders (id bigint primary key, workspace_id bigint)');
  for (const values of [
    { when: 'new.nope = 1' },
    { metadata: { nope: 'new.nope' } },
    { names: 'array[new.nope]' },
  ]) {
    await t.rejects(
      dba(
        "select bellwire.track('yard.orders', 'order', workspace => 'workspace_id', actions => $1)",
        [JSON.stringify(entry(values))],
      ),
      { code: /^42|^22023/ },
      String(Object.keys(values)),
    );
  }
  await t.resolves(
    app(null, 'insert into yard.orders values (1, $1)', [stage.workspaceId]),
    'the application goes on writing',
  );
});

t.test('a type belongs to one table', async (t) => {
  const stage = await createStage(t);
  const { dba, app } = await createNeighbour(t, stage, 'yard');
  for (const name of ['one', 'two']) {
    await dba(
      `create table yard.${name} (id bigint primary key, ${name}_name text, workspace_id bigint)`,
    );
  }
  await dba(
    "select bellwire.track('yard.one', 'order', workspace => 'workspace_id', title => 'one_name')",
  );
  await refused(
    t,
    dba(
      "select bellwire.track('yard.two', 'order', workspace => 'workspace_id', title => 'two_name')",
    ),
    { code: '22023', hint: /\S/ },
    'a second table under the same type',
  );
  await t.resolves(
    app(null, "insert into yard.one values (1, 'One', $1)", [stage.workspaceId]),
    'the first goes on',
  );
  t.match(await stage.look("select title from bellwire.resources where type = 'order'"), [
    { title: 'One' },
  ]);
});

t.test("two long types do not get in each other's way", async (t) => {
  const stage = await createStage(t);
  const { dba, app } = await createNeighbour(t, stage, 'yard');
  const type = (end: string) => `a_very_long_type_of_thing_whose_name_goes_on_${end}`;
  for (const name of ['one', 'two']) {
    await dba(
      `create table yard.${name} (id bigint primary key, ${name}_name text, workspace_id bigint)`,
    );
    await dba(
      `select bellwire.track('yard.${name}', '${type(name)}', workspace => 'workspace_id', title => '${name}_name')`,
    );
  }
  await t.resolves(app(null, "insert into yard.one values (1, 'One', $1)", [stage.workspaceId]));
  t.match(await stage.look('select title from bellwire.resources where type = $1', [type('one')]), [
    { title: 'One' },
  ]);
});

t.test('who may track', async (t) => {
  const stage = await createStage(t);
  const { dba, app } = await createNeighbour(t, stage, 'yard');
  await dba('create table yard.orders (id bigint primary key)');
  const call = "select bellwire.track('yard.orders', 'order')";
  const forbidden = { code: '42501' };
  await refused(t, stage.by(stage.people.owner, call), forbidden, 'not a person');
  await refused(t, stage.byAnonymous(call), forbidden, 'nobody');
  await refused(t, stage.byWorker(call), forbidden, 'not the worker');
  await refused(t, app(null, call), forbidden, 'not the application');
  await refused(
    t,
    stage.byAdministrator(call),
    forbidden,
    'an administrator without rights on the table',
  );
  await refused(
    t,
    stage.by(
      stage.people.owner,
      "select bellwire.install_tracked_function('x', 'begin return null; end', 'authenticated')",
    ),
    forbidden,
    'and nobody installs a function of their own',
  );
});
