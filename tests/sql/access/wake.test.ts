import pg from 'pg';
import t, { type Test } from 'tap';
import { createStage, refused } from '../fixtures.ts';
import { subscribe } from '../outbox/webhooks.ts';

/** The channels a listener hears of while this runs. */
async function heard(t: Test, url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.teardown(() => client.end());
  const channels: string[] = [];
  client.on('notification', (message) => channels.push(message.channel));
  for (const channel of ['push', 'emails', 'webhooks', 'fan_out']) {
    await client.query(`listen bellwire_${channel}`);
  }
  return async (change: () => Promise<unknown>) => {
    channels.length = 0;
    await change();
    // A round trip of the listener's own: what was sent before it has arrived after it.
    await client.query('select');
    return [...channels].sort();
  };
}

t.test('each outbox wakes its listener, and only when it got something', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  const listen = await heard(t, stage.database.serverUrl);
  t.strictSame(
    await listen(() =>
      stage.by(member, 'select api.rename_document($1, $2)', [stage.documentId, 'A']),
    ),
    [],
    'nobody to tell, nothing to send',
  );
  t.strictSame(await listen(() => stage.comment(member, stage.documentId, 'x')), [
    'bellwire_emails',
    'bellwire_push',
  ]);
  await subscribe(stage);
  t.strictSame(
    await listen(() =>
      stage.by(member, 'select api.rename_document($1, $2)', [stage.documentId, 'B']),
    ),
    ['bellwire_webhooks'],
  );
  await stage.set('sync_fanout_events', 1);
  await stage.createDocument(owner, 'Other');
  t.strictSame(await listen(() => stage.by(member, "update suite.logs set html = 'x'")), [
    'bellwire_fan_out',
    'bellwire_webhooks',
  ]);
  t.strictSame(
    await listen(() => stage.by(owner, 'select api.mark_all_notifications_read()')),
    ['bellwire_push'],
    'reading, too',
  );
  t.strictSame(
    await listen(() =>
      stage.database
        .asUser(member, async (client) => {
          await client.query('select api.create_comment($1, $2)', [stage.documentId, 'y']);
          throw new Error('rolled back');
        })
        .catch(() => {}),
    ),
    [],
    'nothing for what is rolled back',
  );
});

t.test('of the transactions in flight one carries the wake, the others do not wait', async (t) => {
  const stage = await createStage(t);
  const { member, colleague, owner } = stage.people;
  await subscribe(stage);
  const other = await stage.createDocument(owner, 'Other');
  const listen = await heard(t, stage.database.workerUrl);
  const rename = 'select api.rename_document($1, $2)';
  const during: string[] = [];
  const after = await listen(() =>
    stage.database.asUser(member, async (first) => {
      await first.query(rename, [stage.documentId, 'one']);
      during.push(...(await listen(() => stage.by(colleague, rename, [other, 'two']))));
    }),
  );
  t.strictSame(during, [], 'the second commits without one');
  t.strictSame(after, ['bellwire_webhooks'], 'the first brings it');
});

t.test('nobody wakes by hand', async (t) => {
  const stage = await createStage(t);
  for (const call of ["select bellwire.wake('bellwire_push')", 'select bellwire.wake_push()']) {
    await refused(t, stage.by(stage.people.owner, call), { code: '42501' }, call);
  }
});
