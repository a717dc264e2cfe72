import t from 'tap';
import { createStage, type Stage } from '../fixtures.ts';
import { addActions, createNeighbour } from './dba.ts';

const ACTIONS = JSON.stringify([
  { on: 'insert', action: 'order.open' },
  { on: 'update', of: ['title'], action: 'order.change' },
  { on: 'delete', action: 'order.drop' },
]);

/** Postgres lets nobody refer to a key that may be deferred, and no other key can be swapped. */
async function setUp(
  t: Parameters<typeof createStage>[0],
  primaryKey = 'primary key deferrable initially immediate',
) {
  const stage = await createStage(t);
  const { dba, app } = await createNeighbour(t, stage, 'yard');
  await addActions(stage);
  await dba(`create table yard.orders (code text ${primaryKey}, title text not null, note text)`);
  await dba(
    `select bellwire.track('yard.orders', 'order', workspace => '${stage.workspaceId}', title => 'title',
       link_template => '/orders/{ref}', actions => $1)`,
    [ACTIONS],
  );
  const write = (sql: string) => app(stage.people.member, sql);
  await write("insert into yard.orders values ('a', 'Anchor'), ('b', 'Buoy')");
  return { stage, dba, app, write };
}

const idOf = (stage: Stage, ref: string) => stage.resourceId('order', ref);
const failures = (stage: Stage) => stage.look('select rule, message from bellwire.rule_failures');

t.test('a row whose key changes keeps its watches and its history', async (t) => {
  const { stage, write } = await setUp(t);
  const { colleague } = stage.people;
  const id = await idOf(stage, 'a');
  await stage.by(colleague, "select api.watch('order', 'a')");

  t.strictSame(
    await stage.recorded(() => write("update yard.orders set code = 'z' where code = 'a'")),
    [],
    'the key alone is no action',
  );
  t.match(
    await stage.look(
      'select ref, title, link_path, deleted_at from bellwire.resources where id = $1',
      [id],
    ),
    [{ ref: 'z', title: 'Anchor', link_path: '/orders/z', deleted_at: null }],
  );

  let entries: unknown;
  const told = await stage.told(async () => {
    entries = await stage.recorded(() =>
      write("update yard.orders set code = 'y', title = 'Anchor, large' where code = 'z'"),
    );
  });
  t.match(entries, [
    {
      action: 'order.change',
      ref: 'y',
      metadata: { title: 'Anchor, large', previous_title: 'Anchor' },
    },
  ]);
  t.match(told, [{ user_id: colleague, link_path: '/orders/y' }], 'whoever watched it still does');
  t.equal(
    await stage.value('select count(*) from bellwire.activity_log where resource_id = $1', [id]),
    2,
  );
  t.strictSame(await failures(stage), []);
});

t.test('two rows that swap their keys', async (t) => {
  const { stage, write } = await setUp(t);
  const [a, b] = [await idOf(stage, 'a'), await idOf(stage, 'b')];
  await write(
    "set constraints all deferred; update yard.orders set code = case code when 'a' then 'b' else 'a' end",
  );
  t.strictSame([await idOf(stage, 'b'), await idOf(stage, 'a')], [a, b]);
  t.match(
    await stage.look("select ref, title from bellwire.resources where type = 'order' order by ref"),
    [
      { ref: 'a', title: 'Buoy' },
      { ref: 'b', title: 'Anchor' },
    ],
  );

  const entries = await stage.recorded(() =>
    write(
      "update yard.orders set code = case code when 'a' then 'b' else 'a' end, title = title || '!'",
    ),
  );
  t.match(
    entries.map((row) => [row.ref, row.metadata.previous_title, row.metadata.title]).sort(),
    [
      ['a', 'Anchor', 'Anchor!'],
      ['b', 'Buoy', 'Buoy!'],
    ],
    'each with its own past, not with that of the other',
  );
  await write("update yard.orders set code = 'c' where code = 'b'");
  await write("update yard.orders set code = case code when 'a' then 'b' else 'd' end");
  t.strictSame(
    [await idOf(stage, 'b'), await idOf(stage, 'd')],
    [a, b],
    'one moves to where another just left',
  );
  t.strictSame(await failures(stage), []);
});

t.test('a key that a deleted row had before', async (t) => {
  const { stage, write } = await setUp(t);
  const [a, b] = [await idOf(stage, 'a'), await idOf(stage, 'b')];
  await write("delete from yard.orders where code = 'b'");
  await write("update yard.orders set code = 'b' where code = 'a'");
  t.equal(await idOf(stage, 'b'), a, 'the row that has it now');
  const [former] = await stage.look(
    'select ref, deleted_at from bellwire.resources where id = $1',
    [b],
  );
  t.match(former, { ref: `b (until ${b})`, deleted_at: Date });
  t.match(
    await stage.look(
      'select action from bellwire.activity_log where resource_id = $1 order by id',
      [b],
    ),
    [{ action: 'order.open' }, { action: 'order.drop' }],
    'the deleted one keeps its own history',
  );

  await write("delete from yard.orders where code = 'b'");
  await write("insert into yard.orders values ('b', 'Buoy again')");
  t.match(
    await stage.look(
      "select id, title, deleted_at from bellwire.resources where type = 'order' and ref = 'b'",
    ),
    [{ id: a, title: 'Buoy again', deleted_at: null }],
    'a row that is inserted under the key comes back under its id',
  );
  t.strictSame(await failures(stage), []);
});

t.test('children and compound keys follow a key that cascades', async (t) => {
  const { stage, dba, app } = await setUp(t, 'primary key');
  await dba(
    `create table yard.lines (code text references yard.orders on update cascade on delete cascade, number integer,
       title text, primary key (code, number))`,
  );
  await dba(
    "select bellwire.track('yard.lines', 'order_line', parent => 'order:code', title => 'title', actions => $1)",
    [ACTIONS],
  );
  await app(null, "insert into yard.lines values ('a', 1, 'Chain'), ('b', 1, 'Rope')");
  const line = await stage.resourceId('order_line', 'a,1');
  await app(null, "update yard.orders set code = 'z' where code = 'a'");
  t.equal(await stage.resourceId('order_line', 'z,1'), line);
  t.match(
    await stage.look(
      `select parent.ref, child.ancestors[2] = parent.id as is_below from bellwire.resources as child
       join bellwire.resources as parent on parent.id = child.parent_id where child.id = $1`,
      [line],
    ),
    [{ ref: 'z', is_below: true }],
  );
  const dropped = await stage.recorded(() => app(null, "delete from yard.orders where code = 'z'"));
  t.strictSame(dropped.map((row) => [row.action, row.ref]).sort(), [
    ['order.drop', 'z'],
    ['order.drop', 'z,1'],
  ]);
  t.strictSame(await failures(stage), []);
});

t.test('keys of text that look alike, are long or empty', async (t) => {
  const { stage, dba, app } = await setUp(t);
  await dba('create table yard.pairs (one text, two text, title text, primary key (one, two))');
  await dba("select bellwire.track('yard.pairs', 'pair', workspace => $1, title => 'title')", [
    String(stage.workspaceId),
  ]);
  await app(
    null,
    "insert into yard.pairs values ('a,b', 'c', 'first'), ('a', 'b,c', 'second'), ('50%', '2C', 'third')",
  );
  t.match(
    await stage.look(
      "select ref, title from bellwire.resources where type = 'pair' order by title",
    ),
    [
      { ref: 'a%2Cb,c', title: 'first' },
      { ref: 'a,b%2Cc', title: 'second' },
      { ref: '50%25,2C', title: 'third' },
    ],
  );

  const long = 'x'.repeat(300);
  await app(
    null,
    `insert into yard.orders values ('${long}1', 'One'), ('${long}2', 'Two'), ('', 'Empty'), ('c', 'Fine')`,
  );
  const refs = await stage.look(
    "select title, length(ref) as characters from bellwire.resources where type = 'order' and title in ('One', 'Two', 'Empty', 'Fine') order by title",
  );
  t.strictSame(
    refs,
    [
      { title: 'Fine', characters: 1 },
      { title: 'One', characters: 255 },
      { title: 'Two', characters: 255 },
    ],
    'the one without a key costs the others nothing',
  );
  const entries = await stage.recorded(() =>
    app(null, `update yard.orders set title = 'Uno' where code = '${long}1'`),
  );
  t.match(entries, [{ action: 'order.change', metadata: { previous_title: 'One' } }]);
  t.strictSame(await failures(stage), []);
});

t.test('the members of a scope go with it to its new key, and not with the key', async (t) => {
  const stage = await createStage(t);
  const { dba } = await createNeighbour(t, stage, 'fleet');
  const { member, colleague } = stage.people;
  await dba('create table fleet.crews (code text primary key, title text not null)');
  await dba('create table fleet.sailors (crew text, person bigint)');
  await dba(
    `select bellwire.track('fleet.crews', 'crew', workspace => '${stage.workspaceId}', title => 'title', is_scope => true)`,
  );
  await dba(
    `select bellwire.track_members('fleet.sailors', scope => 'crew:crew', member => 'person')`,
  );
  await dba("insert into fleet.crews values ('a', 'Anchor'), ('b', 'Buoy')");
  await dba("insert into fleet.sailors values ('a', $1), ('b', $2)", [member, colleague]);
  const members = () =>
    stage.look(
      `select scope_ref, user_id from bellwire.memberships where scope_type = 'crew' order by scope_id`,
    );
  t.match(await members(), [
    { scope_ref: 'a', user_id: member },
    { scope_ref: 'b', user_id: colleague },
  ]);

  // The crew is gone, its sailors are still listed; another crew takes its key.
  await dba("delete from fleet.crews where code = 'a'");
  await dba("update fleet.crews set code = 'a' where code = 'b'");
  const [left, moved] = (await members()) as { scope_ref: string; user_id: number }[];
  t.match(moved, { scope_ref: 'a', user_id: colleague });
  t.equal(left?.user_id, member);
  t.not(left?.scope_ref, 'a', 'a deleted crew’s sailors are not those of the one that has its key');
});
