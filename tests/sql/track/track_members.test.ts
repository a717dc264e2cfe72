import t from 'tap';
import { createStage, refused } from '../fixtures.ts';
import { createNeighbour } from './dba.ts';

t.test("memberships follow an application's own table", async (t) => {
  const stage = await createStage(t);
  const { dba, app } = await createNeighbour(t, stage, 'yard');
  const { member, colleague, guest, stranger } = stage.people;
  await dba('create table yard.docks (code text primary key, workspace_id bigint)');
  await dba('create table yard.berths (id bigint primary key, dock text)');
  await dba(
    `create table yard.dock_crew (dock text, person bigint, is_lead boolean not null default false,
       primary key (dock, person))`,
  );
  await dba(
    "select bellwire.track('yard.docks', 'dock', workspace => 'workspace_id', is_scope => true)",
  );
  await dba("select bellwire.track('yard.berths', 'berth', parent => 'dock:dock')");
  await app(null, "insert into yard.docks values ('N', $1), ('S', $1)", [stage.workspaceId]);
  await app(null, "insert into yard.dock_crew values ('N', $1, true)", [member]);
  await app(null, "insert into yard.berths values (1, 'N'), (2, 'S')");

  const members = () =>
    stage.look(
      `select scope.ref, membership.user_id, membership.role from bellwire.memberships as membership
       join bellwire.resources as scope on scope.id = membership.scope_id
       where scope.type = 'dock' order by scope.ref, membership.user_id`,
    );
  const reads = async (person: number, berth: number) =>
    (
      await stage.by(person, "select from bellwire.resources where type = 'berth' and ref = $1", [
        String(berth),
      ])
    ).length === 1;

  await dba(
    `select bellwire.track_members('yard.dock_crew', scope => 'dock:dock', member => 'person',
       role => 'case when is_lead then ''lead'' else ''member'' end')`,
  );
  t.strictSame(
    await members(),
    [{ ref: 'N', user_id: member, role: 'lead' }],
    'rows that are there',
  );
  t.equal(await reads(member, 1), true);
  t.equal(await reads(member, 2), false, 'not the other dock');
  t.equal(await reads(colleague, 1), false);

  await app(null, "insert into yard.dock_crew values ('S', $1), ('N', $2)", [member, colleague]);
  t.equal(await reads(colleague, 1), true, 'an insert');
  t.equal(await reads(member, 2), true);

  await app(null, 'update yard.dock_crew set is_lead = true where person = $1', [colleague]);
  t.match(
    await members(),
    [{}, { ref: 'N', user_id: colleague, role: 'lead' }, {}],
    'another role',
  );

  await app(null, 'update yard.dock_crew set person = $2 where person = $1', [colleague, guest]);
  t.equal(await reads(colleague, 1), false, 'an update of the key');
  t.equal(await reads(guest, 1), true);

  await app(
    null,
    `insert into yard.dock_crew values ('N', $1, false)
     on conflict (dock, person) do update set is_lead = excluded.is_lead`,
    [guest],
  );
  t.match(
    (await members()).find((row) => row.user_id === guest),
    { role: 'member' },
    'an upsert',
  );

  await app(null, 'delete from yard.dock_crew where person = $1', [member]);
  t.equal(await reads(member, 1), false, 'a delete');
  t.equal(await reads(member, 2), false);
  t.equal(await reads(stranger, 1), false);

  await dba("select bellwire.untrack('yard.dock_crew')");
  await app(null, "insert into yard.dock_crew values ('N', $1)", [colleague]);
  t.equal(await reads(colleague, 1), false, 'no longer followed');
});

t.test('track_members refuses what it cannot do', async (t) => {
  const stage = await createStage(t);
  const { dba } = await createNeighbour(t, stage, 'yard');
  await dba(
    'create table yard.crew (dock text, person bigint, role text, primary key (dock, person))',
  );
  const track = (scope: string, member: string) =>
    dba('select bellwire.track_members($1, $2, $3, $4)', ['yard.crew', scope, member, 'role']);
  await refused(t, track('nonsense', 'person'), { code: '22023', hint: /\S/ }, 'no scope');
  await refused(t, track('dock:dock', 'person'), { code: '22023', hint: /first/ }, 'not tracked');
  await refused(t, track('squad:dock', 'nobody'), { code: '42703' }, 'no such column');
  await refused(
    t,
    dba("select bellwire.track_members('yard.crew', null, 'person')"),
    { code: '22023', hint: /scope|:/ },
    'null',
  );
  t.strictSame(
    await stage.look("select from pg_trigger where tgrelid = 'yard.crew'::regclass"),
    [],
  );
});
