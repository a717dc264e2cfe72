import t from 'tap';
import { createStage, refused, type Stage } from '../fixtures.ts';

/** What a person sees of what they were told and of what happened. */
async function seen(stage: Stage, person: number) {
  const one = async (sql: string, values: unknown[] = []) =>
    (await stage.by(person, sql, values)).length;
  const [unread] = await stage.by(person, 'select api.unread_count() as count');
  const [start] = await stage.look("select bellwire.encode_push_cursor('3:3:') as cursor");
  const [missed] = await stage.byServer(
    'select jsonb_array_length(events) as count from bellwire.missed_notifications($1, $2, 100)',
    [person, start?.cursor],
  );
  return {
    inbox: await one('select from api.list_notifications()'),
    table: await one('select from bellwire.notifications'),
    unread: unread?.count,
    missed: missed?.count,
    feed: await one("select from api.list_activity(null, 'log', $1)", [String(stage.documentId)]),
    watches: await one('select from api.watches'),
  };
}

const NOTHING = { inbox: 0, table: 0, unread: 0, missed: 0, feed: 0, watches: 0 };
const KEPT = { inbox: 1, table: 1, unread: 1, missed: 1, watches: 1 };

async function setUp(t: Parameters<typeof createStage>[0]) {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  await stage.watch(colleague, 'log', stage.documentId);
  await stage.comment(member, stage.documentId, 'before');
  t.match(await seen(stage, colleague), KEPT, 'before');
  return stage;
}

interface Loss {
  take: (stage: Stage) => Promise<unknown>;
  give: (stage: Stage) => Promise<unknown>;
}

const LOSSES: Record<string, Loss> = {
  'out of the squad': {
    take: (stage) =>
      stage.by(stage.people.owner, 'select api.remove_squad_member($1, $2)', [
        stage.squadId,
        stage.people.colleague,
      ]),
    give: (stage) => joinSquad(stage),
  },
  'out of the workspace': {
    take: (stage) =>
      stage.by(stage.people.owner, 'select api.remove_workspace_member($1, $2)', [
        stage.workspaceId,
        stage.people.colleague,
      ]),
    async give(stage) {
      await stage.look(
        'insert into suite.workspace_members (workspace_id, user_id) values ($1, $2)',
        [stage.workspaceId, stage.people.colleague],
      );
      await joinSquad(stage);
    },
  },
  deactivated: {
    take: (stage) =>
      stage.look('update bellwire.users set deactivated_at = now() where id = $1', [
        stage.people.colleague,
      ]),
    give: (stage) =>
      stage.look('update bellwire.users set deactivated_at = null where id = $1', [
        stage.people.colleague,
      ]),
  },
};

function joinSquad(stage: Stage): Promise<unknown> {
  return stage.by(stage.people.owner, "select api.add_squad_member($1, $2, 'member')", [
    stage.squadId,
    stage.people.colleague,
  ]);
}

for (const [name, { take, give }] of Object.entries(LOSSES)) {
  t.test(`${name}: told nothing, shown nothing, and again when back`, async (t) => {
    const stage = await setUp(t);
    const { owner, member, colleague } = stage.people;
    const id = await stage.value('select id from bellwire.notifications where user_id = $1', [
      colleague,
    ]);
    await take(stage);
    t.strictSame(await seen(stage, colleague), NOTHING);
    await refused(
      t,
      stage.by(colleague, 'select api.mark_notification_read($1)', [id]),
      { code: 'P0002' },
      'what is not shown cannot be read',
    );
    t.strictSame(await stage.by(colleague, 'select api.mark_all_notifications_read() as count'), [
      { count: 0 },
    ]);

    await stage.ageNotifications(61);
    const mention = `<span data-type="mention" data-id="${colleague}">@Cleo</span>`;
    const told = await stage.told(() => stage.comment(member, stage.documentId, mention));
    t.strictSame(
      told.map((row) => row.user_id),
      [owner],
      'neither as mentioned nor as a watcher; the others are',
    );
    t.match(
      await stage.byAdministrator(
        "select * from bellwire.notify($1, $2, 'mention', 'By hand', resource_type => 'log', resource_ref => $3)",
        [colleague, stage.workspaceId, String(stage.documentId)],
      ),
      [{ id: null, created: false }],
      'nor by hand',
    );

    await give(stage);
    t.match(await seen(stage, colleague), KEPT, 'what they had is theirs again, unread');
    await stage.ageNotifications(61);
    const after = await stage.told(() => stage.comment(member, stage.documentId, 'back'));
    t.strictSame(
      after.map((row) => row.user_id),
      [owner, colleague],
      'and so is what comes',
    );
  });
}

t.test('what belongs to no scope is shown to members of its workspace', async (t) => {
  const stage = await createStage(t);
  const { owner, outsider } = stage.people;
  await stage.by(owner, 'select api.invite_to_squad($1, $2)', [stage.squadId, outsider]);
  const inbox = 'select kind from api.list_notifications()';
  t.strictSame(await stage.by(outsider, inbox), [{ kind: 'squad_invite' }]);
  await stage.by(owner, 'select api.remove_workspace_member($1, $2)', [
    stage.workspaceId,
    outsider,
  ]);
  t.strictSame(await stage.by(outsider, inbox), []);
  t.strictSame(await stage.by(outsider, 'select api.unread_count() as count'), [{ count: 0 }]);
});

t.test('who owns a document and left is not told as its owner', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague, admin } = stage.people;
  const id = await stage.createDocument(colleague, 'Left behind');
  await stage.watch(admin, 'log', id);
  await stage.by(owner, 'select api.remove_squad_member($1, $2)', [stage.squadId, colleague]);
  const told = await stage.told(() => stage.comment(member, id, 'Whose is it?'));
  t.match(
    told,
    [{ user_id: admin, kind: 'watched_comment' }],
    'an admin of the workspace reads it without being in the squad',
  );
  t.equal(told.length, 1);
});

t.test('leaving one squad takes nothing of another', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague } = stage.people;
  const [other] = await stage.by(owner, "select id from api.create_squad($1, 'Second')", [
    stage.workspaceId,
  ]);
  for (const person of [member, colleague])
    await stage.by(owner, "select api.add_squad_member($1, $2, 'member')", [other?.id, person]);
  const [archive] = await stage.by(owner, "select id from api.create_archive($1, 'Theirs')", [
    other?.id,
  ]);
  const first = await stage.createDocument(colleague, 'Here');
  stage.archiveId = archive?.id as number;
  const second = await stage.createDocument(colleague, 'There');
  for (const id of [first, second]) await stage.comment(member, id, 'x');
  await LOSSES['out of the squad']?.take(stage);
  t.match(await stage.by(colleague, 'select resource_id from api.list_notifications()'), [
    { resource_id: String(second) },
  ]);
  await stage.ageNotifications(61);
  const told = await stage.told(async () => {
    for (const id of [first, second]) await stage.comment(member, id, 'again');
  });
  t.strictSame(
    told.map((row) => row.user_id),
    [colleague],
  );
});
