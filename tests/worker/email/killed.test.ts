import t from 'tap';
import { startProcess } from '../../boot/process.ts';
import { createDatabase } from '../../support/database.ts';
import { setStage, startMailServer, startWorker, until } from '../support.ts';

const WORKERS = 2;

t.test('a worker is killed in the middle of two e-mails', async (t) => {
  const database = await createDatabase(t);
  const { memberIds, workspaceId } = await setStage(database, 2);
  const [early = 0, late = 0] = memberIds;
  for (const [id, title] of [
    [early, 'Stalled before DATA'],
    [late, 'Taken, and not confirmed'],
  ]) {
    await database.admin.query("select bellwire.notify($1, $2, 'mention', $3)", [
      id,
      workspaceId,
      title,
    ]);
  }

  // The first mail server lets one message come as far as RCPT, and takes the other without a word.
  const stalledAt: string[] = [];
  const stalling = await startMailServer(t, {
    onRcptTo: ({ address }, _session, done) => {
      if (address === 'member.1@example.com') stalledAt.push('RCPT');
      else done();
    },
    onData: (stream) => {
      stream.resume();
      stream.on('end', () => stalledAt.push('DATA'));
    },
  });
  const doomed = startProcess(t, ['worker'], {
    DATABASE_WORKER_URL: database.workerUrl,
    SMTP_URL: stalling.url,
  });
  await until('both messages are under way', () => stalledAt.length === 2);
  t.match(await doomed.end('SIGKILL'), { signal: 'SIGKILL' });

  const server = await startMailServer(t);
  for (let count = 0; count < WORKERS; count += 1) {
    await startWorker(t, {
      databaseUrl: database.workerUrl,
      smtpUrl: server.url,
      pollSeconds: 0.05,
    });
  }
  const outbox = async () => {
    const { rows } = await database.admin.query(
      'select state, attempts, error from bellwire.email_outbox order by id',
    );
    return rows;
  };
  const notify = async (title: string) => {
    await database.admin.query("select bellwire.notify($1, $2, 'mention', $3)", [
      late,
      workspaceId,
      title,
    ]);
    await until(`${title} has arrived`, () =>
      server.mails.some(({ subject }) => subject === title),
    );
  };
  await notify('Within the ten minutes');
  t.match(await outbox(), [{ state: 'sending' }, { state: 'sending' }, {}], 'nobody touches them');

  await database.admin.query(
    `update bellwire.email_outbox set claimed_at = claimed_at - interval '11 minutes' where state = 'sending'`,
  );
  await until('the first one has arrived', () =>
    server.mails.some(({ subject }) => subject === 'Stalled before DATA'),
  );
  await notify('After them');
  t.match(await outbox(), [
    { state: 'sent', attempts: 2, error: null },
    { state: 'failed', attempts: 1, error: /may have arrived/ },
    {},
    {},
  ]);
  t.strictSame(
    server.mails.map(({ subject }) => subject),
    ['Within the ten minutes', 'Stalled before DATA', 'After them'],
    'the one once, the other not again',
  );
});
