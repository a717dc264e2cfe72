import t from 'tap';
import { createStage, refused } from '../fixtures.ts';

t.test('watch, mute, look, list and stop', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  const ref = String(stage.documentId);
  t.strictSame(
    await stage.watchState(member, 'log', stage.documentId),
    { watching: false, source: null, level: null },
    'not watched to begin with',
  );
  t.strictSame(await stage.watch(member, 'log', stage.documentId), [
    { watching: true, source: 'manual', level: 'watching' },
  ]);
  t.strictSame(
    await stage.watch(member, 'log', stage.documentId),
    [{ watching: true, source: 'manual', level: 'watching' }],
    'twice is once',
  );
  t.strictSame(await stage.watch(member, 'log', stage.documentId, 'ignored'), [
    { watching: false, source: 'manual', level: 'ignored' },
  ]);
  t.strictSame(await stage.watchState(member, 'log', stage.documentId), {
    watching: false,
    source: 'manual',
    level: 'ignored',
  });
  await stage.watch(member, 'archive', stage.archiveId);
  t.strictSame(
    await stage.by(
      member,
      'select resource_type, resource_id, resource_name, source, level from api.watches order by 1',
    ),
    [
      {
        resource_type: 'archive',
        resource_id: String(stage.archiveId),
        resource_name: 'Notes',
        source: 'manual',
        level: 'watching',
      },
      {
        resource_type: 'log',
        resource_id: ref,
        resource_name: 'Tides',
        source: 'manual',
        level: 'ignored',
      },
    ],
    'with names',
  );
  t.strictSame(await stage.by(colleague, 'select from api.watches'), [], "nobody else's");
  t.match(await stage.watchState(colleague, 'log', stage.documentId), { watching: false });

  await stage.by(member, 'select api.unwatch($1, $2)', ['log', ref]);
  await stage.by(member, 'select api.unwatch($1, $2)', ['log', ref]);
  t.match(await stage.watchState(member, 'log', stage.documentId), { source: null, level: null });
  t.equal((await stage.by(member, 'select from api.watches')).length, 1);
});

t.test('the name is the present one, what is gone is not listed', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  await stage.watch(member, 'log', stage.documentId);
  await stage.by(owner, 'select api.rename_document($1, $2)', [stage.documentId, 'Currents']);
  const names = 'select resource_name from api.watches';
  t.strictSame(await stage.by(member, names), [{ resource_name: 'Currents' }]);
  await stage.by(owner, 'select api.delete_document($1)', [stage.documentId]);
  t.strictSame(await stage.by(member, names), []);
  await refused(t, stage.watch(member, 'log', stage.documentId), { code: 'P0002' }, 'nor watched');
});

t.test('only what one can read is watched', async (t) => {
  const stage = await createStage(t);
  const { guest, admin, outsider, stranger, member } = stage.people;
  const watch = (person: number) => stage.watch(person, 'log', stage.documentId);
  t.match(await watch(guest), [{ watching: true }], 'a guest of the squad');
  t.match(await watch(admin), [{ watching: true }], 'an admin of the workspace');
  await refused(t, watch(outsider), { code: 'P0002' }, 'a member of the workspace only');
  await refused(t, watch(stranger), { code: 'P0002' }, 'a stranger');
  await refused(
    t,
    stage.watch(stranger, 'log', stage.documentId, 'ignored'),
    { code: 'P0002' },
    'a mute tells as much as a watch',
  );
  await refused(
    t,
    stage.byAnonymous("select api.watch('log', '1')"),
    { code: '42501' },
    'nobody at all',
  );
  await stage.look('update bellwire.users set deactivated_at = now() where id = $1', [member]);
  await refused(t, watch(member), { code: 'P0002' }, 'a deactivated member');
  t.equal(
    await stage.value('select count(*) from bellwire.watches where user_id = any ($1)', [
      [outsider, stranger, member],
    ]),
    0,
  );
});

t.test('a watch may be ended without access, and is not shown without it', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  await stage.watch(member, 'log', stage.documentId);
  await stage.by(owner, 'select api.remove_squad_member($1, $2)', [stage.squadId, member]);
  t.strictSame(await stage.by(member, 'select from api.watches'), [], 'not listed');
  await stage.by(member, 'select api.unwatch($1, $2)', ['log', String(stage.documentId)]);
  t.equal(
    await stage.value('select count(*) from bellwire.watches where user_id = $1', [member]),
    0,
  );
});

t.test('what cannot be watched', async (t) => {
  const stage = await createStage(t);
  const { owner } = stage.people;
  const call = 'select * from api.watch($1, $2, $3)';
  const bad = { code: '22023' };
  for (const type of ['squad', 'workspace', 'comment', 'version', 'nonsense', '', null]) {
    await refused(
      t,
      stage.by(owner, call, [type, '1', 'watching']),
      { ...bad, hint: /is_watchable/ },
      `a ${type}`,
    );
  }
  for (const level of ['loud', '', null, 'IGNORED']) {
    await refused(t, stage.by(owner, call, ['log', '1', level]), bad, `level ${level}`);
  }
  for (const ref of ['987654', '', "1' or true --", null, '1 ']) {
    await refused(
      t,
      stage.by(owner, call, ['log', ref, 'watching']),
      { code: 'P0002' },
      `document ${ref}`,
    );
  }
});

t.test('nobody writes the table', async (t) => {
  const stage = await createStage(t);
  const { member, owner } = stage.people;
  const id = await stage.resourceId('log', stage.documentId);
  for (const sql of [
    `insert into bellwire.watches (resource_id, user_id, source) values (${id}, ${member}, 'manual')`,
    `update bellwire.watches set level = 'ignored'`,
    'delete from bellwire.watches',
  ]) {
    await refused(t, stage.by(member, sql), { code: '42501' }, sql);
  }
  t.strictSame(
    await stage.by(member, 'select from bellwire.watches where user_id = $1', [owner]),
    [],
    "and nobody reads another's",
  );
});
