import t from 'tap';
import { createStage } from '../fixtures.ts';
import { entry, explain, named, prefer, publish, verdict } from './explain.ts';

t.test('no access: deactivated, not in the workspace, not in the scope', async (t) => {
  const stage = await createStage(t);
  const { owner, admin, member, colleague, guest, outsider } = stage.people;
  for (const person of [admin, member, colleague, guest])
    await stage.watch(person, 'archive', stage.archiveId);
  await stage.look('update bellwire.users set deactivated_at = now() where id = $1', [member]);
  await stage.by(owner, 'select api.remove_workspace_member($1, $2)', [
    stage.workspaceId,
    colleague,
  ]);
  await stage.by(owner, 'select api.remove_squad_member($1, $2)', [stage.squadId, guest]);
  // A watch kept from better days.
  await stage.look(
    `insert into bellwire.watches (resource_id, user_id, source) values ($1, $2, 'manual')`,
    [await stage.resourceId('archive', stage.archiveId), outsider],
  );
  const id = await publish(stage, owner);
  for (const [person, says] of [
    [member, /^Not told\. Mats Member was deactivated on /],
    [colleague, /^Not told\. Cleo Colleague is not in the workspace “Harbour”\.$/],
    [guest, /^Not told\. Gina Guest is not in squad \d+ “Crew”\.$/],
    [outsider, /^Not told\. Otto Outsider is not in squad \d+ “Crew”\.$/],
  ] as const) {
    await verdict(t, stage, person, id, { told: false, says, against: ['access'] }, String(says));
  }
  await verdict(
    t,
    stage,
    admin,
    id,
    { told: true, says: /^Told/, against: [] },
    'an admin reads all scopes',
  );

  await stage.clearMail();
  await prefer(stage, admin, 'watched_publish', { in_app: false, email: false });
  const unwanted = await publish(stage, owner);
  await stage.by(owner, 'select api.add_squad_member($1, $2, $3)', [
    stage.squadId,
    admin,
    'member',
  ]);
  await verdict(
    t,
    stage,
    admin,
    unwanted,
    { told: false, says: /neither in the bell nor by e-mail/, against: ['preferences'] },
    'an admin who joins the squad later could read it before',
  );

  await stage.by(owner, 'select api.add_squad_member($1, $2, $3)', [
    stage.squadId,
    outsider,
    'member',
  ]);
  await verdict(
    t,
    stage,
    outsider,
    id,
    {
      told: false,
      says: /^Not told\. Otto Outsider joined on .*, after it had happened/,
      against: ['access'],
    },
    'a later member',
  );
});

t.test('access lost afterwards: told, and it does not show', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague } = stage.people;
  await stage.watch(colleague, 'archive', stage.archiveId);
  const id = await publish(stage, member);
  t.notMatch(named(await explain(stage, colleague, id), 'verdict')?.explanation, /does not show/);
  await stage.by(owner, 'select api.remove_squad_member($1, $2)', [stage.squadId, colleague]);
  await verdict(
    t,
    stage,
    colleague,
    id,
    { told: true, says: /^Told: .* It does not show any more/, against: ['access'] },
    'lost since',
  );
});

t.test('an invitation is told outside of its scope', async (t) => {
  const stage = await createStage(t);
  const { owner, outsider } = stage.people;
  const id = await entry(stage, 'squad.invite_create', () =>
    stage.by(owner, 'select api.invite_to_squad($1, $2)', [stage.squadId, outsider]),
  );
  const steps = await verdict(
    t,
    stage,
    outsider,
    id,
    { told: true, says: /\(squad_invite\)/, against: [] },
    'invited',
  );
  t.match(named(steps, 'access')?.explanation, /member of the workspace “Harbour”\.$/);
});

t.test('preferences: off, by e-mail only, and the default', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague, guest } = stage.people;
  for (const person of [member, colleague, guest])
    await stage.watch(person, 'log', stage.documentId);
  await prefer(stage, member, 'watched_publish', { in_app: false, email: false });
  await prefer(stage, colleague, 'watched_publish', { in_app: false });
  await prefer(stage, guest, 'watched_publish', { email: false });
  const id = await publish(stage, owner);
  await verdict(
    t,
    stage,
    member,
    id,
    {
      told: false,
      says: /^Not told\. Mats Member wants watched_publish neither in the bell nor by e-mail\.$/,
      against: ['preferences'],
    },
    'off',
  );
  const mailOnly = await verdict(
    t,
    stage,
    colleague,
    id,
    { told: true, says: /, not in the bell\. E-mail \d+: pending\.$/, against: [] },
    'by e-mail only',
  );
  t.match(named(mailOnly, 'preferences')?.explanation, /by e-mail only/);
  await verdict(
    t,
    stage,
    guest,
    id,
    { told: true, says: /unread\. Not wanted by e-mail\.$/, against: [] },
    'bell only',
  );
});

t.test(
  'the window: counted up in an earlier one; neighbours: another kind, and later',
  async (t) => {
    const stage = await createStage(t);
    const { owner, member } = stage.people;
    const first = await publish(stage, member);
    const second = await publish(stage, member);
    const told = await stage.value<number>(
      'select id from bellwire.notifications where user_id = $1 and activity_id = $2',
      [owner, first],
    );
    await verdict(
      t,
      stage,
      owner,
      second,
      {
        told: false,
        says: new RegExp(
          `^Not told\\. Counted up in notification ${told} of .* within 60 seconds\\.$`,
        ),
        against: ['window'],
      },
      'the second',
    );
    await verdict(
      t,
      stage,
      owner,
      first,
      { told: true, says: /counted up 1 times since/, against: [] },
      'the first',
    );
    const other = await entry(stage, 'comment.create', () =>
      stage.comment(member, stage.documentId, 'x'),
    );
    await verdict(
      t,
      stage,
      owner,
      other,
      { told: true, says: /comment_on_my_doc/, against: [] },
      'another kind',
    );
    await prefer(stage, owner, 'comment_on_my_doc', { in_app: false, email: false });
    await stage.clearMail();
    await publish(stage, member);
    const unwanted = await entry(stage, 'comment.create', () =>
      stage.comment(member, stage.documentId, 'y'),
    );
    await verdict(
      t,
      stage,
      owner,
      unwanted,
      { told: false, says: /neither in the bell nor by e-mail/, against: ['preferences'] },
      'a row of another kind is not a window',
    );
    await stage.ageNotifications(61);
    const third = await publish(stage, member);
    await verdict(
      t,
      stage,
      owner,
      third,
      { told: true, says: /^Told/, against: [] },
      'after the window',
    );
  },
);

t.test('the queue: it waits for the worker; neighbour: it has been told', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague } = stage.people;
  await stage.watch(colleague, 'log', stage.documentId);
  await stage.set('sync_fanout_limit', 1);
  const id = await publish(stage, member);
  await verdict(
    t,
    stage,
    owner,
    id,
    {
      told: false,
      says: /^Not told\. It waits for the worker: fan_out_queue \d+, since /,
      against: ['queue'],
    },
    'queued',
  );
  await verdict(
    t,
    stage,
    member,
    id,
    { told: false, says: /^Not told\. Mats Member did it/, against: ['actor', 'reason', 'queue'] },
    'who will not be told is not waiting',
  );
  await stage.byWorker('select bellwire.drain_fan_out(10)');
  await verdict(t, stage, owner, id, { told: true, says: /^Told/, against: [] }, 'drained');
});

t.test('telling failed; neighbour: the next one did not', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  await stage.look(
    'alter table bellwire.notifications add constraint broken check (false) not valid',
  );
  const id = await publish(stage, member);
  await verdict(
    t,
    stage,
    owner,
    id,
    {
      told: false,
      says: /^Not told\. Telling failed \(fan_out\): 23514, .*See rule_failures \d+\.$/,
      against: ['failure'],
    },
    'failed',
  );
  await stage.look('alter table bellwire.notifications drop constraint broken');
  const next = await publish(stage, member);
  await verdict(t, stage, owner, next, { told: true, says: /^Told/, against: [] }, 'the next');
});

t.test('what was told may be gone, and what it was about, too', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  const id = await publish(stage, member);
  t.notMatch(named(await explain(stage, owner, id), 'entry')?.explanation, /deleted/);
  await stage.by(member, 'select api.delete_document($1)', [stage.documentId]);
  const steps = await verdict(
    t,
    stage,
    owner,
    id,
    { told: true, says: /^Told/, against: [] },
    'deleted',
  );
  t.match(named(steps, 'entry')?.explanation, /“Tides” .* It was deleted on /);
  await stage.clearMail();
  await verdict(
    t,
    stage,
    owner,
    id,
    { told: false, says: /^Not told, and nothing stands against it now: .*retention/, against: [] },
    'pruned',
  );
});
