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

t.test('what a row cannot give is a rule failure, not the application’s', async (t) => {
  const stage = await createStage(t);
  const { dba, app } = await createNeighbour(t, stage, 'yard');
  const { outsider, member } = stage.people;
  await dba(
    'create table yard.crew (squad bigint, person bigint, role text, seen_at timestamptz, primary key (squad, person, role))',
  );
  await dba(
    "select bellwire.track_members('yard.crew', scope => 'squad:squad', member => 'person', role => 'role')",
  );
  const role = async (person: number) =>
    (
      await stage.look(
        `select role from bellwire.memberships where user_id = $1
           and scope_id = (select id from bellwire.resources where type = 'squad' and ref = $2)`,
        [person, String(stage.squadId)],
      )
    )[0]?.role;

  await app(
    null,
    `insert into yard.crew values ($1, $2, 'captain'), ($1, 4711, 'member'), ($1, $3, 'guest'), ($1, $3, 'lead')`,
    [stage.squadId, member, outsider],
  );
  t.equal(await role(outsider), 'lead', 'the others are let in; of two roles the stronger counts');
  t.equal(await role(member), 'member', 'nobody gets a role that there is not');
  t.match(
    await stage.look('select rule, sqlstate, subject_ids, message from bellwire.rule_failures'),
    [
      {
        rule: 'track_members squad',
        sqlstate: '22023',
        subject_ids: [member, 4711],
        message: /as captain of/,
      },
    ],
  );

  await app(null, "delete from yard.crew where role = 'guest'");
  await app(null, "insert into yard.crew values ($1, $2, 'guest')", [stage.squadId, outsider]);
  await stage.look('delete from bellwire.rule_failures');
  const before = await stage.value(
    'select xmin::text from bellwire.memberships where user_id = $1 and role = $2',
    [outsider, 'guest'],
  );
  await app(null, 'update yard.crew set seen_at = now()');
  t.equal(
    await stage.value(
      'select xmin::text from bellwire.memberships where user_id = $1 and role = $2',
      [outsider, 'guest'],
    ),
    before,
    'an update of another column writes nothing',
  );
  await app(null, "update yard.crew set role = 'admiral' where person = $1 and role = 'guest'", [
    outsider,
  ]);
  t.equal(
    await role(outsider),
    'guest',
    'a change to an unknown role is noted and the former stays',
  );
  t.equal(await stage.value('select count(*) from bellwire.rule_failures'), 1);
});

t.test('a member who is written before the scope waits for it', async (t) => {
  const stage = await createStage(t);
  const { dba, app } = await createNeighbour(t, stage, 'yard');
  const { member, colleague, guest } = stage.people;
  await dba('create table yard.docks (code text primary key, workspace_id bigint)');
  await dba(
    'create table yard.crew (dock text, person bigint, role text, primary key (dock, person))',
  );
  await dba(
    "select bellwire.track('yard.docks', 'dock', workspace => 'workspace_id', is_scope => true)",
  );
  await dba(
    "select bellwire.track_members('yard.crew', scope => 'dock:dock', member => 'person', role => 'role')",
  );
  const members = () =>
    stage.look(
      `select membership.user_id, membership.role from bellwire.memberships as membership
       join bellwire.resources as scope on scope.id = membership.scope_id and scope.type = 'dock'
       order by membership.user_id`,
    );
  await app(
    null,
    "insert into yard.crew values ('N', $1, 'member'), ('N', $2, 'lead'), ('S', $3, 'member')",
    [member, colleague, guest],
  );
  await app(null, "update yard.crew set role = 'guest' where person = $1", [member]);
  await app(null, 'delete from yard.crew where person = $1', [colleague]);
  t.strictSame(await members(), []);
  await app(null, "insert into yard.docks values ('N', $1)", [stage.workspaceId]);
  t.strictSame(await members(), [{ user_id: member, role: 'guest' }], 'as the table says by then');
  t.strictSame(
    await stage.look('select scope_ref, user_id from bellwire.waiting_members'),
    [{ scope_ref: 'S', user_id: guest }],
    'for another scope the wait goes on',
  );
  await app(null, "update yard.docks set code = 'S' where code = 'N'");
  t.strictSame(
    await members(),
    [
      { user_id: member, role: 'guest' },
      { user_id: guest, role: 'member' },
    ],
    'also for a key that comes by update',
  );
  await app(null, "insert into yard.crew values ('S', $1, 'lead')", [colleague]);
  await dba('truncate yard.crew');
  t.strictSame(await members(), [], 'truncate ends them');
});

t.test('members of a partitioned table, and of one that two write', async (t) => {
  const stage = await createStage(t);
  const { dba, app } = await createNeighbour(t, stage, 'yard');
  const { outsider, stranger } = stage.people;
  await dba(
    `create table yard.crew (squad bigint, person bigint, year integer, primary key (squad, person, year)) partition by list (year);
     create table yard.crew_1 partition of yard.crew for values in (1);
     create table yard.crew_2 partition of yard.crew for values in (2)`,
  );
  await dba(
    "select bellwire.track_members('yard.crew', scope => 'squad:squad', member => 'person')",
  );
  const isIn = async (person: number) =>
    (await stage.value(
      `select count(*) from bellwire.memberships as membership
       join bellwire.resources as scope on scope.id = membership.scope_id and scope.type = 'squad' where user_id = $1`,
      [person],
    )) === 1;
  await app(null, 'insert into yard.crew values ($1, $2, 1)', [stage.squadId, outsider]);
  t.equal(await isIn(outsider), true);
  await app(null, 'insert into yard.crew_2 values ($1, $2, 2)', [stage.squadId, stranger]);
  t.equal(await isIn(stranger), true, 'directly into a partition');
  await app(null, 'update yard.crew set year = 2 where person = $1', [outsider]);
  t.equal(await isIn(outsider), true, 'moved');
  await app(null, 'delete from yard.crew_2 where person = $1', [outsider]);
  t.equal(await isIn(outsider), false);
  await dba('truncate yard.crew');
  t.equal(
    await isIn(stranger),
    true,
    'the squads have members of the suite, too: truncate takes nobody away',
  );
  t.match(await stage.look('select message from bellwire.rule_failures'), [
    { message: /still belong/ },
  ]);
});
