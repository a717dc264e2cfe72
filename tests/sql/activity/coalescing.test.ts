import t from 'tap';
import { createStage } from '../fixtures.ts';

const actions = (entries: { action: string }[]) => entries.map((entry) => entry.action);

t.test('log.update by one person on one document within five minutes is one entry', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  const id = stage.documentId;
  t.strictSame(actions(await stage.recorded(() => stage.save(member, id, 'one'))), ['log.update']);
  t.strictSame(
    actions(await stage.recorded(() => stage.save(member, id, 'two'))),
    [],
    'the second',
  );

  t.strictSame(
    actions(await stage.recorded(() => stage.save(colleague, id, 'three'))),
    ['log.update'],
    'somebody else in between',
  );
  t.strictSame(actions(await stage.recorded(() => stage.save(member, id, 'four'))), []);

  const other = await stage.createDocument(member, 'Other');
  t.strictSame(
    actions(await stage.recorded(() => stage.save(member, other, 'one'))),
    ['log.update'],
    'another document',
  );

  await stage.ageActivity(299);
  t.strictSame(actions(await stage.recorded(() => stage.save(member, id, 'five'))), [], 'at 4:59');
  await stage.ageActivity(2);
  t.strictSame(
    actions(await stage.recorded(() => stage.save(member, id, 'six'))),
    ['log.update'],
    'after five minutes',
  );
});

t.test('within one transaction, too', async (t) => {
  const stage = await createStage(t);
  const entries = await stage.recorded(() =>
    stage.database.asUser(stage.people.member, async (client) => {
      for (const html of ['one', 'two', 'three']) {
        await client.query('select api.save_document($1, $2)', [stage.documentId, html]);
      }
    }),
  );
  t.strictSame(actions(entries), ['log.update']);
});

t.test('the system has no window', async (t) => {
  const stage = await createStage(t);
  const entries = await stage.recorded(async () => {
    await stage.look("update suite.logs set html = 'one' where id = $1", [stage.documentId]);
    await stage.look("update suite.logs set html = 'two' where id = $1", [stage.documentId]);
  });
  t.strictSame(actions(entries), ['log.update', 'log.update']);
});

t.test('no other action is coalesced', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const entries = await stage.recorded(async () => {
    for (const title of ['One', 'Two']) {
      await stage.by(member, 'select api.rename_document($1, $2)', [stage.documentId, title]);
      await stage.by(member, 'select api.publish_document($1, $2)', [stage.documentId, title]);
      await stage.comment(member, stage.documentId, title);
    }
  });
  t.strictSame(actions(entries), [
    'log.rename',
    'log.publish',
    'comment.create',
    'log.rename',
    'log.publish',
    'comment.create',
  ]);
});

t.test('a rename and a move in the same statement as a coalesced save stay', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const parent = await stage.createDocument(member, 'Parent');
  const change =
    'update suite.logs set html = $2, title = $3, parent_id = $4 where id = $1 returning id';
  const first = await stage.recorded(() =>
    stage.by(member, change, [stage.documentId, 'one', 'A', parent]),
  );
  t.strictSame(actions(first).sort(), ['log.move', 'log.rename', 'log.update']);
  const second = await stage.recorded(() =>
    stage.by(member, change, [stage.documentId, 'two', 'B', null]),
  );
  t.strictSame(actions(second).sort(), ['log.move', 'log.rename']);
});

t.test('a coalesced save emits nothing, watches nothing, tells no watcher', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  await stage.byAdministrator(
    "select bellwire.create_webhook_subscription('https://receiver.example/hook')",
  );
  await stage.watch(colleague, 'log', stage.documentId);
  await stage.watch(stage.people.owner, 'log', stage.documentId, 'ignored');
  const events = () => stage.value<number>('select count(*) from bellwire.webhook_events');

  const first = await stage.told(() => stage.save(member, stage.documentId, 'one'));
  t.match(first, [{ user_id: colleague, kind: 'watched_log_update' }]);
  t.equal(first.length, 1);
  t.equal(await events(), 1);
  t.match(await stage.watchState(member, 'log', stage.documentId), { source: 'auto_edit' });

  await stage.by(member, 'select api.unwatch($1, $2)', ['log', String(stage.documentId)]);
  await stage.ageNotifications(3600);
  const second = await stage.told(() => stage.save(member, stage.documentId, 'two'));
  t.strictSame(second, [], 'nobody is told');
  t.equal(await events(), 1, 'no event');
  t.match(
    await stage.watchState(member, 'log', stage.documentId),
    { watching: false, source: null },
    'no watch: unwatching holds until the next edit that counts',
  );

  await stage.ageActivity(301);
  await stage.save(member, stage.documentId, 'three');
  t.equal(await events(), 2);
  t.match(await stage.watchState(member, 'log', stage.documentId), { source: 'auto_edit' });
});

t.test('a coalesced save still mentions, and only mentions', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague, guest } = stage.people;
  await stage.watch(guest, 'log', stage.documentId);
  await stage.save(member, stage.documentId, 'one');
  await stage.clearMail();
  const told = await stage.told(() =>
    stage.save(
      member,
      stage.documentId,
      `two <span data-type="mention" data-id="${colleague}">@Cleo</span>`,
    ),
  );
  t.match(told, [{ user_id: colleague, kind: 'mention' }]);
  t.equal(told.length, 1, `neither the watching guest ${guest} nor the owner ${owner}`);
});
