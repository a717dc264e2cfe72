import t from 'tap';
import { createStage } from '../fixtures.ts';

t.test('who creates, edits or comments starts watching', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague, guest } = stage.people;
  t.match(await stage.watchState(owner, 'log', stage.documentId), {
    watching: true,
    source: 'auto_create',
  });
  await stage.save(member, stage.documentId, 'new');
  t.match(await stage.watchState(member, 'log', stage.documentId), { source: 'auto_edit' });
  const comment = await stage.comment(guest, stage.documentId, 'Noted');
  t.match(
    await stage.watchState(guest, 'log', stage.documentId),
    { source: 'auto_comment' },
    'the comment → its document',
  );
  await stage.comment(colleague, stage.documentId, 'Same', comment);
  t.match(
    await stage.watchState(colleague, 'log', stage.documentId),
    { source: null },
    'not a reply',
  );
  await stage.by(colleague, 'select api.rename_document($1, $2)', [stage.documentId, 'Other']);
  await stage.by(colleague, 'select api.publish_document($1, $2)', [stage.documentId, 'v1']);
  await stage.by(colleague, 'select api.delete_comment($1)', [
    await stage.comment(colleague, await stage.createDocument(owner, 'Elsewhere'), 'x'),
  ]);
  t.match(
    await stage.watchState(colleague, 'log', stage.documentId),
    { source: null },
    'not a rename, not a publication',
  );
  t.equal(
    await stage.value(
      "select count(*) from bellwire.watches where source like 'auto%' and user_id is null",
    ),
    0,
  );
});

t.test('the first automatic source stays, manual overwrites it', async (t) => {
  const stage = await createStage(t);
  const { owner } = stage.people;
  await stage.save(owner, stage.documentId, 'mine');
  await stage.comment(owner, stage.documentId, 'mine');
  t.match(await stage.watchState(owner, 'log', stage.documentId), { source: 'auto_create' });
  await stage.watch(owner, 'log', stage.documentId);
  t.match(await stage.watchState(owner, 'log', stage.documentId), { source: 'manual' });
});

t.test('auto never over manual, never over a mute', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  await stage.watch(member, 'log', stage.documentId);
  await stage.watch(colleague, 'log', stage.documentId, 'ignored');
  for (const person of [member, colleague]) {
    await stage.save(person, stage.documentId, `by ${person}`);
    await stage.comment(person, stage.documentId, `by ${person}`);
  }
  t.match(await stage.watchState(member, 'log', stage.documentId), {
    source: 'manual',
    level: 'watching',
  });
  t.match(await stage.watchState(colleague, 'log', stage.documentId), {
    source: 'manual',
    level: 'ignored',
  });
});

t.test('unwatching does not last beyond the next edit', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  await stage.save(member, stage.documentId, 'one');
  await stage.by(member, 'select api.unwatch($1, $2)', ['log', String(stage.documentId)]);
  await stage.ageActivity(301);
  await stage.save(member, stage.documentId, 'two');
  t.match(await stage.watchState(member, 'log', stage.documentId), { source: 'auto_edit' });
});

t.test(
  'the system watches nothing, and one statement over many documents is one rule run',
  async (t) => {
    const stage = await createStage(t);
    const { member } = stage.people;
    await stage.look("update suite.logs set html = 'system'");
    t.equal(
      await stage.value("select count(*) from bellwire.watches where source = 'auto_edit'"),
      0,
    );
    const ids: number[] = [];
    for (const title of ['A', 'B', 'C'])
      ids.push(await stage.createDocument(stage.people.owner, title));
    await stage.by(member, 'update suite.logs set html = $2 where id = any ($1)', [ids, 'bulk']);
    t.equal(
      await stage.value(
        "select count(*) from bellwire.watches where source = 'auto_edit' and user_id = $1",
        [member],
      ),
      3,
    );
  },
);

t.test(
  'two people who save one document at once both watch, and neither waits for the rule',
  async (t) => {
    const stage = await createStage(t);
    const { member, colleague } = stage.people;
    const other = await stage.createDocument(stage.people.owner, 'Other');
    await stage.database.asUser(member, async (client) => {
      await client.query('select api.create_comment($1, $2)', [other, 'one']);
      await stage.comment(colleague, other, 'two');
    });
    t.match(await stage.watchState(member, 'log', other), { source: 'auto_comment' });
    t.match(await stage.watchState(colleague, 'log', other), { source: 'auto_comment' });
  },
);
