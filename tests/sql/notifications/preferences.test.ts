import t from 'tap';
import { createStage, refused, type Stage } from '../fixtures.ts';

const listed = async (stage: Stage, person: number) =>
  Object.fromEntries(
    (await stage.by(person, 'select * from api.list_notification_preferences()')).map((row) => [
      row.kind,
      [row.in_app, row.email],
    ]),
  );

const set = (stage: Stage, person: number, preferences: unknown) =>
  stage.by(person, 'select * from api.set_notification_preferences($1)', [
    JSON.stringify(preferences),
  ]);

const DEFAULTS = {
  mention: [true, true],
  comment_on_my_doc: [true, true],
  watched_comment: [true, true],
  watched_publish: [true, true],
  watched_log_update: [true, false],
  squad_invite: [true, true],
};

t.test('six kinds with the defaults of the reference', async (t) => {
  const stage = await createStage(t);
  t.strictSame(await listed(stage, stage.people.member), DEFAULTS);
});

t.test('known kinds only, coerced to boolean, the rest ignored', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  await set(stage, member, {
    mention: { email: false, sound: true },
    watched_publish: { in_app: 0, email: 'yes' },
    watched_comment: { in_app: '', email: null },
    comment_on_my_doc: 'off',
    squad_invite: {},
    unheard_of: { email: false },
    "'; drop table bellwire.users": { email: false },
  });
  t.strictSame(await listed(stage, member), {
    ...DEFAULTS,
    mention: [true, false],
    watched_publish: [false, true],
    watched_comment: [false, false],
  });
  await set(stage, member, { mention: { in_app: false } });
  t.match(await listed(stage, member), { mention: [false, false] }, 'what is not named stays');
  t.strictSame(await listed(stage, colleague), DEFAULTS, "nobody else's");
  for (const bad of [[], 'x', 1, null]) {
    await refused(
      t,
      set(stage, member, bad),
      { code: '22023' },
      `${JSON.stringify(bad)} is no object`,
    );
  }
  await refused(
    t,
    stage.byAnonymous("select api.set_notification_preferences('{}')"),
    { code: '42501' },
    'nobody has preferences',
  );
  await refused(
    t,
    stage.by(member, 'insert into bellwire.notification_preferences values ($1, $2, true, true)', [
      member,
      'mention',
    ]),
    { code: '42501' },
    'and nobody writes the table',
  );
});

t.test('what they do: bell, mail, both, neither', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague, guest, admin } = stage.people;
  const people = [owner, colleague, guest, admin];
  await stage.watch(owner, 'log', stage.documentId);
  for (const person of people) await stage.watch(person, 'log', stage.documentId);
  const kind = 'watched_publish';
  await set(stage, colleague, { [kind]: { email: false } });
  await set(stage, guest, { [kind]: { in_app: false } });
  await set(stage, admin, { [kind]: { in_app: false, email: false } });

  const told = await stage.told(() =>
    stage.by(member, 'select api.publish_document($1, $2)', [stage.documentId, 'v1']),
  );
  const mailed = await stage.look(
    `select notification.user_id from bellwire.email_outbox as outbox
     join bellwire.notifications as notification on notification.id = outbox.notification_id
     order by 1`,
  );
  t.match(
    told.map((row) => [row.user_id, row.is_hidden]),
    [
      [owner, false],
      [colleague, false],
      [guest, true],
    ],
    'neither: no row at all',
  );
  t.strictSame(mailed, [{ user_id: owner }, { user_id: guest }]);
  const inbox = 'select kind from api.list_notifications()';
  t.equal((await stage.by(colleague, inbox)).length, 1);
  t.equal((await stage.by(guest, inbox)).length, 0, 'by mail only: never in the bell');
  t.strictSame(await stage.by(guest, 'select api.unread_count() as count'), [{ count: 0 }]);

  await stage.ageNotifications(3600);
  await stage.look('delete from bellwire.email_outbox');
  await stage.save(member, stage.documentId, 'new');
  t.equal(
    await stage.value('select count(*) from bellwire.email_outbox'),
    0,
    'watched_log_update is not mailed by default',
  );
  await set(stage, owner, { watched_log_update: { email: true } });
  await stage.ageNotifications(3600);
  await stage.ageActivity(3600);
  await stage.save(member, stage.documentId, 'newer');
  t.equal(await stage.value('select count(*) from bellwire.email_outbox'), 1);
});

t.test('a count is not mailed again', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  await stage.comment(member, stage.documentId, 'one');
  await stage.comment(member, stage.documentId, 'two');
  t.equal(await stage.value('select count(*) from bellwire.email_outbox'), 1);
  t.equal(await stage.value('select coalesced_count from bellwire.notifications'), 1);
});
