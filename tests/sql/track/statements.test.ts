import t from 'tap';
import { createStage, refused, type Stage } from '../fixtures.ts';
import { addActions, createNeighbour } from './dba.ts';

const ACTIONS = JSON.stringify([
  { on: 'insert', action: 'order.open' },
  { on: 'update', of: ['title'], action: 'order.change' },
  { on: 'delete', action: 'order.drop' },
]);

async function setUp(t: Parameters<typeof createStage>[0]) {
  const stage = await createStage(t);
  const { dba, app } = await createNeighbour(t, stage, 'yard');
  await addActions(stage);
  await dba(
    'create table yard.orders (id bigint primary key, title text, about json, parent_id bigint references yard.orders on delete cascade)',
  );
  await track(dba, stage);
  return { stage, dba, app };
}

function track(
  dba: Awaited<ReturnType<typeof createNeighbour>>['dba'],
  stage: Stage,
  actions = ACTIONS,
) {
  return dba(
    `select bellwire.track('yard.orders', 'order', workspace => '${stage.workspaceId}', title => 'title', actions => $1)`,
    [actions],
  );
}

async function seen(stage: Stage, change: () => Promise<unknown>) {
  return (await stage.recorded(change))
    .map((row) => [row.action, row.ref, row.metadata.title])
    .sort();
}

t.test('a statement that touches the table more than once', async (t) => {
  const { stage, app } = await setUp(t);
  await app(null, "insert into yard.orders values (1, 'A'), (2, 'B'), (3, 'C')");
  t.strictSame(
    await seen(stage, () =>
      app(
        null,
        `with one as (update yard.orders set title = 'A2' where id = 1 returning id),
           two as (update yard.orders set title = 'B2' where id = 2 returning id),
           three as (delete from yard.orders where id = 3 returning id)
         insert into yard.orders select id + 10, 'new' from one union all select id + 10, 'new' from three`,
      ),
    ),
    [
      ['order.change', '1', 'A2'],
      ['order.change', '2', 'B2'],
      ['order.drop', '3', 'C'],
      ['order.open', '11', 'new'],
      ['order.open', '13', 'new'],
    ],
    'each change once',
  );
  t.strictSame(
    await seen(stage, () =>
      app(
        null,
        `insert into yard.orders values (1, 'A3'), (5, 'E'), (6, 'F')
         on conflict (id) do update set title = excluded.title where orders.id < 5`,
      ),
    ),
    [
      ['order.change', '1', 'A3'],
      ['order.open', '5', 'E'],
      ['order.open', '6', 'F'],
    ],
    'an upsert',
  );
  t.strictSame(
    await seen(stage, () =>
      app(null, "insert into yard.orders values (1, 'no') on conflict do nothing"),
    ),
    [],
  );
  t.strictSame(
    await seen(stage, () =>
      app(
        null,
        `merge into yard.orders as kept using (values (1, 'gone'), (5, 'E2'), (7, 'G')) as given(id, title) on kept.id = given.id
         when matched and given.title = 'gone' then delete
         when matched then update set title = given.title
         when not matched then insert (id, title) values (given.id, given.title)`,
      ),
    ),
    [
      ['order.change', '5', 'E2'],
      ['order.drop', '1', 'A3'],
      ['order.open', '7', 'G'],
    ],
    'a merge that does all three',
  );
  await app(null, "insert into yard.orders values (20, 'top'), (21, 'below')");
  await app(null, 'update yard.orders set parent_id = 20 where id = 21');
  await app(null, "insert into yard.orders values (22, 'deeper', null, 21)");
  t.strictSame(
    await seen(stage, () => app(null, 'delete from yard.orders where id = 20')),
    [
      ['order.drop', '20', 'top'],
      ['order.drop', '21', 'below'],
      ['order.drop', '22', 'deeper'],
    ],
    'a cascade within the table',
  );
  t.strictSame(await stage.look('select from bellwire.rule_failures'), []);
});

t.test('a plan made for one row serves ten thousand', async (t) => {
  const { stage, dba, app } = await setUp(t);
  await track(dba, stage, '[]');
  await app(
    null,
    "insert into yard.orders select id, 'title' from generate_series(1, 10000) as id",
  );
  // Row by row compared with every other it took 27 s.
  await app(
    null,
    `do $$ begin
       for i in 1 .. 10 loop update yard.orders set title = 'one' where id = i; end loop;
       perform set_config('statement_timeout', '15s', false);
     end $$;
     update yard.orders set about = '{}'`,
  );
  t.equal(await stage.value('select count(*) from yard.orders where about is not null'), 10000);
});

t.test('a plan made for ten thousand rows serves one', async (t) => {
  const { stage, dba, app } = await setUp(t);
  await dba(
    `create table yard.many (id bigint primary key, title text, note text);
     insert into yard.many select id, 'title' from generate_series(1, 30000) as id`,
  );
  const actions = [
    { on: 'insert', when: 'new.id < 0', action: 'order.open' },
    { on: 'update', when: 'new.id < 0', action: 'order.change' },
    { on: 'delete', when: 'old.id < 0', action: 'order.drop' },
  ];
  await dba(
    `select bellwire.track('yard.many', 'many', workspace => '${stage.workspaceId}', title => 'title', actions => $1)`,
    [JSON.stringify(actions)],
  );
  await stage.look('analyze bellwire.resources');
  // A write that read all of the type took 15 ms: 6 s for each of these.
  const writes = [
    "insert into yard.many values (50000 + i, 'one')",
    "update yard.many set note = 'one' where id = i",
    'delete from yard.many where id = 50000 + i',
  ];
  await app(
    null,
    `insert into yard.many select id, 'bulk' from generate_series(30001, 40000) as id;
     update yard.many set note = 'bulk' where id > 30000;
     delete from yard.many where id > 30000;
     set statement_timeout = '3s';
     ${writes.map((write) => `do $$ begin for i in 1 .. 400 loop ${write}; end loop; end $$`).join(';')}`,
  );
  t.equal(await stage.value("select count(*) from yard.many where note = 'one'"), 400);
});

t.test('a type that knows no equality is refused in "of"', async (t) => {
  const { stage, dba, app } = await setUp(t);
  await refused(
    t,
    track(dba, stage, JSON.stringify([{ on: 'update', of: ['about'], action: 'order.change' }])),
    { code: '22023', hint: /\S/ },
    'json',
  );
  await t.resolves(
    app(null, "insert into yard.orders values (1, 'A')"),
    'the former call is in force',
  );
  t.ok(await stage.resourceId('order', '1'));
  await track(
    dba,
    stage,
    JSON.stringify([
      {
        on: 'update',
        when: 'new.about::text is distinct from old.about::text',
        action: 'order.change',
      },
    ]),
  );
  t.equal((await stage.recorded(() => app(null, "update yard.orders set about = '{}'"))).length, 1);
});

t.test('truncate', async (t) => {
  const { stage, dba, app } = await setUp(t);
  await dba(
    'create table yard.lines (id bigint primary key, order_id bigint references yard.orders, title text)',
  );
  await dba('create table yard.others (id bigint primary key, title text)');
  for (const [table, type] of [
    ['lines', 'order_line'],
    ['others', 'other'],
  ]) {
    await dba(
      `select bellwire.track('yard.${table}', '${type}', workspace => $1, title => 'title')`,
      [String(stage.workspaceId)],
    );
    await app(null, `insert into yard.${table} (id, title) values (1, 'x')`);
  }
  const alive = () =>
    stage.look(
      "select type, ref from bellwire.resources where deleted_at is null and type in ('order', 'order_line', 'other') order by 1, 2",
    );
  await app(null, "insert into yard.orders values (1, 'A'), (2, 'B')");
  t.strictSame(
    await seen(stage, () => dba('truncate yard.orders cascade')),
    [],
    'shows no rows, so nothing is recorded',
  );
  t.strictSame(
    await alive(),
    [{ type: 'other', ref: '1' }],
    'what is gone is marked, of the other table by cascade too',
  );
  await app(null, "insert into yard.orders values (1, 'Again')");
  t.match(await alive(), [{ type: 'order', ref: '1' }, { type: 'other' }], 'and may come back');
  t.strictSame(await stage.look('select from bellwire.rule_failures'), []);

  await t.test('of a partition', async (t) => {
    await dba(
      `create table yard.split (id bigint primary key, title text) partition by range (id);
       create table yard.split_1 partition of yard.split for values from (1) to (10);
       create table yard.split_2 partition of yard.split for values from (10) to (20)`,
    );
    await dba(
      "select bellwire.track('yard.split', 'splinter', workspace => $1, title => 'title')",
      [String(stage.workspaceId)],
    );
    const splinters = () =>
      stage.look(
        "select ref, deleted_at is not null as is_deleted from bellwire.resources where type = 'splinter' order by 1",
      );
    await app(null, "insert into yard.split values (1, 'A'), (11, 'B')");
    await dba('truncate yard.split_1');
    t.match(
      await stage.look('select rule, sqlstate, message, context from bellwire.rule_failures'),
      [
        {
          rule: 'track yard.split',
          sqlstate: '01000',
          message: /yard\.split_1 was truncated/,
          context: /retrack/,
        },
      ],
      'nobody can say what was in it: it is noted',
    );
    await dba("select bellwire.retrack('yard.split')");
    t.strictSame(await splinters(), [
      { ref: '1', is_deleted: true },
      { ref: '11', is_deleted: false },
    ]);
    await stage.look('delete from bellwire.rule_failures');
    await dba('truncate yard.split');
    t.strictSame(await splinters(), [
      { ref: '1', is_deleted: true },
      { ref: '11', is_deleted: true },
    ]);
    t.strictSame(
      await stage.look('select from bellwire.rule_failures'),
      [],
      'of the whole table there is nothing to note',
    );
  });
});

t.test('an expression that fails costs its entries, not the registry', async (t) => {
  const { stage, dba, app } = await setUp(t);
  await track(
    dba,
    stage,
    JSON.stringify([
      { on: 'insert', action: 'order.open', metadata: { share: '1 / (new.id - 7)' } },
      { on: 'update', of: ['title'], action: 'order.change', when: '1 / (new.id - 7) >= 0' },
      { on: 'delete', action: 'order.drop', when: '1 / (old.id - 7) >= 0' },
    ]),
  );
  const failed = async () => {
    const rows = await stage.look(
      'select rule, sqlstate, subject_ids, context from bellwire.rule_failures',
    );
    await stage.look('delete from bellwire.rule_failures');
    return rows;
  };
  await app(null, "insert into yard.orders values (7, 'Bad'), (8, 'Good')");
  const ids = [await stage.resourceId('order', '7'), await stage.resourceId('order', '8')];
  t.match(
    await failed(),
    [{ rule: 'track yard.orders', sqlstate: '22012', subject_ids: ids, context: /^rows 7, 8\n/ }],
    'both are registered, and the failure says which rows it was',
  );
  await app(null, "update yard.orders set title = 'Worse', id = 7 where id = 7");
  t.match(
    await stage.look("select title from bellwire.resources where type = 'order' and ref = '7'"),
    [{ title: 'Worse' }],
  );
  t.match(await failed(), [{ subject_ids: [ids[0]], context: /^rows 7\n/ }]);
  await app(null, 'update yard.orders set id = 17 where id = 8');
  t.strictSame(await failed(), [], 'a row that does not fail');
  t.equal(await stage.resourceId('order', '17'), ids[1]);
  await app(null, 'delete from yard.orders where id = 7');
  t.match(await failed(), [{ subject_ids: [ids[0]] }]);
  t.match(await stage.look('select deleted_at from bellwire.resources where id = $1', [ids[0]]), [
    { deleted_at: Date },
  ]);
});

t.test('who is acting cannot be found out: the application does not feel it', async (t) => {
  const { stage, dba, app } = await setUp(t);
  await dba(
    `select bellwire.track('yard.orders', 'order', workspace => '${stage.workspaceId}', title => 'title', actions => $1,
       actor => 'current_setting(''yard.person'', true)::bigint')`,
    [
      JSON.stringify([
        { on: 'insert', action: 'order.open', actor: 'new.parent_id' },
        { on: 'update', of: ['title'], action: 'order.change' },
      ]),
    ],
  );
  const { member, colleague } = stage.people;
  await app(null, "set yard.person = 'somebody'; insert into yard.orders values (1, 'A')");
  t.match(await stage.look('select sqlstate from bellwire.rule_failures'), [{ sqlstate: '22P02' }]);
  t.ok(await stage.resourceId('order', '1'));
  await app(null, "set request.jwt.claims = 'garbage'; insert into yard.orders values (2, 'B')");
  t.equal(await stage.value('select count(*) from bellwire.rule_failures'), 2);

  const as = (user: number | string, sql: string) =>
    app(null, `set yard.person = '${user}'; ${sql}`);
  const actors = async (change: () => Promise<unknown>) =>
    (await stage.recorded(change)).map((row) => row.actor_id);
  t.strictSame(
    await actors(() => as(member, "insert into yard.orders values (3, 'C')")),
    [member],
    'a setting of the application',
  );
  t.strictSame(
    await actors(() =>
      app(
        colleague,
        `set yard.person = '${member}'; update yard.orders set title = 'C2' where id = 3`,
      ),
    ),
    [colleague],
    'where there are claims they say who it is',
  );
  await dba(
    `select bellwire.track('yard.orders', 'order', workspace => '${stage.workspaceId}', title => 'title',
       actions => '[{"on": "insert", "action": "order.open", "actor": "nullif(new.title, ''nobody'')::bigint"}]')`,
  );
  t.strictSame(
    await actors(() => app(null, `insert into yard.orders values (4, '${member}'), (5, 'nobody')`)),
    [member, null],
    'a column of the row',
  );
  t.strictSame(
    await actors(() => app(colleague, `insert into yard.orders values (6, '${member}')`)),
    [colleague],
  );
  await refused(
    t,
    dba("select bellwire.track('yard.orders', 'order', actor => 'nope', actions => $1)", [ACTIONS]),
    { code: '22023', hint: /\S/ },
    'an actor that is no expression',
  );
});
