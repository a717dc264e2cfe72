import t from 'tap';
import { createStage } from '../fixtures.ts';
import { entry, named, publish, verdict } from './explain.ts';

t.test('the action tells nobody; neighbour: one that does', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  const renamed = await entry(stage, 'log.rename', () =>
    stage.by(member, 'select api.rename_document($1, $2)', [stage.documentId, 'Currents']),
  );
  await verdict(
    t,
    stage,
    owner,
    renamed,
    {
      told: false,
      says: /^Not told\. The action log\.rename tells nobody/,
      against: ['action', 'reason'],
    },
    'a rename',
  );
  const published = await publish(stage, member);
  await verdict(
    t,
    stage,
    owner,
    published,
    { told: true, says: /^Told/, against: [] },
    'published',
  );
});

t.test('the actor is not told; neighbour: the same change by somebody else', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  const own = await publish(stage, owner);
  await verdict(
    t,
    stage,
    owner,
    own,
    { told: false, says: /^Not told\. Olga Owner did it/, against: ['actor'] },
    'their own',
  );
  const other = await publish(stage, member);
  await verdict(t, stage, owner, other, { told: true, says: /^Told/, against: [] }, 'another’s');
});

t.test('not watching; neighbour: watching the archive above', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  const before = await publish(stage, member);
  await verdict(
    t,
    stage,
    colleague,
    before,
    {
      told: false,
      says: /^Not told\. Nothing makes it Cleo Colleague's concern/,
      against: ['reason'],
    },
    'no watch',
  );
  await stage.watch(colleague, 'archive', stage.archiveId);
  await verdict(
    t,
    stage,
    colleague,
    before,
    {
      told: false,
      says: /^Not told\. Cleo Colleague began to watch after it had happened: archive/,
      against: ['reason'],
    },
    'a later watch',
  );
  const after = await publish(stage, member);
  await verdict(t, stage, colleague, after, { told: true, says: /^Told/, against: [] }, 'above');
});

t.test('watching, but the action tells no watchers; neighbour: it names them', async (t) => {
  const stage = await createStage(t);
  const { owner, member, guest } = stage.people;
  await stage.watch(member, 'archive', stage.archiveId);
  const html = `<span data-type="mention" data-id="${guest}">@Gina</span>`;
  const id = await entry(stage, 'log.create', () => stage.createDocument(owner, 'New', html));
  await verdict(
    t,
    stage,
    member,
    id,
    {
      told: false,
      says: /^Not told\. Mats Member watches it, but the action log\.create tells no watchers/,
      against: ['reason'],
    },
    'a watcher',
  );
  const steps = await verdict(
    t,
    stage,
    guest,
    id,
    { told: true, says: /\(mention\)/, against: [] },
    'named',
  );
  t.match(named(steps, 'reason')?.explanation, /^The entry names Gina Guest: mention\.$/);
  t.equal(named(steps, 'watch')?.passed, null, 'a watch is not needed');
});

t.test('muted, even when named; neighbour: a mute above, and a watch nearer', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague, guest } = stage.people;
  await stage.watch(colleague, 'archive', stage.archiveId);
  await stage.watch(colleague, 'log', stage.documentId, 'ignored');
  await stage.watch(guest, 'archive', stage.archiveId, 'ignored');
  await stage.watch(member, 'archive', stage.archiveId, 'ignored');
  await stage.watch(member, 'log', stage.documentId);
  const id = await publish(stage, owner);
  await verdict(
    t,
    stage,
    colleague,
    id,
    {
      told: false,
      says: /^Not told\. Cleo Colleague has muted log \d+ “Tides”, since .*, source manual/,
      against: ['watch', 'reason'],
    },
    'the nearest word is a mute',
  );
  await verdict(
    t,
    stage,
    member,
    id,
    { told: true, says: /^Told/, against: [] },
    'the nearest is a watch',
  );
  const mention = await entry(stage, 'comment.create', () =>
    stage.comment(
      owner,
      stage.documentId,
      `<span data-type="mention" data-id="${guest}">@Gina</span>`,
    ),
  );
  const steps = await verdict(
    t,
    stage,
    guest,
    mention,
    {
      told: false,
      says: /^Not told\. Gina Guest has muted archive \d+ “Notes”/,
      against: ['watch'],
    },
    'a mute is above a mention',
  );
  t.match(named(steps, 'reason')?.explanation, /names Gina Guest/);
});

t.test('the owner is told as the owner; neighbour: a watcher of the same', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague } = stage.people;
  await stage.watch(colleague, 'log', stage.documentId);
  const id = await entry(stage, 'comment.create', () =>
    stage.comment(member, stage.documentId, 'x'),
  );
  await verdict(
    t,
    stage,
    owner,
    id,
    { told: true, says: /\(comment_on_my_doc\)/, against: [] },
    'owner',
  );
  await verdict(
    t,
    stage,
    colleague,
    id,
    { told: true, says: /\(watched_comment\)/, against: [] },
    'watcher',
  );
});
