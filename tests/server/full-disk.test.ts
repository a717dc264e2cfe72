import t, { type Test } from 'tap';
import { fillDisk, noFullDevice, useOwnCluster } from '../support/full-disk.ts';
import type { Answer } from './support/client.ts';
import { createDocument, PASSWORD, type Stage, startStage } from './support/stage.ts';

/** Everything a comment or a rename may write. */
const WRITTEN = [
  'suite.logs',
  'suite.comments',
  'bellwire.resources',
  'bellwire.activity_log',
  'bellwire.watches',
  'bellwire.notifications',
  'bellwire.email_outbox',
  'bellwire.webhook_events',
  'bellwire.webhook_deliveries',
  'bellwire.fan_out_queue',
  'bellwire.rule_failures',
];

t.test('a full disk', { skip: noFullDevice }, async (t) => {
  t.setTimeout(120_000);
  await useOwnCluster(t);
  const stage = await startStage(t);
  const { database, owner, member, anonymous } = stage;
  await database.admin.query(
    "select bellwire.create_webhook_subscription('http://127.0.0.1:9/hook')",
  );
  const documentId = await createDocument(owner, stage.archiveId, 'Flood');
  const comment = () => member.post(`/api/documents/${documentId}/comments`, { body: 'Rising' });

  t.test('a write is refused as a whole, reading goes on, room is all it takes', async (t) => {
    const free = await fillDisk(database, 'suite.comments');
    const before = await contents(stage);
    for (let count = 0; count < 3; count += 1) refusedWhole(t, await comment());
    const many = await Promise.all(Array.from({ length: 12 }, comment));
    for (const answer of many) refusedWhole(t, answer);
    t.strictSame(await contents(stage), before, 'not a row of it is anywhere');

    t.equal((await anonymous.get('/readyz')).status, 200, 'ready: what reads can be served');
    t.equal((await member.get(`/api/documents/${documentId}`)).status, 200);
    t.equal((await member.get(`/api/documents/${documentId}/comments`)).status, 200);
    t.equal((await owner.get('/api/notifications')).status, 200);
    const wrong = await member.post(`/api/documents/${documentId}/comments`, { body: '' });
    t.equal(wrong.status, 400, 'what was wrong before is wrong in the same way');

    await free();
    await t.test('with room', async (t) => {
      t.equal((await comment()).status, 201);
      const after = await contents(stage);
      t.equal(after['suite.comments'], 1, 'the refused ones do not come back');
      for (const table of ['activity_log', 'watches', 'notifications', 'email_outbox']) {
        const name = `bellwire.${table}`;
        t.equal((after[name] ?? 0) - (before[name] ?? 0), 1, `and the rules did theirs: ${table}`);
      }
    });
  });

  /** Where a rule writes, and what sets it off. */
  const outboxes: { table: string; write: () => Promise<Answer> }[] = [
    { table: 'bellwire.activity_log', write: comment },
    { table: 'bellwire.watches', write: comment },
    { table: 'bellwire.notifications', write: comment },
    { table: 'bellwire.email_outbox', write: comment },
    { table: 'bellwire.webhook_events', write: () => rename(stage) },
    { table: 'bellwire.webhook_deliveries', write: () => rename(stage) },
  ];

  for (const { table, write } of outboxes) {
    t.test(`no room for what a rule writes (${table}): no half of a change`, async (t) => {
      await settle(stage);
      const free = await fillDisk(database, table);
      const before = await contents(stage);
      refusedWhole(t, await write(), table);
      t.strictSame(await contents(stage), before, 'not a row is anywhere, nor a failure noted');
      await free();
      t.ok((await write()).status < 300, 'with room the same works');
      t.ok(((await contents(stage))[table] ?? 0) > 0);
      t.equal((await contents(stage))['bellwire.rule_failures'], 0);
    });
  }

  t.test('signing in, which writes a session', async (t) => {
    const signIn = () => anonymous.post('/api/login', { email: member.email, password: PASSWORD });
    const free = await fillDisk(database, 'identity.sessions');
    refusedWhole(t, await signIn());
    const wrong = await anonymous.post('/api/login', { email: member.email, password: 'x' });
    t.equal(wrong.status, 401, 'a wrong password is one, room or not');
    await free();
    t.equal((await signIn()).status, 200);
  });
});

function refusedWhole(t: Test, answer: Answer, what = ''): void {
  t.equal(answer.status, 503, `${what} ${answer.text}`);
  t.match(answer.body, { success: false, error: 'unavailable', message: /Nothing was changed/ });
  t.notMatch(answer.text, /No space left|device|pg_|base\//, 'without the words of the database');
  t.ok(answer.headers.get('retry-after'));
}

let renames = 0;

function rename({ member, archiveId }: Stage): Promise<Answer> {
  renames += 1;
  return member.put(`/api/archives/${archiveId}/name`, { name: `Name ${renames}` });
}

async function contents({ database }: Stage): Promise<Record<string, number>> {
  const counts = WRITTEN.map((table) => `(select count(*)::int from ${table}) as "${table}"`);
  const { rows } = await database.admin.query<Record<string, number>>(`select ${counts}`);
  return rows[0] ?? {};
}

/** Nothing is noted, watched by the member, or within a window. */
async function settle({ database }: Stage): Promise<void> {
  await database.admin.query('delete from bellwire.rule_failures');
  await database.admin.query("delete from bellwire.watches where source = 'auto_comment'");
  await database.admin.query('delete from bellwire.notifications');
}
