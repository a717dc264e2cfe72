import t from 'tap';
import { createStage, type Told } from '../fixtures.ts';

const span = (id: number) => `<span data-type="mention" data-id="${id}">@x</span>`;

const mentioned = (told: Told[]) =>
  told.filter((row) => row.kind === 'mention').map((row) => row.user_id);

t.test('in a document: new ones only, readers only, never the author', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague, guest, admin, outsider, stranger } = stage.people;
  const everybody = [owner, member, colleague, guest, admin, outsider, stranger, 987654]
    .map(span)
    .join('');
  let id = 0;
  t.strictSame(
    mentioned(
      await stage.told(async () => {
        id = await stage.createDocument(member, 'New', `${everybody}${span(owner)}`);
      }),
    ),
    [owner, admin, colleague, guest],
    'on creation; not the member who writes, nor who cannot read it',
  );
  await stage.clearMail();
  t.strictSame(
    mentioned(await stage.told(() => stage.save(member, id, `<p>More</p>${everybody}`))),
    [],
    'nobody is newly mentioned',
  );
  t.strictSame(
    mentioned(await stage.told(() => stage.save(owner, id, `${everybody.repeat(2)}`))),
    [],
  );
  await stage.save(member, id, 'nobody');
  t.strictSame(
    mentioned(await stage.told(() => stage.save(member, id, span(guest)))),
    [guest],
    'mentioned again after having been taken out',
  );
});

t.test('the notification says who, where and links there', async (t) => {
  const stage = await createStage(t);
  const { member, guest } = stage.people;
  const told = await stage.told(() => stage.save(member, stage.documentId, span(guest)));
  t.match(
    told.filter((row) => row.kind === 'mention'),
    [
      {
        user_id: guest,
        title: 'Mats Member mentioned you in “Tides”',
        link_path: `/documents/${stage.documentId}`,
      },
    ],
  );
});

t.test('in a comment, its reply and its edit', async (t) => {
  const stage = await createStage(t);
  const { member, guest, colleague, admin } = stage.people;
  let comment = 0;
  const told = await stage.told(async () => {
    comment = await stage.comment(member, stage.documentId, `Ask ${span(guest)} & co`);
  });
  t.match(
    told.filter((row) => row.user_id === guest),
    [
      {
        kind: 'mention',
        title: 'Mats Member mentioned you in “Tides”',
        body: 'Ask @x & co',
        link_path: `/documents/${stage.documentId}#comment-${comment}`,
      },
    ],
  );
  t.strictSame(
    mentioned(
      await stage.told(() => stage.comment(member, stage.documentId, span(colleague), comment)),
    ),
    [colleague],
  );
  const edited = await stage.told(() =>
    stage.by(member, 'select api.edit_comment($1, $2)', [comment, span(guest) + span(admin)]),
  );
  t.match(edited, [{ user_id: admin, kind: 'mention' }], 'only who is new, and no watcher');
  t.equal(edited.length, 1);
});

t.test('a rename mentions nobody, a restore whom the text now mentions', async (t) => {
  const stage = await createStage(t);
  const { owner, member, guest } = stage.people;
  await stage.save(member, stage.documentId, span(guest));
  const [version] = await stage.by(member, 'select id from api.publish_document($1, $2)', [
    stage.documentId,
    'v1',
  ]);
  await stage.clearMail();
  t.strictSame(
    mentioned(
      await stage.told(() =>
        stage.by(owner, 'select api.rename_document($1, $2)', [stage.documentId, span(guest)]),
      ),
    ),
    [],
  );
  await stage.save(member, stage.documentId, 'nobody');
  t.strictSame(
    mentioned(
      await stage.told(() =>
        stage.by(owner, 'select api.restore_document($1, $2)', [stage.documentId, version?.id]),
      ),
    ),
    [guest],
  );
});

t.test('a mention needs no watch and makes none', async (t) => {
  const stage = await createStage(t);
  const { member, guest } = stage.people;
  await stage.save(member, stage.documentId, span(guest));
  t.match(await stage.watchState(guest, 'log', stage.documentId), { watching: false });
});

t.test(
  'a save that is merged into the one before still mentions, and does nothing else',
  async (t) => {
    const stage = await createStage(t);
    const { owner, member, guest } = stage.people;
    await stage.watch(owner, 'log', stage.documentId);
    await stage.save(member, stage.documentId, 'a first save');
    await stage.clearMail();
    let told: Told[] = [];
    const recorded = await stage.recorded(async () => {
      told = await stage.told(() => stage.save(member, stage.documentId, span(guest)));
    });
    t.strictSame(recorded, [], 'no entry of its own');
    t.match(told, [{ user_id: guest, kind: 'mention' }]);
    t.equal(told.length, 1, 'the watcher heard of the save before');
  },
);

t.test('in a comment: readers only, never the author, each once and no second way', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague, guest, outsider, stranger } = stage.people;
  await stage.watch(colleague, 'log', stage.documentId);
  const everybody = [owner, member, colleague, guest, guest, outsider, stranger].map(span).join('');
  const told = await stage.told(() => stage.comment(member, stage.documentId, everybody));
  t.strictSame(
    told.map((row) => [row.user_id, row.kind]),
    [
      [owner, 'mention'],
      [colleague, 'mention'],
      [guest, 'mention'],
    ],
    'mention before owner and watcher',
  );
});

t.test('the deactivated, the muted and who wants no mentions are left out', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague, guest, admin } = stage.people;
  await stage.look('update bellwire.users set deactivated_at = now() where id = $1', [colleague]);
  await stage.watch(guest, 'log', stage.documentId, 'ignored');
  await stage.by(
    admin,
    'select api.set_notification_preferences(\'{"mention": {"in_app": 0, "email": 0}}\')',
  );
  const everybody = [colleague, guest, admin, owner].map(span).join('');
  t.strictSame(mentioned(await stage.told(() => stage.save(member, stage.documentId, everybody))), [
    owner,
  ]);
});

t.test('an example is no mention, in a document and in a comment', async (t) => {
  const stage = await createStage(t);
  const { member, guest, colleague } = stage.people;
  const text = `<pre>${span(guest)}</pre>${span(colleague)}`;
  t.strictSame(mentioned(await stage.told(() => stage.save(member, stage.documentId, text))), [
    colleague,
  ]);
  await stage.clearMail();
  t.strictSame(mentioned(await stage.told(() => stage.comment(member, stage.documentId, text))), [
    colleague,
  ]);
});
