import t from 'tap';
import { createStage, refused, type Stage } from '../fixtures.ts';
import { addActions, createNeighbour, type Neighbour } from './dba.ts';

const ACTIONS = JSON.stringify([
  { on: 'insert', action: 'order.open' },
  { on: 'update', of: ['title'], action: 'order.change' },
  { on: 'delete', action: 'order.drop' },
]);

async function setUp(t: Parameters<typeof createStage>[0], ddl: string) {
  const stage = await createStage(t);
  const neighbour = await createNeighbour(t, stage, 'yard');
  await addActions(stage);
  await neighbour.dba(ddl);
  return { stage, ...neighbour };
}

function track(dba: Neighbour['dba'], table: string, type: string, workspaceId: number) {
  return dba(
    `select bellwire.track('${table}', '${type}', workspace => '${workspaceId}', title => 'title', actions => $1)`,
    [ACTIONS],
  );
}

/** Type, key and deletion of what is registered. */
function registered(stage: Stage, type: string) {
  return stage.look(
    'select ref, title, deleted_at is not null as is_deleted from bellwire.resources where type = $1 order by ref',
    [type],
  );
}

/** Actions and keys of the entries this adds, sorted: the order of rows in a statement is nobody's. */
async function seen(stage: Stage, change: () => Promise<unknown>) {
  return (await stage.recorded(change)).map((row) => [row.action, row.ref]).sort();
}

function noFailures(stage: Stage) {
  return stage.look('select rule, sqlstate, message, context from bellwire.rule_failures');
}

t.test('what has no rows that could be followed is refused', async (t) => {
  const { stage, dba } = await setUp(
    t,
    `create table yard.orders (id bigint primary key, title text);
     create view yard.seen as select * from yard.orders;
     create materialized view yard.kept as select * from yard.orders;
     create table yard.above (id bigint primary key, title text);
     create table yard.below () inherits (yard.above);
     create table yard.split (id bigint primary key, title text) partition by range (id);
     create table yard.split_1 partition of yard.split for values from (1) to (100)`,
  );
  await stage.look(
    `create extension if not exists file_fdw; create server files foreign data wrapper file_fdw;
     create foreign table yard.elsewhere (id bigint, title text) server files options (program 'true');
     create table yard.mixed (id bigint, title text) partition by range (id);
     create foreign table yard.mixed_1 partition of yard.mixed for values from (1) to (9) server files options (program 'true')`,
  );
  const attempts: [table: string, hint: RegExp][] = [
    ['yard.seen', /hold the rows/],
    ['yard.kept', /hold the rows/],
    ['yard.elsewhere', /hold the rows/],
    ['yard.below', /yard\.above/],
    ['yard.split_1', /yard\.split/],
    ['yard.mixed', /Detach/],
  ];
  for (const [table, hint] of attempts) {
    const call = `bellwire.track('${table}', 'order', key => 'id', workspace => '1')`;
    await refused(t, stage.look(`select ${call}`), { code: '22023', hint }, table);
    await refused(
      t,
      stage.look(`select bellwire.track_members('${table}', 'workspace:1', 'id')`),
      { code: '22023', hint },
      `members: ${table}`,
    );
    await refused(
      t,
      stage.look(`select bellwire.track_users('${table}', 'title', 'title', id => 'id')`),
      { code: '22023', hint },
      `users: ${table}`,
    );
  }
  await stage.look('grant temporary on database current to public').catch(() => {});
  const client = await stage.database.admin.connect();
  try {
    await client.query('create temporary table fleeting (id bigint primary key)');
    await t.rejects(client.query("select bellwire.track('fleeting', 'order')"), { code: '22023' });
  } finally {
    client.release(true);
  }
  t.strictSame(
    await stage.look(
      "select from pg_trigger where tgname like 'bellwire%' and tgrelid::regclass::text like 'yard.%'",
    ),
    [],
  );
  await track(dba, 'yard.orders', 'order', stage.workspaceId);
});

t.test('a partitioned table', async (t) => {
  const { stage, dba, app } = await setUp(
    t,
    `create table yard.split (id bigint, kind integer, title text, primary key (id, kind)) partition by list (kind);
     create table yard.split_1 partition of yard.split for values in (1);
     -- Its columns are in another order, and one was dropped.
     create table yard.split_2 (gone text, title text, kind integer not null, id bigint not null, primary key (id, kind));
     alter table yard.split_2 drop column gone;
     alter table yard.split attach partition yard.split_2 for values in (2);
     create table yard.split_3 partition of yard.split for values in (3, 4) partition by list (kind);
     create table yard.split_3_3 partition of yard.split_3 for values in (3);
     insert into yard.split values (90, 1, 'before'), (91, 3, 'before')`,
  );
  await track(dba, 'yard.split', 'order', stage.workspaceId);
  t.match(
    await registered(stage, 'order'),
    [{ ref: '90,1' }, { ref: '91,3' }],
    'rows that are there',
  );

  t.strictSame(
    await seen(stage, () =>
      app(null, "insert into yard.split values (1, 1, 'A'), (2, 2, 'B'), (3, 3, 'C')"),
    ),
    [
      ['order.open', '1,1'],
      ['order.open', '2,2'],
      ['order.open', '3,3'],
    ],
    'through the parent: once each',
  );
  for (const [partition, row, ref] of [
    ['yard.split_1', "(11, 1, 'D')", '11,1'],
    ['yard.split_3_3', "(13, 3, 'F')", '13,3'],
    ['yard.split_3', "(14, 3, 'G')", '14,3'],
  ]) {
    t.strictSame(
      await seen(stage, () => app(null, `insert into ${partition} values ${row}`)),
      [['order.open', ref]],
      `directly into ${partition}: once`,
    );
  }
  t.strictSame(
    await seen(stage, () =>
      app(null, "insert into yard.split_2 (id, kind, title) values (12, 2, 'E')"),
    ),
    [['order.open', '12,2']],
    'into a partition whose columns are in another order',
  );
  t.strictSame(
    await seen(stage, () =>
      app(null, "update yard.split set title = title || '!' where id in (1, 2)"),
    ),
    [
      ['order.change', '1,1'],
      ['order.change', '2,2'],
    ],
  );
  t.strictSame(
    await seen(stage, () => app(null, "update yard.split_2 set title = 'direct' where id = 2")),
    [['order.change', '2,2']],
  );
  const id = await stage.resourceId('order', '1,1');
  t.strictSame(
    await seen(stage, () =>
      app(null, "update yard.split set kind = 2, title = 'moved' where id = 1"),
    ),
    [['order.change', '1,2']],
    'a row that moves to another partition has changed; it was not deleted and opened',
  );
  t.equal(await stage.resourceId('order', '1,2'), id, 'and keeps its place in the registry');
  t.strictSame(await seen(stage, () => app(null, 'delete from yard.split_2 where id = 2')), [
    ['order.drop', '2,2'],
  ]);
  t.strictSame(await noFailures(stage), []);

  await t.test('a partition that comes later', async (t) => {
    await dba('create table yard.split_4 partition of yard.split_3 for values in (4)');
    t.strictSame(
      await seen(stage, () => app(null, "insert into yard.split values (41, 4, 'through')")),
      [['order.open', '41,4']],
      'through the parent it is followed at once',
    );
    t.match(
      await noFailures(stage),
      [
        {
          rule: 'track yard.split',
          sqlstate: '01000',
          message: /yard\.split_4 is not followed/,
          context: /retrack\('yard\.split'\)/,
        },
      ],
      'and it is said that direct writes are not',
    );
    await stage.look('delete from bellwire.rule_failures');
    t.strictSame(
      await seen(stage, () =>
        app(null, "insert into yard.split_4 values (42, 4, 'direct'), (43, 4, 'direct')"),
      ),
      [],
    );
    t.equal((await noFailures(stage)).length, 1, 'once per transaction');
    await stage.look('delete from bellwire.rule_failures');

    t.strictSame(await dba("select call, problem from bellwire.retrack('yard.split')"), [
      { call: 'track', problem: null },
    ]);
    t.ok(await stage.resourceId('order', '42,4'), 'what was missed is registered');
    t.strictSame(
      await seen(stage, () => app(null, "insert into yard.split_4 values (44, 4, 'direct')")),
      [['order.open', '44,4']],
      'and direct writes are followed',
    );
    t.strictSame(await noFailures(stage), []);
  });

  await t.test('a partition that goes', async (t) => {
    await dba('alter table yard.split detach partition yard.split_1');
    await dba("select bellwire.retrack('yard.split')");
    t.match(
      (await registered(stage, 'order')).filter((row) => /,1$/.test(String(row.ref))),
      [{ is_deleted: true }, { is_deleted: true }],
      'its rows are not there any more',
    );
    t.strictSame(
      await seen(stage, () => app(null, "insert into yard.split_1 values (15, 1, 'gone')")),
      [],
    );
    t.strictSame(
      await stage.look(
        "select from pg_trigger where tgrelid = 'yard.split_1'::regclass and tgname like 'bellwire%'",
      ),
      [],
    );
  });

  await t.test('untrack leaves nothing behind on any of them', async (t) => {
    await dba("select bellwire.untrack('yard.split')");
    t.strictSame(
      await stage.look(
        "select tgrelid::regclass, tgname from pg_trigger where tgname like 'bellwire%' and tgrelid::regclass::text like 'yard.%'",
      ),
      [],
    );
    t.strictSame(
      await stage.look(
        "select from pg_proc where proname like 'order_%' and pronamespace = 'bellwire_tracked'::regnamespace",
      ),
      [],
    );
  });
});

t.test('a partition that a trigger empties does not mix rows up', async (t) => {
  const { stage, dba, app } = await setUp(
    t,
    `create table yard.split (id bigint, kind integer, title text, primary key (id, kind)) partition by list (kind);
     create table yard.split_1 partition of yard.split for values in (1);
     create table yard.split_2 partition of yard.split for values in (2);
     create function yard.swallow() returns trigger language plpgsql as 'begin return null; end';
     create trigger swallow before insert on yard.split_2 for each row when (new.id = 1) execute function yard.swallow();
     insert into yard.split values (1, 1, 'A'), (2, 1, 'B')`,
  );
  await track(dba, 'yard.split', 'order', stage.workspaceId);
  t.strictSame(
    await seen(stage, () => app(null, "update yard.split set kind = 2, title = title || '!'")),
    [],
    'nothing is recorded rather than something wrong',
  );
  t.match(await noFailures(stage), [{ sqlstate: '01000', message: /vanished/ }]);
  t.match(await registered(stage, 'order'), [
    { ref: '1,1', is_deleted: true },
    { ref: '2,1', is_deleted: true },
    { ref: '2,2', title: 'B!', is_deleted: false },
  ]);
});

t.test('tables that inherit', async (t) => {
  const { stage, dba, app } = await setUp(
    t,
    `create table yard.above (id bigint primary key, title text);
     create table yard.below (extra text, primary key (id)) inherits (yard.above);
     insert into yard.below values (90, 'before')`,
  );
  await track(dba, 'yard.above', 'order', stage.workspaceId);
  t.match(await registered(stage, 'order'), [{ ref: '90' }]);
  t.strictSame(await seen(stage, () => app(null, "insert into yard.below values (1, 'A', 'x')")), [
    ['order.open', '1'],
  ]);
  t.strictSame(await seen(stage, () => app(null, "insert into yard.above values (2, 'B')")), [
    ['order.open', '2'],
  ]);
  t.strictSame(
    await seen(stage, () => app(null, "update yard.above set title = title || '!' where id < 3")),
    [
      ['order.change', '1'],
      ['order.change', '2'],
    ],
    'a statement on the parent changes rows of both',
  );
  t.strictSame(await seen(stage, () => app(null, 'delete from yard.below where id = 1')), [
    ['order.drop', '1'],
  ]);
  t.strictSame(await noFailures(stage), []);
});

t.test("the application's own triggers and row security", async (t) => {
  const { stage, dba, app } = await setUp(
    t,
    `create table yard.orders (id bigint primary key, title text, tenant text not null default current_setting('yard.tenant', true));
     insert into yard.orders values (90, 'before', 'a'), (91, 'before', 'b');
     create table yard.notes (line text);
     create function yard.upper_title() returns trigger language plpgsql as
       'begin if new.title = ''skip'' then return null; end if; new.title := upper(new.title); return new; end';
     create function yard.note() returns trigger language plpgsql as
       'begin insert into yard.notes values (tg_name); return null; end';
     create function yard.follow() returns trigger language plpgsql as
       'begin if new.title = ''FIRST'' then update yard.orders set title = ''second'' where id = new.id; end if; return null; end';
     create trigger a_before before insert or update on yard.orders for each row execute function yard.upper_title();
     create trigger b_before before insert on yard.orders for each statement execute function yard.note();
     create trigger c_after after insert on yard.orders for each row execute function yard.follow();
     create trigger d_after after insert on yard.orders for each statement execute function yard.note();
     alter table yard.orders enable row level security;
     alter table yard.orders force row level security;
     create policy tenant on yard.orders using (tenant = current_setting('yard.tenant', true))`,
  );
  await track(dba, 'yard.orders', 'order', stage.workspaceId);
  t.match(
    await registered(stage, 'order'),
    [{ ref: '90' }, { ref: '91' }],
    'no row is hidden from the registry',
  );
  t.strictSame(
    await stage.look(
      "select relrowsecurity, relforcerowsecurity from pg_class where oid = 'yard.orders'::regclass",
    ),
    [{ relrowsecurity: true, relforcerowsecurity: true }],
    'and row security is what it was',
  );
  const asTenant = (sql: string) =>
    app(null, `select set_config('yard.tenant', 'a', false); ${sql}`);
  t.strictSame(
    await seen(stage, () =>
      asTenant("insert into yard.orders values (1, 'one', 'a'), (2, 'skip', 'a')"),
    ),
    [['order.open', '1']],
    'what a trigger drops is not there',
  );
  t.match(
    (await registered(stage, 'order')).find((row) => row.ref === '1'),
    { title: 'ONE' },
  );
  t.strictSame(
    (await seen(stage, () => asTenant("insert into yard.orders values (3, 'first', 'a')"))).sort(),
    [
      ['order.change', '3'],
      ['order.open', '3'],
    ],
    'a trigger that writes the same table',
  );
  t.match(
    (await registered(stage, 'order')).find((row) => row.ref === '3'),
    { title: 'SECOND' },
  );
  t.strictSame(
    await seen(stage, () => asTenant("update yard.orders set title = 'mine'")),
    [
      ['order.change', '1'],
      ['order.change', '3'],
      ['order.change', '90'],
    ],
    'only the rows that row security lets through',
  );
  await t.rejects(asTenant("insert into yard.orders values (4, 'four', 'b')"), { code: '42501' });
  t.strictSame(await noFailures(stage), []);
  t.ok(await stage.value('select count(*) from yard.notes'));

  await stage.look(
    'alter table yard.orders owner to current_user; grant select, trigger on yard.orders to bellwire_admin',
  );
  await refused(
    t,
    track(dba, 'yard.orders', 'order', stage.workspaceId),
    { code: '42501', hint: /its owner/ },
    'not by who does not see them',
  );
});

t.test('names that need quotes, of everything', async (t) => {
  const { stage, dba, app } = await setUp(
    t,
    `create table yard."It's; a ""Table""" ("Key ""1""" text, "select" uuid default gen_random_uuid(), title text,
       primary key ("Key ""1""", "select"));
     create table yard.верфьверфьверфьверфьверфьверфь (id bigint primary key, title text)`,
  );
  await track(dba, `yard."It''s; a ""Table"""`, 'order', stage.workspaceId);
  await track(dba, 'yard.верфьверфьверфьверфьверфьверфь', 'berth', stage.workspaceId);
  await dba(
    `select bellwire.track_members('yard."It''''s; a ""Table"""', 'workspace:''${stage.workspaceId}''', 'null')`.replaceAll(
      "''''",
      "''",
    ),
  );
  await dba(
    `select bellwire.track_members('yard.верфьверфьверфьверфьверфьверфь', 'workspace:''${stage.workspaceId}''', 'null')`.replace(
      /'workspace:''(\d+)'''/,
      "'workspace:$1'",
    ),
  );
  const opened = await seen(stage, () =>
    app(null, `insert into yard."It's; a ""Table""" values ('a', default, 'A')`),
  );
  t.match(opened, [['order.open', /^a,[0-9a-f-]{36}$/]]);
  await app(null, `update yard."It's; a ""Table""" set title = 'B'`);
  await app(null, "insert into yard.верфьверфьверфьверфьверфьверфь values (1, 'A')");
  t.match(await registered(stage, 'order'), [{ title: 'B' }]);
  t.match(await registered(stage, 'berth'), [{ ref: '1' }]);
  t.strictSame(await noFailures(stage), []);
});

t.test('a table that was dropped does not keep its type', async (t) => {
  const { stage, dba, app } = await setUp(
    t,
    'create table yard.orders (id bigint primary key, title text)',
  );
  await track(dba, 'yard.orders', 'order', stage.workspaceId);
  await dba('drop table yard.orders');
  await dba('create table yard.orders (id bigint primary key, title text)');
  await t.resolves(track(dba, 'yard.orders', 'order', stage.workspaceId));
  t.strictSame(await seen(stage, () => app(null, "insert into yard.orders values (1, 'A')")), [
    ['order.open', '1'],
  ]);
});
