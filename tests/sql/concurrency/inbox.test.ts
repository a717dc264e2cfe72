import t from 'tap';
import { createStage, type Stage } from '../fixtures.ts';
import {
  drainAll,
  hold,
  refusals,
  ruleFailures,
  untilBlocked,
  withoutWaiting,
} from './parallel.ts';

const ROUNDS = 10;
const READ_ALL = 'select api.mark_all_notifications_read() as count';

async function fill(stage: Stage, person: number, count: number): Promise<void> {
  await stage.look(
    `insert into bellwire.notifications (workspace_id, user_id, kind, title)
     select $1, $2, 'mention', 'x' from generate_series(1, $3)`,
    [stage.workspaceId, person, count],
  );
}

const unread = async (stage: Stage, person: number) =>
  (await stage.by(person, 'select api.unread_count() as count'))[0]?.count as number;

t.test('two tabs read everything while more comes in', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  let documentId = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    await stage.clearMail();
    await fill(stage, owner, 60);
    const results = await Promise.allSettled([
      stage.by(owner, READ_ALL),
      stage.by(owner, READ_ALL),
      ...Array.from({ length: 4 }, async () => {
        documentId = await stage.createDocument(owner, 'New');
        await stage.comment(member, documentId, 'x');
      }),
      stage.by(owner, READ_ALL),
    ]);
    t.strictSame(refusals(results), []);
    await drainAll(stage, 10);
    const counted = results
      .flatMap((result) => (result.status === 'fulfilled' && result.value ? result.value : []))
      .reduce((sum, row) => sum + (row.count as number), 0);
    t.equal(counted + (await unread(stage, owner)), 64, 'each was counted once or is unread');
  }
  t.strictSame(await ruleFailures(stage), []);
});

t.test('the second read-all counts what the first leaves it', async (t) => {
  const stage = await createStage(t);
  const { owner } = stage.people;
  for (const [how, count] of [
    ['commit', 0],
    ['rollback', 5],
  ] as const) {
    await stage.clearMail();
    await fill(stage, owner, 5);
    const held = await hold(stage, owner);
    t.strictSame(await held.query(READ_ALL), [{ count: 5 }]);
    const second = stage.by(owner, READ_ALL);
    await untilBlocked(stage);
    await held.end(how);
    t.strictSame(await second, [{ count }], how);
    t.equal(await unread(stage, owner), 0);
  }
});

t.test('a key given twice at once', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  const NOTIFY = "select * from bellwire.notify($1, $2, 'mention', 'Told', source_key => $3)";
  /** A transaction of an administrator, who is not a person of the workspace. */
  const call = (to: number, key: string) =>
    stage.byAdministrator(NOTIFY, [to, stage.workspaceId, key]);

  for (const how of ['commit', 'rollback'] as const) {
    t.test(`the first is open, and ends in a ${how}`, async (t) => {
      const client = await stage.database.admin.connect();
      try {
        await client.query('begin; set local role bellwire_admin');
        const key = `key ${how}`;
        const first = await client.query(NOTIFY, [member, stage.workspaceId, key]);
        const second = call(member, key);
        await untilBlocked(stage);
        t.match(await call(colleague, key), [{ created: true }], 'another person waits for nobody');
        t.match(await call(member, `${key} too`), [{ created: true }], 'nor another key');
        await client.query(how);
        const [row] = await second;
        if (how === 'commit') {
          t.strictSame(row, { id: first.rows[0].id, created: false });
        } else {
          t.match(row, { created: true });
          t.not(row?.id, first.rows[0].id);
        }
        t.equal(
          await stage.value(
            'select count(*) from bellwire.notifications where user_id = $1 and source_key = $2',
            [member, key],
          ),
          1,
        );
      } finally {
        client.release();
      }
    });
  }

  t.test('many at once, for several people', async (t) => {
    const people = [member, colleague, stage.people.guest];
    const calls = Array.from({ length: 18 }, (_, index) => people[index % 3] as number);
    const rows = (await Promise.all(calls.map((to) => call(to, 'burst')))).flat();
    t.equal(rows.filter((row) => row.created).length, people.length);
    t.equal(new Set(rows.map((row) => row.id)).size, people.length);
  });
});

t.test('reading and being told wait for nobody', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  await stage.comment(member, stage.documentId, 'first');
  const reading = await hold(stage, owner);
  await reading.query(READ_ALL);
  const COMMENT = "select from api.create_comment($1, 'x')";
  await withoutWaiting(stage, member, COMMENT, [stage.documentId]);
  await drainAll(stage);
  await reading.end('commit');
  t.strictSame(await ruleFailures(stage), []);
  t.equal(
    await stage.value('select count(*) from bellwire.notifications where user_id = $1', [owner]),
    1,
  );
});
