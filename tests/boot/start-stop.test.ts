import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect as connectTcp, createServer, type Socket as TcpSocket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { buildApp } from '../../server/app.ts';
import { runServer, stopServer } from '../../server/main.ts';
import { Client } from '../server/support/client.ts';
import { connect } from '../server/support/socket.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import {
  deliveriesOf,
  renameArchive,
  STALLS,
  setStage,
  startMailServer,
  startReceiver,
  startStalledMailServer,
  subscribe,
  until,
} from '../worker/support.ts';
import { runProcess, startProcess } from './process.ts';

const ADMIN = {
  ADMIN_USERNAME: 'Root',
  ADMIN_PASSWORD: 'correct horse',
  ADMIN_EMAIL: 'root@example.org',
};
const CREDENTIALS = { email: ADMIN.ADMIN_EMAIL, password: ADMIN.ADMIN_PASSWORD };
const TOKEN = 'a token of sixteen and more'.replaceAll(' ', '-');

/** The messages of the log, in order; what a busy machine adds is none of them. */
function messages(output: string): string[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { msg?: string; message?: string })
    .map(({ msg, message }) => msg ?? message ?? '')
    .filter((message) => message !== 'slow query');
}

/** Until it is released, whoever reads the people waits. */
async function holdUsers(database: TestDatabase): Promise<() => Promise<void>> {
  const client = await database.admin.connect();
  await client.query('begin');
  await client.query('lock table bellwire.users in access exclusive mode');
  return async () => {
    await client.query('rollback');
    client.release();
  };
}

async function untilSomebodyWaits(database: TestDatabase): Promise<void> {
  await until('a request waits for the lock', async () => {
    const { rows } = await database.admin.query(
      `select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'
          and application_name = 'bellwire-server'`,
    );
    return rows.length > 0;
  });
}

/** Requests of one connection, written as they are, and everything that comes back. */
function converse(address: string): { socket: TcpSocket; heard: () => string } {
  const { hostname, port } = new URL(address);
  const socket = connectTcp(Number(port), hostname);
  let heard = '';
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    heard += chunk;
  });
  return { socket, heard: () => heard };
}

const get = (path: string, token = '') =>
  `GET ${path} HTTP/1.1\r\nHost: bell\r\nAuthorization: Bearer ${token}\r\n\r\n`;

t.test('a first start, and a stop with work under way', async (t) => {
  const database = await createDatabase(t);
  const server = startProcess(t, ['server'], {
    DATABASE_SERVER_URL: database.serverUrl,
    PORT: '0',
    ARGON2_MEMORY_KIB: '7168',
    ARGON2_ITERATIONS: '5',
    ...ADMIN,
  });
  const address = await server.address();
  await server.says(/trusting proxies/);

  t.match(
    messages(server.stdout),
    [
      /^e-mail is off \(SMTP_URL is not set\)/,
      /^admin sync: created \(user \d+\)$/,
      /^first run: made a workspace/,
      /^Server listening/,
      /^trusting proxies \(the default\): 127\.0\.0\.1\/32, ::1\/128$/,
    ],
    'in this order, and it listens last',
  );
  t.notMatch(server.output, /correct horse/);
  const login = await new Client(address).post('/api/login', CREDENTIALS);
  t.match(login.body, { success: true, user: { name: 'Root', isAdmin: true } });
  const token = login.pick<string>('token');
  const { rows } = await database.admin.query('select password_hash from identity.passwords');
  t.match(rows, [{ password_hash: /^\$argon2id\$v=19\$m=7168,t=5,p=1\$/ }], 'as configured');
  const workspaces = await new Client(address, token).get('/api/workspaces');
  t.match(workspaces.body, { items: [{ name: 'My workspace', role: 'owner' }] });
  t.equal((await new Client(address).get('/readyz')).status, 200);

  const letterToken = '4f0c2d1e-5b7a-4c9d-8e3f-6a1b2c3d4e5f';
  for (const word of ['unsubscribe', '%75nsubscribe']) {
    t.equal((await new Client(address).get(`/api/${word}/${letterToken}`)).status, 200);
  }
  const { socket } = await connect(address, token);
  const conversation = converse(address);
  const release = await holdUsers(database);
  conversation.socket.write(get('/api/me', token));
  await untilSomebodyWaits(database);
  server.kill('SIGTERM');
  await server.says(/Stopping/);
  t.match(await socket.closed, { code: 1001, reason: 'Server shutting down' });
  conversation.socket.write(get('/readyz'));
  await until('no new connections', () =>
    fetch(`${address}/healthz`).then(
      () => false,
      () => true,
    ),
  );
  await release();
  t.match(await server.exit, { code: 0, signal: null });
  t.match(
    conversation.heard(),
    /^HTTP\/1\.1 200 [\s\S]*"unreadCount"[\s\S]*HTTP\/1\.1 503 [\s\S]*"reason":"shutting_down"/,
    'what was under way is answered, and a probe is told',
  );
  t.match(server.stderr, /\nstopped cleanly on SIGTERM\n$/);
  t.match(server.stdout, /"url":"\/api\/unsubscribe\/:token"/);
  for (const secret of [token, letterToken]) t.notMatch(server.output, secret);
});

t.test('a start that has little, and goes on', async (t) => {
  const database = await createDatabase(t);
  const { memberIds } = await setStage(database, 1);
  const { rows } = await database.admin.query('select email from bellwire.users where id = $1', [
    memberIds[0],
  ]);
  const mail = await startMailServer(t);
  const server = startProcess(t, ['server'], {
    DATABASE_SERVER_URL: database.serverUrl,
    PORT: '0',
    TRUST_PROXY: 'false',
    METRICS_TOKEN: TOKEN,
    SMTP_URL: mail.url,
    NODE_ENV: 'production',
    APP_URL: 'HTTPS://Bell.Example.org/',
    CORS_ORIGIN: 'https://app.example.org',
    ...ADMIN,
    ADMIN_EMAIL: rows[0].email,
  });
  const address = await server.address();
  await server.says(/trusting proxies/);
  t.match(messages(server.stdout), [
    'e-mail is on: the mail server answered',
    /^admin sync: refused: ADMIN_EMAIL is the address of user \d+, who is no active administrator$/,
    /^Server listening/,
    'trusting proxies (from TRUST_PROXY): none, X-Forwarded-For is ignored',
  ]);

  t.test('/metrics is for who has the token', async (t) => {
    const client = new Client(address);
    const read = (authorization?: string) =>
      client.get('/metrics', { headers: authorization ? { authorization } : {} });
    for (const given of [undefined, `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, 'Bearer ']) {
      const refused = await read(given);
      t.equal(refused.status, 401, String(given));
      t.equal(refused.headers.get('www-authenticate'), 'Bearer');
      t.notMatch(refused.text, /bellwire_/);
    }
    const page = await read(`Bearer ${TOKEN}`);
    t.equal(page.status, 200);
    t.match(page.headers.get('content-type'), /^text\/plain; version=/);
    t.match(page.text, /^nodejs_eventloop_lag_seconds /m);
  });

  t.test('in production: the origins and the cookie of the configuration', async (t) => {
    const from = (origin: string) =>
      new Client(address, 'x').post('/api/logout', undefined, { headers: { origin } });
    for (const origin of ['https://app.example.org', 'https://bell.example.org', address]) {
      const answer = await from(origin);
      t.equal(answer.status, 200, origin);
      t.match(answer.headers.get('set-cookie'), /^__Host-sessionToken=; .*; Secure$/);
    }
    for (const origin of ['http://localhost:5173', 'https://app.example.org:8443', 'null']) {
      t.equal((await from(origin)).status, 403, origin);
    }
  });

  t.test('a proxy that is not named is warned of, once', async (t) => {
    const headers = { 'x-forwarded-for': '198.51.100.1' };
    for (const path of ['/healthz', '/api/me']) await new Client(address).get(path, { headers });
    const [warning] = await server.says(/127\.0\.0\.1 sent X-Forwarded-For, but TRUST_PROXY/);
    t.equal(server.stdout.split(warning).length, 2);
  });

  t.test('a taken port is named', async (t) => {
    const { port } = new URL(address);
    await database.admin.query('update bellwire.users set is_admin = true where id = $1', [
      memberIds[0],
    ]);
    const second = await runProcess(t, ['server'], {
      DATABASE_SERVER_URL: database.serverUrl,
      PORT: port,
      ...ADMIN,
    });
    t.match(second, { code: 1, stderr: new RegExp(`^Cannot listen on port ${port} of .*PORT`) });
    const said = messages(second.stdout).filter((line) => line.startsWith('admin sync'));
    t.match(
      said.map((line) => line.replace(/created \(user \d+\)/, 'created')),
      [
        `admin sync: created; administrators before: user ${memberIds[0]}. If ADMIN_EMAIL was changed, ` +
          '"select identity.set_admin(<id>, false)" takes that from the old account',
      ],
      'and another address of the administrator is worth a line',
    );
    t.equal(said.length, 1);
  });

  t.test('a second signal does not wait', async (t) => {
    const conversation = converse(address);
    const release = await holdUsers(database);
    conversation.socket.write(get('/api/me', 'A'.repeat(64)));
    await untilSomebodyWaits(database);
    server.kill('SIGTERM');
    await server.says(/Stopping/);
    const askedAt = Date.now();
    t.match(await server.end('SIGTERM'), { code: 1 });
    t.ok(Date.now() - askedAt < 2_000);
    await release();
  });
});

t.test('a blip of the database at the start, and a stop that is cut short', async (t) => {
  const database = await createDatabase(t);
  await refuseOldDatabase(t, database);
  await database.admin.query('drop function identity.sync_admin(text, text, text)');
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const port = (closed.address() as { port: number }).port;
  await new Promise((resolve) => closed.close(resolve));

  const [server, worker] = [
    startProcess(t, ['server'], {
      DATABASE_SERVER_URL: database.serverUrl,
      PORT: '0',
      SMTP_URL: `smtp://me:secret-word@127.0.0.1:${port}`,
      TRUST_PROXY: '10.1.2.3, loopback',
      ...ADMIN,
    }),
    startProcess(t, ['worker'], {
      DATABASE_WORKER_URL: database.workerUrl,
      WEBHOOK_ALLOW: '127.0.0.0/8',
      WORKER_PORT: '0',
    }),
  ];
  const address = await server.address();
  const probes = await worker.address();
  await server.says(/trusting proxies/);
  t.match(messages(server.stdout), [
    /^e-mail is off: the mail server of SMTP_URL cannot be used \(E[A-Z]+\)$/,
    'admin sync: failed; the next start tries again',
    /^Server listening/,
    'trusting proxies (from TRUST_PROXY): 10.1.2.3, loopback',
  ]);
  t.notMatch(server.output, /secret-word/);

  t.test('probes of a worker, and no metrics without a token', async (t) => {
    const client = new Client(probes);
    t.match(await client.get('/healthz'), { status: 200, body: { ok: true } });
    t.match(await client.get('/readyz'), { status: 200, body: { ready: true } });
    for (const each of [client, new Client(address)]) {
      t.equal((await each.get('/metrics', { headers: { authorization: 'Bearer x' } })).status, 404);
    }
    t.equal((await client.get('/other')).status, 404);
    t.equal((await client.post('/healthz')).status, 405);
  });

  t.test('steps that fail are counted, and the rest is done', async (t) => {
    const stage = await setStage(database, 1);
    const receiver = await startReceiver(t, () => {});
    const { id } = await subscribe(database, receiver.url);
    await renameArchive(database, stage, 'First');
    await until('it is being sent', () => receiver.received.length === 1);
    const release = await holdUsers(database);
    converse(address).socket.write(get('/api/me', 'A'.repeat(64)));
    await untilSomebodyWaits(database);

    worker.kill('SIGTERM');
    server.kill('SIGTERM');
    await worker.says(/Stopping/);
    t.match(await new Client(probes).get('/readyz'), {
      status: 503,
      body: { ready: false, reason: 'shutting_down' },
    });
    const [servers, workers] = await Promise.all([server.exit, worker.exit]);
    await release();
    t.match(servers, { code: 0, signal: null });
    t.match(server.stderr, /requests: cut short[\s\S]*\nstopped on SIGTERM with 2 failed steps\n$/);
    t.match(workers, { code: 0, signal: null });
    t.match(
      worker.stderr,
      /what was under way: it took too long\nstopped on SIGTERM with 1 failed step\n$/,
    );
    t.match((await deliveriesOf(database, id))[0], { state: 'pending' }, 'somebody else sends it');
  });
});

/** What a database of an older version lets start: nothing. It is of this version afterwards. */
async function refuseOldDatabase(t: Test, database: TestDatabase): Promise<void> {
  const { rows } = await database.admin.query<{ name: string }>(
    `delete from bellwire.schema_migrations
      where name = (select max(name) from bellwire.schema_migrations) returning name`,
  );
  const urls = {
    DATABASE_SERVER_URL: database.serverUrl,
    DATABASE_WORKER_URL: database.workerUrl,
    PORT: '0',
  };
  for (const command of ['server', 'worker']) {
    t.match(await runProcess(t, [command], urls), {
      code: 1,
      stderr: /^The database is not migrated to this version: run "bellwire migrate" first\.\n$/,
    });
  }
  await database.admin.query(
    'insert into bellwire.schema_migrations (name, run_on) values ($1, now())',
    [rows[0]?.name],
  );
}

t.test('a mail server that stalls delays a start, and keeps nothing from running', async (t) => {
  const database = await createDatabase(t);
  const { memberIds } = await setStage(database, 1);
  for (const [what, stall] of Object.entries(STALLS)) {
    const mail = await startStalledMailServer(t, stall);
    const server = await runServer({
      databaseUrl: database.serverUrl,
      smtpUrl: mail.url,
      mailFrom: 'bell@example.org',
      smtpLimits: { connectMs: 100, socketMs: 200 },
      port: 0,
      logLevel: 'silent',
    });
    const client = new Client(server.address);
    t.equal((await client.get('/readyz')).status, 200, what);
    const forgotten = await client.post('/api/forgot-password', { email: 'a@example.org' });
    t.match(forgotten, { status: 503, body: { error: 'mail_off' } }, 'decided once: off');
    t.strictSame(await server.stop(), []);
  }

  const mail = await startStalledMailServer(t, STALLS['no greeting']);
  const booting = startProcess(t, ['server'], {
    DATABASE_SERVER_URL: database.serverUrl,
    SMTP_URL: mail.url,
    PORT: '0',
  });
  await until('it waits for the greeting', () => mail.open.size === 1);
  t.match(await booting.end('SIGTERM'), { code: 0 });
  t.match(booting.stderr, /stopped on SIGTERM during boot/);
  await until('it has hung up', () => mail.open.size === 0);

  // A worker asks nothing of the mail server before it has something to send.
  const worker = startProcess(t, ['worker'], {
    DATABASE_WORKER_URL: database.workerUrl,
    SMTP_URL: mail.url,
    WORKER_PORT: '0',
  });
  const probes = new Client(await worker.address());
  await database.admin.query(
    "select bellwire.notify($1, id, 'mention', 'x') from bellwire.workspaces",
    [memberIds[0]],
  );
  await until('it waits for the greeting', () => mail.open.size === 1);
  t.equal((await probes.get('/readyz')).status, 200);
  await worker.end('SIGKILL');
});

t.test('a stop sends the letters that wait, and counts those that are not sent', async (t) => {
  const database = await createDatabase(t);
  await setStage(database, 1);
  /** How the mail server takes one attempt after the other. */
  let answers: ('refused' | 'taken' | 'silence')[] = [];
  let attempts = 0;
  const mail = await startMailServer(t, {
    onRcptTo: (_address, _session, done) => {
      const answer = answers[attempts];
      attempts += 1;
      if (answer === 'silence') return;
      done(answer === 'taken' ? null : Object.assign(new Error('busy'), { responseCode: 451 }));
    },
  });
  const start = async () => {
    const server = await runServer({
      databaseUrl: database.serverUrl,
      smtpUrl: mail.url,
      mailFrom: 'bell@example.org',
      port: 0,
      logLevel: 'silent',
    });
    t.teardown(() => server.stop());
    await database.admin.query('delete from identity.password_resets');
    const forget = async () => {
      const email = 'member.1@example.com';
      const asked = await new Client(server.address).post('/api/forgot-password', { email });
      t.equal(asked.status, 202);
    };
    return { server, forget };
  };
  const cases: [typeof answers, string[]][] = [
    [['refused', 'taken'], []],
    [['refused', 'refused'], ['the letters: 1 not sent']],
    [['silence'], ['the letters: 1 not sent']],
  ];
  for (const [next, failures] of cases) {
    [answers, attempts] = [next, 0];
    const { server, forget } = await start();
    await forget();
    await until('it was tried', () => attempts === 1);
    t.strictSame(await server.stop(), failures, next.join());
    t.equal(attempts, next.length, 'once more, and not again');
  }
  t.equal(mail.mails.length, 1);

  [answers, attempts] = [['taken'], 0];
  const { server, forget } = await start();
  const release = await holdUsers(database);
  await forget();
  await untilSomebodyWaits(database);
  const stopped = server.stop();
  await until('it does not listen any more', () =>
    fetch(`${server.address}/healthz`).then(
      () => false,
      () => true,
    ),
  );
  await release();
  t.strictSame(await stopped, []);
  t.equal(mail.mails.length, 2, 'also one that was not written yet');
});

t.test('every step runs, whatever an earlier one threw', async (t) => {
  const app = await buildApp({
    databaseUrl: 'postgres://nobody@127.0.0.1:1/x',
    appUrl: 'http://localhost:3000',
    logLevel: 'silent',
  });
  const steps: string[] = [];
  const step = (name: string, isBad: boolean) => () => {
    steps.push(name);
    if (isBad) throw new Error('boom');
  };
  app.onStop('first', step('first', false));
  app.onStop('second', step('second', true));
  app.onStop('third', step('third', true));
  app.onStop('fourth', step('fourth', false));
  t.strictSame(await stopServer(app), ['third: boom', 'second: boom']);
  t.strictSame(steps, ['fourth', 'third', 'second', 'first'], 'the last registered first');
  await t.rejects(
    app.database.read('select 1'),
    /after calling end/,
    'the database is closed, too',
  );
});

t.test('with the embedded database a signal waits until Postgres can be stopped', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'bellwire-start-'));
  await chmod(folder, 0o711);
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const data = path.join(folder, 'data');
  const start = startProcess(t, ['start', '--data', data]);
  const pid = await until('Postgres runs', () => postgresPid(data));
  t.match(await start.end('SIGTERM'), { code: 0, signal: null });
  t.match(start.stderr, /\nstopped cleanly on SIGTERM\n$/);
  t.notMatch(start.stdout, /Bellwire is running/);
  t.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});

async function postgresPid(data: string): Promise<number> {
  const text = await readFile(path.join(data, 'postgres', 'postmaster.pid'), 'utf8').catch(
    () => '',
  );
  return Number(text.split('\n')[0]);
}
