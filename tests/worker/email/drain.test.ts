import t, { type Test } from 'tap';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import {
  closedPort,
  renameArchive,
  setStage,
  startMailServer,
  startReceiver,
  startWorker,
  subscribe,
  until,
} from '../support.ts';

async function open(t: Test) {
  const database = await createDatabase(t);
  const stage = await setStage(database);
  const recipient = stage.memberIds[0] ?? 0;
  return { database, stage, recipient };
}

function options(database: TestDatabase, smtpUrl?: string) {
  return {
    databaseUrl: database.workerUrl,
    smtpUrl,
    mailFrom: 'Bellwire <bell@acme.example>',
    appUrl: 'https://acme.example',
  };
}

/** Notifications by e-mail, one for each title. */
async function notify(
  database: TestDatabase,
  workspaceId: number,
  recipient: number,
  ...titles: string[]
) {
  for (const title of titles) {
    await database.admin.query(
      "select bellwire.notify($1, $2, 'mention', $3, 'look & see', '/documents/7')",
      [recipient, workspaceId, title],
    );
  }
}

async function outbox(database: TestDatabase) {
  const { rows } = await database.admin.query<{
    state: string;
    attempts: number;
    error: string | null;
  }>('select state, attempts, error from bellwire.email_outbox order by id');
  return rows;
}

async function untilStates(database: TestDatabase, wanted: string) {
  return until(`the outbox is ${wanted}`, async () => {
    const rows = await outbox(database);
    return rows.map(({ state }) => state).join() === wanted && rows;
  });
}

t.test('sent once each, three at a time, with a way out', async (t) => {
  const { database, stage, recipient } = await open(t);
  const server = await startMailServer(t);
  const titles = Array.from({ length: 25 }, (_, index) => `Title ${index + 1}`);
  await notify(database, stage.workspaceId, recipient, ...titles);
  // Two of them, to show that a message is never taken twice.
  await startWorker(t, options(database, server.url));
  await startWorker(t, options(database, server.url));
  await until('all are sent', async () => {
    return (await outbox(database)).every(({ state }) => state === 'sent');
  });
  t.strictSame(server.mails.map(({ subject }) => subject).sort(), [...titles].sort());
  t.ok(server.mostAtOnce() <= 6, `${server.mostAtOnce()} at once from two workers`);
  t.equal(new Set(server.mails.map(({ messageId }) => messageId)).size, 25);
  const [mail] = server.mails;
  t.match(mail?.text, /look & see/);
  t.match(mail?.text, /https:\/\/acme\.example\/documents\/7/);
  t.match(mail?.text, /because you were mentioned in Acme/);
  const { rows } = await database.admin.query(
    'select unsubscribe_token::text as token from bellwire.email_outbox',
  );
  const unsubscribe = (mail?.headers.get('list') as { unsubscribe?: { url: string } })?.unsubscribe;
  const known = rows.map(({ token }) => `https://acme.example/api/unsubscribe/${token}`);
  t.ok(known.includes(unsubscribe?.url ?? ''));
  t.ok((await outbox(database)).every(({ attempts, error }) => attempts === 1 && error === null));
});

t.test('what the server refuses for now is tried again later, for good never', async (t) => {
  const { database, stage, recipient } = await open(t);
  let refusals = 0;
  const server = await startMailServer(t, {
    onRcptTo: (_address, _session, callback) => {
      refusals += 1;
      const responseCode = refusals === 1 ? 451 : 550;
      callback(Object.assign(new Error('mailbox trouble'), { responseCode }));
    },
  });
  await startWorker(t, options(database, server.url));
  await notify(database, stage.workspaceId, recipient, 'First');
  const [first] = await until('it was tried', async () => {
    const rows = await outbox(database);
    return rows[0]?.state === 'pending' && rows[0].attempts === 1 && rows;
  });
  t.match(first?.error, /451/);
  await notify(database, stage.workspaceId, recipient, 'Second');
  const rows = await untilStates(database, 'pending,failed');
  t.match(rows[1], { attempts: 1, error: /550/ });
  t.equal(refusals, 2, 'the first one waits for its time');
});

t.test('the fifth failure is the last', async (t) => {
  const { database, stage, recipient } = await open(t);
  await notify(database, stage.workspaceId, recipient, 'Title');
  await database.admin.query('update bellwire.email_outbox set attempts = 3');
  await startWorker(t, options(database, `smtp://127.0.0.1:${await closedPort()}`));
  await until('the fourth has failed', async () => {
    const [row] = await outbox(database);
    return row?.state === 'pending' && row.attempts === 4;
  });
  await database.admin.query('update bellwire.email_outbox set retry_at = null');
  await startWorker(t, options(database, `smtp://127.0.0.1:${await closedPort()}`));
  const [row] = await untilStates(database, 'failed');
  t.match(row, { attempts: 5, error: /ECONNREFUSED/ });
});

t.test('a connection lost after the message was handed over: failed, never again', async (t) => {
  const { database, stage, recipient } = await open(t);
  let handedOver = 0;
  const server = await startMailServer(t, {
    onData: (stream) => {
      handedOver += 1;
      stream.resume();
      stream.on('end', () => server.hangUp());
    },
  });
  await startWorker(t, options(database, server.url));
  await notify(database, stage.workspaceId, recipient, 'Title');
  const [row] = await untilStates(database, 'failed');
  t.match(row, { attempts: 1, error: /./ });
  t.equal(handedOver, 1);
});

t.test('nobody inactive and nothing old is mailed', async (t) => {
  const { database, stage, recipient } = await open(t);
  const [, other = 0] = stage.memberIds;
  const server = await startMailServer(t);
  await notify(database, stage.workspaceId, recipient, 'Inactive');
  await notify(database, stage.workspaceId, other, 'Old', 'Fresh');
  await database.admin.query('update bellwire.users set deactivated_at = now() where id = $1', [
    recipient,
  ]);
  await database.admin.query(
    "update bellwire.notifications set created_at = now() - interval '25 hours' where title = 'Old'",
  );
  await startWorker(t, options(database, server.url));
  await untilStates(database, 'skipped,skipped,sent');
  t.strictSame(
    server.mails.map(({ subject }) => subject),
    ['Fresh'],
  );
});

t.test('more than one round of what is only skipped does not hold up the rest', async (t) => {
  const { database, stage, recipient } = await open(t);
  const server = await startMailServer(t);
  const titles = Array.from({ length: 45 }, (_, index) => `Old ${index}`);
  await notify(database, stage.workspaceId, recipient, ...titles);
  await database.admin.query(
    "update bellwire.notifications set created_at = now() - interval '25 hours'",
  );
  await notify(database, stage.workspaceId, recipient, 'Fresh');
  await startWorker(t, { ...options(database, server.url), pollSeconds: 3_600 });
  await until('the fresh one has arrived', () => server.mails.length === 1);
  t.equal(server.mails[0]?.subject, 'Fresh');
});

t.test('without a mail server nothing is claimed, and it says so once', async (t) => {
  const { database, stage, recipient } = await open(t);
  const lines: string[] = [];
  const note = (_fields: object, message: string) => lines.push(message);
  await startWorker(t, {
    ...options(database),
    logger: { debug: () => {}, info: note, warn: note, error: note },
    pollSeconds: 0.05,
  });
  await notify(database, stage.workspaceId, recipient, 'Title');
  // Webhooks ride on the same wake-ups and polls: when three have come, e-mails had their turn.
  const receiver = await startReceiver(t);
  await subscribe(database, receiver.url);
  for (let i = 1; i <= 3; i += 1) {
    await renameArchive(database, stage, `Name ${i}`);
    await until('a webhook has arrived', () => receiver.received.length === i);
  }
  t.match(await outbox(database), [{ state: 'pending', attempts: 0 }]);
  t.equal(lines.filter((line) => line.includes('e-mail is off')).length, 1);
});

t.test('a claim of a worker that died is taken over after ten minutes', async (t) => {
  const { database, stage, recipient } = await open(t);
  const server = await startMailServer(t);
  await notify(database, stage.workspaceId, recipient, 'Dead worker', 'Live worker');
  await database.admin.query(
    `update bellwire.email_outbox set state = 'sending', attempts = 1,
            claimed_at = now() - case when id = (select min(id) from bellwire.email_outbox)
              then interval '11 minutes' else interval '9 minutes' end`,
  );
  await startWorker(t, options(database, server.url));
  const rows = await untilStates(database, 'sent,sending');
  t.equal(rows[0]?.attempts, 2);
  t.strictSame(
    server.mails.map(({ subject }) => subject),
    ['Dead worker'],
  );
});
