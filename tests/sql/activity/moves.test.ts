import t from 'tap';
import { createStage, refused, type Stage } from '../fixtures.ts';

const move = (stage: Stage, id: number, parent: number | null) =>
  stage.by(stage.people.member, 'select * from api.move_document($1, $2)', [id, parent]);

const badParent = { code: '22023', detail: 'bad_parent' };

t.test('a parent is a document of the same archive, not itself and not below itself', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  const a = await stage.createDocument(member, 'A');
  const b = await stage.createDocument(member, 'B', '', a);
  const c = await stage.createDocument(member, 'C', '', b);
  const [archive] = await stage.by(owner, 'select * from api.create_archive($1, $2)', [
    stage.squadId,
    'Other',
  ]);
  const [elsewhere] = await stage.by(member, 'select * from api.create_document($1, $2)', [
    archive?.id,
    'Elsewhere',
  ]);

  const entries = await stage.recorded(async () => {
    await refused(t, move(stage, a, a), badParent, 'itself');
    await refused(t, move(stage, a, b), badParent, 'its child');
    await refused(t, move(stage, a, c), badParent, 'its grandchild');
    await refused(t, move(stage, a, elsewhere?.id as number), badParent, 'another archive');
    await refused(t, move(stage, a, 987654), badParent, 'what is not there');
    await refused(
      t,
      stage.createDocument(member, 'New', '', elsewhere?.id as number),
      badParent,
      'a new document below another archive',
    );
    await refused(
      t,
      stage.look('update suite.logs set parent_id = $2 where id = $1', [a, c]),
      badParent,
      'a superuser, too',
    );
  });
  t.strictSame(entries, [], 'nothing recorded');

  await move(stage, c, a);
  await move(stage, b, c);
  t.strictSame(
    await stage.look('select id, parent_id from suite.logs where id = any ($1) order by id', [
      [a, b, c],
    ]),
    [
      { id: a, parent_id: null },
      { id: b, parent_id: c },
      { id: c, parent_id: a },
    ],
    'the neighbouring moves are fine',
  );
});

t.test('two opposite moves at once cannot both pass', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  const a = await stage.createDocument(member, 'A');
  const b = await stage.createDocument(member, 'B');
  const results: PromiseSettledResult<unknown>[] = [];
  const entries = await stage.recorded(async () => {
    let second: Promise<PromiseSettledResult<unknown>[]> | undefined;
    await stage.database.asUser(member, async (client) => {
      await client.query('select api.move_document($1, $2)', [a, b]);
      second = Promise.allSettled([
        stage.by(colleague, 'select api.move_document($1, $2)', [b, a]),
      ]);
      await waitUntilBlocked(stage);
    });
    results.push(...((await second) ?? []));
  });
  t.match(results, [{ status: 'rejected', reason: badParent }], 'the second waits and is refused');
  t.match(entries, [{ action: 'log.move', ref: String(a), metadata: { parent_id: b } }]);
  t.equal(entries.length, 1);
});

t.test('moves in one archive do not wait for another archive', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  const [archive] = await stage.by(owner, 'select * from api.create_archive($1, $2)', [
    stage.squadId,
    'Other',
  ]);
  const pair: number[] = [];
  for (const title of ['One', 'Two']) {
    const [row] = await stage.by(member, 'select * from api.create_document($1, $2)', [
      archive?.id,
      title,
    ]);
    pair.push(row?.id as number);
  }
  const a = await stage.createDocument(member, 'A');
  await stage.database.asUser(member, async (client) => {
    await client.query('select api.move_document($1, $2)', [a, stage.documentId]);
    await stage.by(owner, 'select api.move_document($1, $2)', [pair[0], pair[1]]);
  });
  t.equal(await stage.value('select parent_id from suite.logs where id = $1', [pair[0]]), pair[1]);
});

t.test('who may move', async (t) => {
  const stage = await createStage(t);
  const { guest, outsider, stranger, member } = stage.people;
  const a = await stage.createDocument(member, 'A');
  const sql = 'select api.move_document($1, $2)';
  const values = [a, stage.documentId];
  await refused(t, stage.by(guest, sql, values), { code: '42501' }, 'a guest reads only');
  await refused(t, stage.by(outsider, sql, values), { code: 'P0002' }, 'outside the squad');
  await refused(t, stage.by(stranger, sql, values), { code: 'P0002' }, 'a stranger');
  await refused(t, stage.byAnonymous(sql, values), { code: '42501' }, 'nobody');
});

/** Until another session of this database waits for a lock. */
async function waitUntilBlocked(stage: Stage): Promise<void> {
  for (let look = 0; look < 5000; look += 1) {
    const waiting = await stage.value<number>(
      `select count(*) from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (waiting > 0) return;
  }
  throw new Error('the other session does not wait');
}
