import t from 'tap';
import { createStage, type Entry, type Stage } from '../fixtures.ts';

/** A document made for one test, by the owner. */
async function fresh(stage: Stage, title = 'Draft', parentId?: number) {
  return stage.createDocument(stage.people.owner, title, '<p>One</p>', parentId);
}

function entry(actor: number, action: string, type: string, ref: number, metadata: object): Entry {
  return {
    action,
    actor_id: actor,
    type,
    ref: String(ref),
    metadata: metadata as Entry['metadata'],
  };
}

t.test('the eighteen actions are rows, and no other is known', async (t) => {
  const stage = await createStage(t);
  const rows = await stage.byAdministrator(
    'select action from bellwire.action_rules order by action',
  );
  t.strictSame(
    rows.map((row) => row.action),
    [
      'archive.create',
      'archive.delete',
      'archive.rename',
      'comment.create',
      'comment.delete',
      'comment.reopen',
      'comment.reply',
      'log.create',
      'log.delete',
      'log.move',
      'log.publish',
      'log.rename',
      'log.restore',
      'log.update',
      'squad.invite_create',
      'squad.member_join',
      'squad.member_leave',
      'version.delete',
    ],
  );
});

t.test('archives: create, rename, delete', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  let id = 0;
  const created = await stage.recorded(async () => {
    const [row] = await stage.by(member, 'select * from api.create_archive($1, $2)', [
      stage.squadId,
      'Maps',
    ]);
    id = row?.id as number;
  });
  t.strictSame(created, [entry(member, 'archive.create', 'archive', id, { title: 'Maps' })]);

  const renamed = await stage.recorded(() =>
    stage.by(member, 'select api.rename_archive($1, $2)', [id, 'Charts']),
  );
  t.strictSame(renamed, [
    entry(member, 'archive.rename', 'archive', id, { title: 'Charts', previous: 'Maps' }),
  ]);

  const same = await stage.recorded(() =>
    stage.by(member, 'select api.rename_archive($1, $2)', [id, 'Charts']),
  );
  t.strictSame(same, [], 'the same name again is no rename');

  const deleted = await stage.recorded(() =>
    stage.by(owner, 'select api.delete_archive($1)', [id]),
  );
  t.strictSame(deleted, [entry(owner, 'archive.delete', 'archive', id, { title: 'Charts' })]);
  const scopes = await stage.look(
    `select activity.workspace_id, scope.ref from bellwire.activity_log as activity
     join bellwire.resources as scope on scope.id = activity.scope_id
     where activity.action = 'archive.delete'`,
  );
  t.strictSame(
    scopes,
    [{ workspace_id: stage.workspaceId, ref: String(stage.squadId) }],
    'its scope was resolved before it was gone',
  );
});

t.test('documents: create, update, rename, move, delete', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  let id = 0;
  const created = await stage.recorded(async () => {
    id = await stage.createDocument(member, 'Plan', '<p>One</p>', stage.documentId);
  });
  t.strictSame(created, [
    entry(member, 'log.create', 'log', id, { title: 'Plan', parent_id: stage.documentId }),
  ]);

  t.strictSame(await stage.recorded(() => stage.save(owner, id, '<p>Two</p>')), [
    entry(owner, 'log.update', 'log', id, { title: 'Plan', parent_id: stage.documentId }),
  ]);

  const renamed = await stage.recorded(() =>
    stage.by(owner, 'select api.rename_document($1, $2)', [id, 'The plan']),
  );
  t.strictSame(renamed, [
    entry(owner, 'log.rename', 'log', id, {
      title: 'The plan',
      previous: 'Plan',
      parent_id: stage.documentId,
    }),
  ]);

  const moved = await stage.recorded(() =>
    stage.by(owner, 'select api.move_document($1, null)', [id]),
  );
  t.strictSame(moved, [
    entry(owner, 'log.move', 'log', id, {
      title: 'The plan',
      parent_id: null,
      previous_parent_id: stage.documentId,
    }),
  ]);

  const deleted = await stage.recorded(() =>
    stage.by(member, 'select api.delete_document($1)', [id]),
  );
  t.strictSame(
    deleted,
    [
      entry(member, 'log.delete', 'archive', stage.archiveId, {
        log_id: id,
        title: 'The plan',
        parent_id: null,
      }),
    ],
    'a deletion is recorded on the archive',
  );
});

t.test('a deletion is recorded once per row that really went', async (t) => {
  const stage = await createStage(t);
  const { member, stranger } = stage.people;
  const parent = await fresh(stage, 'Parent');
  const child = await fresh(stage, 'Child', parent);
  const nothing = await stage.recorded(async () => {
    await t.rejects(stage.by(stranger, 'select api.delete_document($1)', [parent]), {
      code: 'P0002',
    });
    await t.rejects(stage.by(member, 'select api.delete_document(987654)'), { code: 'P0002' });
  });
  t.strictSame(nothing, []);
  const both = await stage.recorded(() =>
    stage.by(member, 'select api.delete_document($1)', [parent]),
  );
  t.strictSame(both.map((row) => row.metadata.log_id).sort(), [parent, child].sort());
  t.ok(both.every((row) => row.action === 'log.delete' && row.type === 'archive'));
});

t.test('what goes along with its archive is not deleted one by one', async (t) => {
  const stage = await createStage(t);
  const { owner } = stage.people;
  await fresh(stage, 'Child', await fresh(stage, 'Parent'));
  const gone = await stage.recorded(() =>
    stage.by(owner, 'select api.delete_archive($1)', [stage.archiveId]),
  );
  t.strictSame(
    gone.map((row) => row.action),
    ['archive.delete'],
  );
});

t.test('documents: publish and restore, and the end of a version', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  const id = await fresh(stage);
  let versionId = 0;
  const published = await stage.recorded(async () => {
    const [row] = await stage.by(member, 'select * from api.publish_document($1, $2)', [id, 'v1']);
    versionId = row?.id as number;
  });
  t.strictSame(published, [
    entry(member, 'log.publish', 'log', id, {
      title: 'v1',
      version_id: versionId,
      parent_id: null,
    }),
  ]);

  await stage.save(owner, id, '<p>Other</p>');
  const restored = await stage.recorded(() =>
    stage.by(member, 'select api.restore_document($1, $2)', [id, versionId]),
  );
  t.strictSame(
    restored,
    [
      entry(member, 'log.restore', 'log', id, {
        title: 'Draft',
        parent_id: null,
        version_id: versionId,
      }),
    ],
    'a restore is not an update as well',
  );

  const gone = await stage.recorded(() =>
    stage.by(owner, 'select api.delete_version($1)', [versionId]),
  );
  t.strictSame(gone, [
    entry(owner, 'version.delete', 'version', versionId, { title: 'v1', log_id: id }),
  ]);
});

t.test('comments: create, reply, reopen, delete', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  const log = await fresh(stage);
  let first = 0;
  let reply = 0;
  const created = await stage.recorded(async () => {
    first = await stage.comment(member, log, '<b>Looks</b> right');
  });
  t.strictSame(created, [
    entry(member, 'comment.create', 'comment', first, { log_id: log, excerpt: 'Looks right' }),
  ]);

  const replied = await stage.recorded(async () => {
    reply = await stage.comment(colleague, log, 'It does', first);
  });
  t.strictSame(replied, [
    entry(colleague, 'comment.reply', 'comment', reply, {
      log_id: log,
      parent_id: first,
      excerpt: 'It does',
    }),
  ]);

  t.strictSame(
    await stage.recorded(() => stage.by(member, 'select api.resolve_comment($1)', [first])),
    [],
    'resolving is no action',
  );
  const reopened = await stage.recorded(() =>
    stage.by(colleague, 'select api.reopen_comment($1)', [first]),
  );
  t.strictSame(reopened, [entry(colleague, 'comment.reopen', 'comment', first, { log_id: log })]);
  t.strictSame(
    await stage.recorded(() => stage.by(colleague, 'select api.reopen_comment($1)', [first])),
    [],
    'an open comment is not reopened',
  );
  t.strictSame(
    await stage.recorded(() => stage.by(member, 'select api.edit_comment($1, $2)', [first, 'New'])),
    [],
    'editing a comment is no action',
  );

  const deleted = await stage.recorded(() =>
    stage.by(member, 'select api.delete_comment($1)', [first]),
  );
  t.strictSame(
    deleted,
    [entry(member, 'comment.delete', 'comment', first, { log_id: log })],
    'the reply that went along is not announced',
  );
});

t.test('what goes along with a document is not announced by itself', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  const log = await fresh(stage);
  await stage.comment(member, log, 'Noted');
  await stage.by(owner, 'select api.publish_document($1, $2)', [log, 'v1']);
  const gone = await stage.recorded(() => stage.by(owner, 'select api.delete_document($1)', [log]));
  t.strictSame(
    gone.map((row) => row.action),
    ['log.delete'],
  );
});
