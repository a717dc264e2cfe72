import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { hashPassword } from '../../server/passwords.ts';
import { Client } from '../server/support/client.ts';
import { connect, type Frame, type Socket } from '../server/support/socket.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import {
  actAs,
  type Received,
  renameArchive,
  setStage,
  startMailServer,
  startReceiver,
  subscribe,
  until,
} from '../worker/support.ts';
import { REFUSED_ADDRESS, useAccountSecrets } from './account-secrets.ts';
import { type BellwireProcess, startProcess } from './process.ts';

/** Words that are found nowhere by accident, and must be found in no output. */
const PASSWORD = 'marmot-password-4711';
const WRONG_PASSWORD = 'marmot-wrong-password-4712';
const SMTP_PASSWORD = 'marmot-smtp-4713';
const METRICS_TOKEN = 'marmot-metrics-token-4714';
const NO_TOKEN = `marmot-no-token-4715${'x'.repeat(44)}`;
const SECRETS_KEY = Buffer.from('marmot-secrets-key-of-32-bytes-x').toString('base64');
const COMMENT = 'The marmot whistles at dawn 4716';

const SIGN_IN_LIMIT = 8;
const DOCUMENTS = 8;
/** Comments before the kill; the others come after it. */
const BEFORE = 4;

interface Running {
  name: string;
  process: BellwireProcess;
  client: Client;
}

/** The worker says in the names of its headers who it is. */
const senderOf = ({ headers }: Received) => (headers['x-one-delivery'] ? 'one' : 'two');
const deliveryOf = ({ headers }: Received) =>
  headers['x-one-delivery'] ?? headers['x-two-delivery'] ?? '';

async function setUp(t: Test) {
  const database = await createDatabase(t);
  const stage = await setStage(database, 3);
  const hash = await hashPassword(PASSWORD);
  await database.admin.query(
    'insert into identity.passwords (user_id, password_hash) select id, $1 from bellwire.users',
    [hash],
  );
  await actAs(
    database,
    stage.ownerId,
    `insert into suite.logs (archive_id, squad_id, title, created_by)
     select archive.id, archive.squad_id, 'Document ' || n, $1
     from suite.archives as archive, generate_series(2, $2::integer) as n`,
    [stage.ownerId, DOCUMENTS],
  );
  for (const id of stage.memberIds) {
    await actAs(database, id, "select api.watch('archive', $1)", [String(stage.archiveId)]);
  }
  return { database, stage };
}

async function startAll(t: Test, database: TestDatabase, smtpUrl: string) {
  const start = (name: string, command: string, environment: NodeJS.ProcessEnv) => ({
    name,
    process: startProcess(t, [command], {
      METRICS_TOKEN,
      SECRETS_KEY,
      SMTP_URL: smtpUrl,
      // Whatever could be logged is.
      LOG_LEVEL: 'trace',
      ...environment,
    }),
  });
  const server = (name: string, slowQueryMs: string) =>
    start(name, 'server', {
      DATABASE_SERVER_URL: database.serverUrl,
      PORT: '0',
      SLOW_QUERY_MS: slowQueryMs,
      SIGN_IN_LIMIT: String(SIGN_IN_LIMIT),
    });
  const worker = (name: string) =>
    start(name, 'worker', {
      DATABASE_WORKER_URL: database.workerUrl,
      WORKER_PORT: '0',
      WEBHOOK_ALLOW: '127.0.0.0/8',
      WEBHOOK_HEADER_PREFIX: name,
    });
  const started = [
    server('first', '60000'),
    server('second', '1'),
    server('third', '60000'),
    worker('one'),
    worker('two'),
  ];
  return Promise.all(
    started.map(async (each): Promise<Running> => {
      return { ...each, client: new Client(await each.process.address()) };
    }),
  );
}

/** The figures of a process, by name and labels as Prometheus reads them. */
async function figures({ client }: Running): Promise<Map<string, number>> {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
  const { text } = await client.get('/metrics', { headers });
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  );
}

async function total(running: Running[], name: string): Promise<number> {
  const all = await Promise.all(running.map(figures));
  return all.reduce((sum, each) => sum + (each.get(name) ?? 0), 0);
}

/** Everything that came over a person's sockets, until there are so many notifications. */
async function collect(socket: Socket, into: Frame[], count: number): Promise<void> {
  while (into.filter(({ type }) => type === 'notification').length < count) {
    into.push(await socket.next());
  }
}

const idsOf = (frames: Frame[]) =>
  frames.flatMap(({ notification }) => (notification ? [notification.id] : []));

t.test('three servers and two workers on one database, and two of them are killed', async (t) => {
  const { database, stage } = await setUp(t);
  const mail = await startMailServer(t, {
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(null, { user: 'bell' }),
    onRcptTo: ({ address }, _session, done) => {
      if (address !== REFUSED_ADDRESS) return done();
      const error = new Error(`${address} is unknown here`);
      done(Object.assign(error, { responseCode: 550 }));
    },
  });
  // While it is held, the receiver takes requests and answers none.
  let isHeld = false;
  const held: { request: Received; response: ServerResponse }[] = [];
  const receiver = await startReceiver(t, (request, response) => {
    if (isHeld) held.push({ request, response });
    else response.writeHead(204).end();
  });
  const { id: subscription, secret } = await subscribe(database, receiver.url, null);
  const running = await startAll(t, database, mail.url.replace('//', `//bell:${SMTP_PASSWORD}@`));
  const [first, second, third, one, two] = running as [Running, Running, Running, Running, Running];
  const [servers, workers] = [
    [first, second, third],
    [one, two],
  ];

  for (const { name, client } of running) {
    t.match(await client.get('/readyz'), { status: 200, body: { ready: true } }, name);
  }

  const signIn = async ({ client }: Running, email: string) => {
    const answer = await client.post('/api/login', { email, password: PASSWORD });
    return answer.pick<string>('token');
  };
  const owner = await signIn(first, 'grace.owner@example.com');
  const tokens = await Promise.all(
    servers.map((server, index) => signIn(server, `member.${index + 1}@example.com`)),
  );
  const sockets = await Promise.all(
    servers.map((server, index) => connect(server.client.address, tokens[index])),
  );
  const frames: Frame[][] = [[], [], []];
  const { rows: documents } = await database.admin.query<{ id: string }>(
    'select id from suite.logs order by id',
  );
  const comment = async (index: number, { client }: Running) => {
    const answer = await new Client(client.address, owner).post(
      `/api/documents/${documents[index]?.id}/comments`,
      { body: `${COMMENT}, ${index}` },
    );
    t.equal(answer.status, 201);
    // A comment is told to people, a rename to receivers.
    await renameArchive(database, stage, `Archive ${index}`);
    return answer;
  };
  const count = async (sql: string) =>
    Number((await database.admin.query<{ count: string }>(sql)).rows[0]?.count);
  const delivered = () =>
    count("select count(*) from bellwire.webhook_deliveries where state = 'delivered'");
  const events = () => count('select count(*) from bellwire.webhook_events');

  t.test('every socket gets its push, every e-mail and webhook goes once', async (t) => {
    for (let index = 0; index < BEFORE; index += 1) {
      await comment(index, servers[index % servers.length] as Running);
    }
    await Promise.all(sockets.map(({ socket }, n) => collect(socket, frames[n] ?? [], BEFORE)));
    for (const each of frames) t.equal(new Set(idsOf(each)).size, BEFORE);
    await until('all mail has arrived', () => mail.mails.length >= BEFORE * 3);
    await until('all webhooks have arrived', async () => (await delivered()) === (await events()));
    t.equal(new Set(mail.mails.map(({ messageId }) => messageId)).size, mail.mails.length);
    t.equal(new Set(receiver.received.map(deliveryOf)).size, receiver.received.length);
    t.equal(receiver.received.length, BEFORE);
  });

  t.test('each process counts what it did', async (t) => {
    t.equal(await total(servers, 'bellwire_pushes_total{type="notification"}'), BEFORE * 3);
    t.equal(await total(servers, 'bellwire_push_lag_seconds_count'), BEFORE * 3);
    t.equal(await total(servers, 'bellwire_sockets_open{kind="socket"}'), 3);
    t.equal(await total(servers, 'bellwire_sign_ins_total{outcome="accepted"}'), 4);
    const comments =
      'bellwire_http_request_seconds_count{method="POST",route="/api/documents/:id/comments",status="201"}';
    t.equal(await total(servers, comments), BEFORE);
    const ownFigures = await figures(second);
    t.ok(ownFigures.has('bellwire_database_connections_in_use'));
    t.equal(ownFigures.get('bellwire_database_connections_waiting'), 0);
    t.ok((ownFigures.get('process_resident_memory_bytes') ?? 0) > 0);
  });

  t.test('a wrong password is refused, and too many are limited', async (t) => {
    const attempt = () =>
      third.client.post('/api/login', { email: 'nobody@example.com', password: WRONG_PASSWORD });
    // What is malformed may be quoted in an answer, and in no log.
    t.equal((await second.client.post('/api/login', { password: WRONG_PASSWORD })).status, 400);
    // All servers count together: four have signed in before.
    const left = SIGN_IN_LIMIT - 5;
    for (let used = 0; used < left; used += 1) t.equal((await attempt()).status, 401);
    t.equal((await attempt()).status, 429);
    const seen = await figures(third);
    t.equal(seen.get('bellwire_sign_ins_total{outcome="refused"}'), left);
    t.equal(seen.get('bellwire_sign_ins_total{outcome="limited"}'), 1);
    t.equal(seen.get('bellwire_rate_limited_total{route="/api/login"}'), 1);
    t.equal((await connect(second.client.address, NO_TOKEN).catch(() => null))?.ready, undefined);
    t.equal((await new Client(second.client.address, NO_TOKEN).get('/api/me')).status, 401);
    const cookie = `sessionToken=${NO_TOKEN}`;
    t.equal((await second.client.get('/api/me', { headers: { cookie } })).status, 401);
  });

  t.test('a slow statement is named, with its route and its request', async (t) => {
    const answer = await comment(BEFORE, second);
    await until('it is in the log', () => /api\.create_comment/.test(second.process.stdout));
    const line = second.process.stdout
      .split('\n')
      .filter((text) => text.includes('"slow query"'))
      .map((text) => JSON.parse(text) as Record<string, unknown>)
      .find(({ reqId }) => reqId === answer.headers.get('x-request-id'));
    const wanted = { statement: /^(api\.create_comment|identity\.authenticate)$/, ms: Number };
    t.match(line, { ...wanted, route: '/api/documents/:id/comments' });
    t.notMatch(first.process.stdout, /slow query/, 'not where the threshold is higher');
    await Promise.all(sockets.map(({ socket }, n) => collect(socket, frames[n] ?? [], BEFORE + 1)));
    await until('all mail has arrived', () => mail.mails.length === (BEFORE + 1) * 3);
    await until('all webhooks have arrived', async () => (await delivered()) === (await events()));
  });

  t.test('a server and a worker are killed in the middle', async (t) => {
    const sentBefore = receiver.received.length;
    isHeld = true;
    await comment(BEFORE + 1, second);
    const [inFlight] = await until('a webhook is being sent', () => held.length > 0 && held);
    // All mail is out, so that only the webhook is in flight.
    await until('all mail has arrived', () => mail.mails.length === (BEFORE + 2) * 3);
    await until('it is written down', async () => {
      const waiting = "select count(*) from bellwire.email_outbox where state <> 'sent'";
      return (await count(waiting)) === 0;
    });
    const [killed, survivor] =
      senderOf(inFlight?.request as Received) === 'one' ? [one, two] : [two, one];

    const seen = await figures(survivor);
    t.ok((seen.get(`bellwire_webhook_backlog{subscription="${subscription}"}`) ?? 0) >= 1);
    t.ok(
      (seen.get(`bellwire_webhook_backlog_oldest_seconds{subscription="${subscription}"}`) ?? 0) >
        0,
    );
    t.ok((seen.get('bellwire_backlog{what="webhooks_pending"}') ?? 0) >= 1);
    t.equal(seen.get('bellwire_backlog{what="emails"}'), 0);

    const before = frames[0] ?? [];
    await collect(sockets[0]?.socket as Socket, before, BEFORE + 2);
    t.match(await Promise.all([killed.process.end('SIGKILL'), first.process.end('SIGKILL')]), [
      { signal: 'SIGKILL' },
      { signal: 'SIGKILL' },
    ]);
    isHeld = false;
    for (let index = BEFORE + 2; index < DOCUMENTS; index += 1) await comment(index, second);

    // Half a minute later.
    await database.admin.query(
      `update bellwire.webhook_deliveries set lease_expires_at = now() where state = 'pending'`,
    );
    await until('all webhooks have arrived', async () => (await delivered()) === (await events()));
    await until('all mail has arrived', () => mail.mails.length >= DOCUMENTS * 3);

    const back = await connect(third.client.address, tokens[0], before.at(-1)?.cursor ?? undefined);
    await collect(back.socket, before, DOCUMENTS);
    for (const [n, { socket }] of sockets.entries()) {
      if (n > 0) await collect(socket, frames[n] ?? [], DOCUMENTS);
    }
    for (const [n, each] of frames.entries()) {
      const { rows } = await database.admin.query<{ id: string }>(
        'select id from bellwire.notifications where user_id = $1 order by id',
        [stage.memberIds[n]],
      );
      t.strictSame(
        idsOf(each).sort((a, b) => a - b),
        rows.map(({ id }) => Number(id)),
        `member ${n + 1} got each once`,
      );
    }
    t.equal(mail.mails.length, DOCUMENTS * 3, 'no e-mail was in flight, and none came twice');
    const repeated = receiver.received.length - (await events());
    t.equal(repeated, 1, 'what was in flight came twice, and nothing else did');
    const again = receiver.received.filter(
      (request) => deliveryOf(request) === deliveryOf(inFlight?.request as Received),
    );
    t.strictSame(again.map(senderOf), [killed.name, survivor.name]);
    t.ok(receiver.received.length > sentBefore);
    const left = workers.filter((worker) => worker !== killed);
    t.ok((await total(left, 'bellwire_webhook_attempts_total{outcome="delivered"}')) >= 1);
    t.ok((await total(left, 'bellwire_webhook_attempt_seconds_count')) >= 1);
    t.ok((await total(left, 'bellwire_emails_total{result="sent"}')) >= 1);
    t.ok((await total(left, 'bellwire_webhook_events_numbered_total')) >= 1);
    back.socket.close();
    await once(back.socket.ws, 'close');
  });

  t.test('nothing they said is a secret', async (t) => {
    const unsubscribe = mail.mails.flatMap((each) => {
      const found = /\/api\/unsubscribe\/([\w-]+)/.exec(String(each.text));
      return found ? [String(found[1])] : [];
    });
    t.ok(unsubscribe.length > 0);
    await second.client.get(`/api/unsubscribe/${unsubscribe[0]}`);
    const ofAccounts = await useAccountSecrets(t, {
      address: second.client.address,
      database,
      mails: mail.mails,
      ownerToken: owner,
      workspaceId: stage.workspaceId,
      members: [
        { email: 'member.2@example.com', token: tokens[1] ?? '' },
        { email: 'member.3@example.com' },
      ],
      password: PASSWORD,
    });
    await second.process.says(/letter not sent/);
    await second.client.post('/api/logout', undefined, {
      headers: { authorization: `Bearer ${owner}` },
    });
    for (const { process } of [second, third]) process.kill('SIGTERM');
    await Promise.all([second.process.exit, third.process.exit]);
    const said = running.map(({ process }) => process.output).join('');
    t.match(said, /\/api\/documents\/\d+\/comments/, 'they said a lot');
    const databasePasswords = [database.serverUrl, database.workerUrl].map(
      (url) => new URL(url).password,
    );
    for (const word of [
      PASSWORD,
      WRONG_PASSWORD,
      SMTP_PASSWORD,
      METRICS_TOKEN,
      NO_TOKEN,
      COMMENT,
      'argon2id',
      owner,
      ...tokens,
      secret,
      secret.replace('whsec_', ''),
      ...databasePasswords,
      ...unsubscribe,
      SECRETS_KEY,
      ...ofAccounts,
    ]) {
      const isSaid = typeof word === 'string' ? said.includes(word) : word.test(said);
      t.notOk(isSaid, `not ${String(word).slice(0, 24)}`);
    }
  });
});
