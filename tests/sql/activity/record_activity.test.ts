import t from 'tap';
import { createStage, refused } from '../fixtures.ts';

t.test('an archive without a squad has no workspace and records nothing', async (t) => {
  const stage = await createStage(t);
  const archive = await stage.value<number>(
    "insert into suite.archives (squad_id, name) values (null, 'System') returning id",
  );
  const silent = await stage.recorded(async () => {
    await stage.look("insert into suite.logs (archive_id, title) values ($1, 'Session')", [
      archive,
    ]);
    await stage.look("update suite.logs set title = 'Renamed' where archive_id = $1", [archive]);
    await stage.look("update suite.archives set name = 'Other' where id = $1", [archive]);
    await stage.look('delete from suite.logs where archive_id = $1', [archive]);
  });
  t.strictSame(silent, []);
  t.equal(await stage.value('select count(*) from bellwire.rule_failures'), 0, 'and fails nothing');

  await stage.look('update suite.archives set squad_id = $2 where id = $1', [
    archive,
    stage.squadId,
  ]);
  const heard = await stage.recorded(() =>
    stage.look("insert into suite.logs (archive_id, title) values ($1, 'Session')", [archive]),
  );
  t.equal(heard[0]?.action, 'log.create', 'with a squad it has one and records');
});

t.test('a squad that is deleted leaves its archives without a workspace', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  await stage.by(owner, 'select api.delete_squad($1)', [stage.squadId]);
  const orphans = await stage.look(
    `select type, workspace_id, scope_id, ancestors from bellwire.resources
     where type = 'archive' and ref = $1`,
    [String(stage.archiveId)],
  );
  t.match(orphans, [{ workspace_id: null, scope_id: null }]);
  t.strictSame(
    await stage.by(member, 'select id from api.documents where id = $1', [stage.documentId]),
    [],
    'nobody reads its documents any more',
  );
  const silent = await stage.recorded(() =>
    stage.look("update suite.logs set html = 'x' where id = $1", [stage.documentId]),
  );
  t.strictSame(silent, []);
});

t.test('nothing is recorded where nothing changed', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const same = await stage.recorded(async () => {
    await stage.save(member, stage.documentId, '<p>Low at six</p>');
    await stage.by(member, 'select api.rename_document($1, $2)', [stage.documentId, 'Tides']);
    await stage.by(member, 'select api.move_document($1, null)', [stage.documentId]);
    await stage.by(member, 'update suite.logs set html = html, title = title where false');
  });
  t.strictSame(same, []);
  const changed = await stage.recorded(() => stage.save(member, stage.documentId, '<p>Seven</p>'));
  t.equal(changed.length, 1);
});

t.test('the actor is who the request is for', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const [system] = await stage.recorded(() =>
    stage.look("update suite.logs set html = 'system' where id = $1", [stage.documentId]),
  );
  t.equal(system?.actor_id, null, 'the system without claims');

  const [person] = await stage.recorded(() =>
    stage.save(member, stage.documentId, '<p>By a person</p>'),
  );
  t.equal(person?.actor_id, member);

  const client = await stage.database.admin.connect();
  t.teardown(() => client.release(true));
  await client.query('select bellwire.act_as($1)', [stage.people.colleague]);
  const [acted] = await stage.recorded(() =>
    client.query("update suite.logs set title = 'By hand' where id = $1", [stage.documentId]),
  );
  t.equal(acted?.actor_id, stage.people.colleague, 'an administrator acts as a person');
  await client.query('select bellwire.act_as(null)');
  const [again] = await stage.recorded(() =>
    client.query("update suite.logs set title = 'By nobody' where id = $1", [stage.documentId]),
  );
  t.equal(again?.actor_id, null, 'and as the system again');
  await refused(
    t,
    client.query('select bellwire.act_as(987654)'),
    { code: 'P0002', hint: /bellwire\.users/ },
    'not as somebody who is not there',
  );
});

t.test('the log is append-only for everyone', async (t) => {
  const stage = await createStage(t);
  const count = await stage.value<number>('select count(*) from bellwire.activity_log');
  t.ok(count > 0);
  const change = "update bellwire.activity_log set action = 'log.create'";
  const attempts: [string, () => Promise<unknown>][] = [
    ['a member', () => stage.by(stage.people.owner, change)],
    ['an administrator', () => stage.byAdministrator(change)],
    ['the worker', () => stage.byWorker(change)],
    ['the owner of the table', () => stage.byOwnerOfTables(change)],
    ['a superuser', () => stage.look(change)],
    ['a superuser, truncating', () => stage.look('truncate bellwire.activity_log')],
    ['a member, deleting', () => stage.by(stage.people.owner, 'delete from bellwire.activity_log')],
    [
      'an administrator, deleting',
      () => stage.byAdministrator('delete from bellwire.activity_log'),
    ],
    [
      'a member, inserting',
      () =>
        stage.by(
          stage.people.owner,
          `insert into bellwire.activity_log (workspace_id, scope_id, action, resource_id)
         select workspace_id, scope_id, 'log.create', id from bellwire.resources limit 1`,
        ),
    ],
  ];
  for (const [who, attempt] of attempts) await refused(t, attempt(), { code: '42501' }, who);
  await stage.byOwnerOfTables('delete from bellwire.activity_log');
  t.equal(
    await stage.value('select count(*) from bellwire.activity_log'),
    count,
    'row security leaves its owner nothing to delete',
  );
});

t.test('log_activity records what no table shows', async (t) => {
  const stage = await createStage(t);
  const entries = await stage.recorded(() =>
    stage.byAdministrator("select bellwire.log_activity('log.publish', 'log', $1, $2)", [
      String(stage.documentId),
      { title: 'Elsewhere' },
    ]),
  );
  t.match(entries, [{ action: 'log.publish', actor_id: null, metadata: { title: 'Elsewhere' } }]);
  await refused(
    t,
    stage.byAdministrator("select bellwire.log_activity('log.unheard', 'log', '1')"),
    { code: '22023', hint: /action_rules/ },
    'an unknown action',
  );
  await refused(
    t,
    stage.byAdministrator("select bellwire.log_activity('log.publish', 'log', '987654')"),
    { code: 'P0002', hint: /track/ },
    'an unknown resource',
  );
  await refused(
    t,
    stage.by(stage.people.owner, "select bellwire.log_activity('log.publish', 'log', '1')"),
    { code: '42501' },
    'a person may not',
  );
});
