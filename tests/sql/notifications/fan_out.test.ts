import t from 'tap';
import { createStage, type Stage, type Told } from '../fixtures.ts';

const pairs = (told: Told[]) => told.map((row) => [row.user_id, row.kind]);

const mention = (person: number) => `<span data-type="mention" data-id="${person}">@</span>`;

t.test('five actions tell the watchers, each by its kind', async (t) => {
  const stage = await createStage(t);
  const { member, guest } = stage.people;
  const id = stage.documentId;
  await stage.watch(stage.people.owner, 'log', id, 'ignored');
  await stage.watch(guest, 'log', id);
  const told = async (change: () => Promise<unknown>) => {
    await stage.ageNotifications(3600);
    return stage.told(change);
  };

  t.match(await told(() => stage.save(member, id, 'new')), [
    {
      user_id: guest,
      kind: 'watched_log_update',
      title: 'Mats Member updated “Tides”',
      body: null,
      link_path: `/documents/${id}`,
      scope_id: await stage.resourceId('squad', stage.squadId),
    },
  ]);
  let version: unknown;
  const published = await told(async () => {
    [version] = await stage.by(member, 'select id from api.publish_document($1, $2)', [id, 'v1']);
  });
  t.match(published, [{ kind: 'watched_publish', title: 'Mats Member published “Tides”' }]);
  await stage.save(member, id, 'newer');
  t.match(
    await told(() =>
      stage.by(member, 'select api.restore_document($1, $2)', [id, (version as { id: number }).id]),
    ),
    [{ kind: 'watched_publish', title: 'Mats Member restored “Tides”' }],
  );
  let comment = 0;
  const commented = await told(async () => {
    comment = await stage.comment(member, id, '<p>Is it <b>so</b>?</p>');
  });
  t.match(commented, [
    {
      kind: 'watched_comment',
      title: 'Mats Member commented on “Tides”',
      body: 'Is it so?',
      link_path: `/documents/${id}#comment-${comment}`,
    },
  ]);
  t.match(await told(() => stage.comment(member, id, 'Yes', comment)), [
    { kind: 'watched_comment', title: 'Mats Member replied on “Tides”' },
  ]);

  for (const [what, sql, value] of [
    ['a rename', 'select api.rename_document($1, $2)', 'Currents'],
    ['a move', 'select api.move_document($1, $2)', await stage.createDocument(member, 'P')],
  ] as const) {
    t.strictSame(await told(() => stage.by(member, sql, [id, value])), [], what);
  }
  t.strictSame(await told(() => stage.by(member, 'select api.delete_comment($1)', [comment])), []);
  t.strictSame(await told(() => stage.by(member, 'select api.delete_document($1)', [id])), []);
});

t.test('one event, one notification: mention before owner before watcher', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague, guest } = stage.people;
  for (const person of [owner, colleague, guest])
    await stage.watch(person, 'log', stage.documentId);
  const told = (body: string) => stage.told(() => stage.comment(member, stage.documentId, body));

  t.strictSame(pairs(await told('plain')), [
    [owner, 'comment_on_my_doc'],
    [colleague, 'watched_comment'],
    [guest, 'watched_comment'],
  ]);
  await stage.clearMail();
  t.strictSame(pairs(await told(`${mention(owner)} ${mention(colleague)} ${mention(owner)}`)), [
    [owner, 'mention'],
    [colleague, 'mention'],
    [guest, 'watched_comment'],
  ]);
});

t.test('the owner is told without watching, and not of their own comment', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  await stage.by(owner, 'select api.unwatch($1, $2)', ['log', String(stage.documentId)]);
  t.match(await stage.told(() => stage.comment(member, stage.documentId, 'x')), [
    { user_id: owner, kind: 'comment_on_my_doc' },
  ]);
  await stage.clearMail();
  await stage.by(member, 'select api.unwatch($1, $2)', ['log', String(stage.documentId)]);
  t.strictSame(await stage.told(() => stage.comment(owner, stage.documentId, 'x')), []);
});

t.test('a watch on the archive covers its documents, the nearest word counts', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague, guest, admin } = stage.people;
  await stage.watch(owner, 'log', stage.documentId, 'ignored');
  await stage.watch(colleague, 'archive', stage.archiveId);
  await stage.watch(guest, 'archive', stage.archiveId);
  await stage.watch(guest, 'log', stage.documentId, 'ignored');
  await stage.watch(admin, 'archive', stage.archiveId, 'ignored');
  await stage.watch(admin, 'log', stage.documentId);
  t.strictSame(
    pairs(await stage.told(() => stage.save(member, stage.documentId, 'new'))),
    [
      [admin, 'watched_log_update'],
      [colleague, 'watched_log_update'],
    ],
    'muted archive, watched document: told; watched archive, muted document: not; both once',
  );
  const other = await stage.createDocument(member, 'Other');
  const [elsewhere] = await stage.by(owner, 'select id from api.create_archive($1, $2)', [
    stage.squadId,
    'Elsewhere',
  ]);
  t.strictSame(
    pairs(await stage.told(() => stage.save(owner, other, 'new'))),
    [
      [member, 'watched_log_update'],
      [colleague, 'watched_log_update'],
      [guest, 'watched_log_update'],
    ],
    'another document of the archive',
  );
  const [foreign] = await stage.by(member, 'select id from api.create_document($1, $2)', [
    elsewhere?.id,
    'Foreign',
  ]);
  t.strictSame(
    pairs(await stage.told(() => stage.save(owner, foreign?.id as number, 'new'))),
    [[member, 'watched_log_update']],
    'not of another archive',
  );
});

t.test('ignored is a mute: as watcher, as owner, as mentioned', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague } = stage.people;
  await stage.watch(owner, 'log', stage.documentId, 'ignored');
  await stage.watch(colleague, 'archive', stage.archiveId, 'ignored');
  t.strictSame(
    await stage.told(() =>
      stage.comment(member, stage.documentId, `${mention(owner)}${mention(colleague)}`),
    ),
    [],
  );
});

async function withoutAccess(stage: Stage, what: string, take: () => Promise<unknown>) {
  const { member, colleague } = stage.people;
  await stage.watch(colleague, 'log', stage.documentId);
  await stage.watch(stage.people.owner, 'log', stage.documentId, 'ignored');
  const body = mention(colleague);
  const before = await stage.told(() => stage.comment(member, stage.documentId, body));
  t.match(before, [{ user_id: colleague, kind: 'mention' }], `${what}: before`);
  await take();
  await stage.ageNotifications(3600);
  t.strictSame(
    await stage.told(() => stage.comment(member, stage.documentId, `${body} again`)),
    [],
    `${what}: after`,
  );
  t.equal((await stage.by(colleague, 'select from api.list_notifications()')).length, 0, what);
  t.strictSame(
    await stage.by(colleague, 'select api.unread_count() as count'),
    [{ count: 0 }],
    what,
  );
}

t.test('who lost access gets nothing and stops seeing what they had', async (t) => {
  const left = await createStage(t);
  await withoutAccess(left, 'left the squad', () =>
    left.by(left.people.owner, 'select api.remove_squad_member($1, $2)', [
      left.squadId,
      left.people.colleague,
    ]),
  );
  const removed = await createStage(t);
  await withoutAccess(removed, 'left the workspace', () =>
    removed.by(removed.people.owner, 'select api.remove_workspace_member($1, $2)', [
      removed.workspaceId,
      removed.people.colleague,
    ]),
  );
  const gone = await createStage(t);
  await withoutAccess(gone, 'deactivated', () =>
    gone.look('update bellwire.users set deactivated_at = now() where id = $1', [
      gone.people.colleague,
    ]),
  );
});

t.test('an invitation reaches somebody outside the squad', async (t) => {
  const stage = await createStage(t);
  const { owner, outsider } = stage.people;
  const told = await stage.told(() =>
    stage.by(owner, 'select api.invite_to_squad($1, $2)', [stage.squadId, outsider]),
  );
  t.match(told, [
    {
      user_id: outsider,
      kind: 'squad_invite',
      title: 'Olga Owner invited you to the squad “Crew”',
      scope_id: null,
    },
  ]);
  t.equal(told.length, 1);
  t.equal(
    (await stage.by(outsider, 'select from api.list_notifications()')).length,
    1,
    'they see it',
  );
});

t.test('a title that looks like a template stays a title', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  const id = await stage.createDocument(member, '{actor} {excerpt} & <b>');
  const [told] = await stage.told(() => stage.comment(colleague, id, '{title}'));
  t.equal(told?.title, 'Cleo Colleague commented on your document “{actor} {excerpt} & ”');
  t.equal(told?.body, '{title}');
});
