import t from 'tap';
import { createStage } from '../fixtures.ts';
import { addActions, createNeighbour } from './dba.ts';

t.test('keys, parents and calling track() again', async (t) => {
  const stage = await createStage(t);
  const { dba, app } = await createNeighbour(t, stage, 'yard');
  const { member } = stage.people;
  await addActions(stage);
  await dba('create table yard.docks (code text primary key, name text, workspace_id bigint)');
  await dba(
    `create table yard.berths (dock text references yard.docks on delete cascade, number integer, name text,
       primary key (dock, number))`,
  );
  const actions = JSON.stringify([
    { on: 'insert', action: 'order.open' },
    { on: 'update', of: ['name'], action: 'order.change' },
    { on: 'delete', action: 'order.drop', resource: 'parent', metadata: { number: 'old.number' } },
  ]);

  await dba(
    "select bellwire.track('yard.docks', 'dock', workspace => 'workspace_id', title => 'name', is_scope => true)",
  );
  await dba(
    "select bellwire.track('yard.berths', 'berth', parent => 'dock:dock', title => 'name', actions => $1)",
    [actions],
  );
  await app(member, "insert into yard.docks values ('N 1, old', 'North', $1)", [stage.workspaceId]);
  const added = await stage.recorded(() =>
    app(member, "insert into yard.berths values ('N 1, old', 4, 'Four'), ('N 1, old', 5, 'Five')"),
  );
  t.strictSame(
    added.map((row) => [row.type, row.ref]),
    [
      ['berth', 'N 1, old,4'],
      ['berth', 'N 1, old,5'],
    ],
    'the parts of a compound key are joined by commas',
  );
  const [berth] = await stage.look(
    `select berth.workspace_id, scope.type as scope, parent.ref as parent, cardinality(berth.ancestors) as depth
     from bellwire.resources as berth
     join bellwire.resources as scope on scope.id = berth.scope_id
     join bellwire.resources as parent on parent.id = berth.parent_id
     where berth.type = 'berth' and berth.ref = 'N 1, old,4'`,
  );
  t.strictSame(
    berth,
    { workspace_id: stage.workspaceId, scope: 'dock', parent: 'N 1, old', depth: 2 },
    'the parent comes from the other tracked table; the nearest scope is the dock',
  );
  t.strictSame(
    (await stage.recorded(() => app(member, 'delete from yard.berths where number = 4'))).map(
      (row) => [row.action, row.type, row.metadata],
    ),
    [['order.drop', 'dock', { number: 4 }]],
    'recorded on the parent',
  );

  await t.test('a parent that moves takes its children along', async (t) => {
    await app(member, "insert into yard.docks values ('S', 'South', $1)", [
      stage.strangerWorkspaceId,
    ]);
    await app(member, "update yard.docks set workspace_id = $1 where code = 'N 1, old'", [
      stage.strangerWorkspaceId,
    ]);
    t.equal(
      await stage.value(
        "select workspace_id from bellwire.resources where type = 'berth' and ref like '%5'",
      ),
      stage.strangerWorkspaceId,
    );
    await app(member, "update yard.docks set workspace_id = $1 where code = 'N 1, old'", [
      stage.workspaceId,
    ]);
    const [row] = await stage.look(
      `select workspace_id, ancestors[1] = (select id from bellwire.resources where type = 'workspace' and ref = $1)
         as is_below from bellwire.resources where type = 'berth' and ref like '%5'`,
      [String(stage.workspaceId)],
    );
    t.strictSame(row, { workspace_id: stage.workspaceId, is_below: true });
  });

  await t.test('tracking again replaces the first call', async (t) => {
    await dba(
      "select bellwire.track('yard.berths', 'berth', parent => 'dock:dock', title => 'upper(name)', actions => $1)",
      [JSON.stringify([{ on: 'insert', action: 'order.open' }])],
    );
    const triggers = await stage.value<number>(
      "select count(*) from pg_trigger where tgrelid = 'yard.berths'::regclass and tgname like 'bellwire%'",
    );
    t.equal(triggers, 4, 'one trigger per operation, and one for truncate, not two');
    const entries = await stage.recorded(async () => {
      await app(member, "insert into yard.berths values ('S', 1, 'One')");
      await app(member, "update yard.berths set name = 'Uno' where dock = 'S'");
    });
    t.match(entries, [{ action: 'order.open', metadata: { title: 'ONE' } }]);
    t.equal(entries.length, 1, 'the entry for update is gone');
    t.equal(
      await stage.value(
        "select title from bellwire.resources where type = 'berth' and ref = 'S,1'",
      ),
      'UNO',
      'the registry is kept in step all the same',
    );
    t.equal(
      await stage.value('select count(*) from bellwire.tracked_tables where type = $1', ['berth']),
      1,
    );
  });

  await t.test('a title is bounded, a row may come back', async (t) => {
    await app(member, "update yard.docks set name = repeat('x', 999) where code = 'S'");
    t.equal(
      await stage.value(
        "select length(title) from bellwire.resources where type = 'dock' and ref = 'S'",
      ),
      255,
    );
    await app(member, "delete from yard.docks where code = 'S'");
    await app(member, "insert into yard.docks values ('S', 'Again', $1)", [stage.workspaceId]);
    t.match(
      await stage.look(
        "select title, deleted_at from bellwire.resources where type = 'dock' and ref = 'S'",
      ),
      [{ title: 'Again', deleted_at: null }],
    );
  });

  await t.test('untrack removes what track() made and keeps what was recorded', async (t) => {
    const count = await stage.value('select count(*) from bellwire.activity_log');
    await dba("select bellwire.untrack('yard.berths')");
    t.strictSame(
      await stage.recorded(() => app(member, "insert into yard.berths values ('S', 9, 'Nine')")),
      [],
    );
    t.strictSame(
      await stage.look(
        "select tgname from pg_trigger where tgrelid = 'yard.berths'::regclass and tgname like 'bellwire%'",
      ),
      [],
    );
    t.strictSame(
      await stage.look(
        "select proname from pg_proc where pronamespace = 'bellwire_tracked'::regnamespace and proname like 'berth%'",
      ),
      [],
    );
    t.equal(await stage.value('select count(*) from bellwire.activity_log'), count);
    await t.rejects(
      dba("select bellwire.untrack('yard.berths')"),
      { code: 'P0002', hint: /tracked_tables/ },
      'twice is once too often',
    );
    t.ok(
      await stage.value("select count(*) from pg_trigger where tgrelid = 'yard.docks'::regclass"),
      'another table is left alone',
    );
  });
});
