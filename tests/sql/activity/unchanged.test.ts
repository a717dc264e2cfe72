import t from 'tap';
import { createStage, type Stage } from '../fixtures.ts';

/** Everything there is something of, so that "the same again" is said of a row that is there. */
async function setUp(t: Parameters<typeof createStage>[0]) {
  const stage = await createStage(t);
  const { owner, member, outsider } = stage.people;
  const parent = await stage.createDocument(owner, 'Parent');
  const id = await stage.createDocument(owner, 'Child', '<p>Text</p>', parent);
  const comment = await stage.comment(member, id, 'Noted');
  const resolved = await stage.comment(member, id, 'Done');
  await stage.by(member, 'select from api.resolve_comment($1)', [resolved]);
  const [published] = await stage.by(owner, "select id from api.publish_document($1, 'v1')", [id]);
  const version = published?.id as number;
  await stage.by(owner, 'select from api.invite_to_squad($1, $2)', [stage.squadId, outsider]);
  await stage.clearMail();
  return { stage, parent, id, comment, resolved, version };
}

/** What was recorded, told, sent to receivers or noted as a failure. */
async function effects(stage: Stage, change: () => Promise<unknown>) {
  let told: unknown[] = [];
  const recorded = await stage.recorded(async () => {
    told = await stage.told(change);
  });
  const actions = recorded.map((entry) => entry.action);
  return {
    actions,
    told: told.length,
    failures: await stage.byAdministrator('select from bellwire.rule_failures'),
  };
}

const NOTHING = { actions: [], told: 0, failures: [] };

t.test('the same again through the functions is nothing', async (t) => {
  const { stage, parent, id, comment, resolved, version } = await setUp(t);
  const { owner, member, outsider } = stage.people;
  const same: [string, number, string, unknown[]][] = [
    ['the text', owner, 'select from api.save_document($1, $2)', [id, '<p>Text</p>']],
    ['the title', owner, 'select from api.rename_document($1, $2)', [id, 'Child']],
    ['the version', owner, 'select from api.restore_document($1, $2)', [id, version]],
    ['the parent', owner, 'select from api.move_document($1, $2)', [id, parent]],
    ['the name', owner, 'select from api.rename_archive($1, $2)', [stage.archiveId, 'Notes']],
    ['the words', member, 'select from api.edit_comment($1, $2)', [comment, 'Noted']],
    ['resolved', member, 'select from api.resolve_comment($1)', [resolved]],
    ['open', member, 'select from api.reopen_comment($1)', [comment]],
    ['the invitation', owner, 'select from api.invite_to_squad($1, $2)', [stage.squadId, outsider]],
    [
      'the role',
      owner,
      "select from api.add_squad_member($1, $2, 'member')",
      [stage.squadId, member],
    ],
  ];
  for (const [what, person, sql, values] of same)
    t.strictSame(await effects(stage, () => stage.by(person, sql, values)), NOTHING, what);

  const { actions } = await effects(stage, () =>
    stage.by(owner, 'select from api.rename_document($1, $2)', [id, 'Grown']),
  );
  t.strictSame(actions, ['log.rename'], 'and something else is something');

  await stage.save(member, id, '<p>Other</p>');
  const restored = await effects(stage, () =>
    stage.by(owner, 'select from api.restore_document($1, $2)', [id, version]),
  );
  t.strictSame(restored.actions, ['log.restore'], 'as is the version once the text is another');
});

t.test('the same again, or of no row, in plain SQL is nothing', async (t) => {
  const { stage } = await setUp(t);
  const statements = [
    'update suite.logs set title = title, html = html, parent_id = parent_id, archive_id = archive_id',
    "update suite.logs set html = 'x' where false",
    'update suite.archives set name = name, squad_id = squad_id',
    'update suite.comments set body = body, resolved_at = resolved_at',
    'update suite.versions set title = title',
    'update suite.squad_members set role = role',
    'update suite.squads set name = name',
    'delete from suite.logs where id = 987654',
    'delete from suite.comments where false',
    'delete from suite.squad_members where false',
    'insert into suite.logs (archive_id, title) select id, name from suite.archives where false',
    `insert into suite.squad_members (squad_id, user_id) select squad_id, user_id from suite.squad_members
     on conflict do nothing`,
    `insert into suite.squad_members (squad_id, user_id) select squad_id, user_id from suite.squad_members
     on conflict on constraint squad_members_pkey do update set role = suite.squad_members.role`,
    `merge into suite.logs as log using suite.logs as given on log.id = given.id
     when matched then update set title = given.title`,
  ];
  for (const sql of statements)
    t.strictSame(await effects(stage, () => stage.look(sql)), NOTHING, sql);

  const { actions } = await effects(stage, () =>
    stage.look("update suite.logs set title = case title when 'Child' then 'Grown' else title end"),
  );
  t.strictSame(actions, ['log.rename'], 'of many rows, the one that changed');
});

t.test('what fails or is undone is nothing', async (t) => {
  const { stage, id } = await setUp(t);
  const { guest, stranger, owner } = stage.people;
  const fails = async () => {
    for (const [person, sql] of [
      [guest, "select from api.save_document($1, 'x')"],
      [stranger, "select from api.create_comment($1, 'x')"],
      [owner, "select from api.create_comment($1, '')"],
      [owner, 'select from api.restore_document($1, 987654)'],
    ] as const)
      await t.rejects(stage.by(person, sql, [id]), sql);
    await t.rejects(
      stage.database.asUser(owner, async (client) => {
        await client.query("select from api.save_document($1, 'undone')", [id]);
        await client.query("select from api.create_comment($1, 'undone')", [id]);
        await client.query('select 1 / 0');
      }),
    );
  };
  t.strictSame(await effects(stage, fails), NOTHING);
});
