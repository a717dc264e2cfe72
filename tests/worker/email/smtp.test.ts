import net, { type AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { ClaimedEmail } from '../../../worker/database.ts';
import { composeEmail } from '../../../worker/email/message.ts';
import { parseSmtpUrl, SmtpSession, verifySmtp } from '../../../worker/email/smtp.ts';
import { closedPort, STALLS, startMailServer, startStalledMailServer, until } from '../support.ts';

const EMAIL: ClaimedEmail = {
  id: 1,
  attempt: 1,
  toAddress: 'ada@example.com',
  toName: 'Ada Løvelace',
  kind: 'mention',
  kindDescription: 'You were mentioned',
  subject: 'Grüße 🚀',
  body: 'Zeile eins\n.\nZeile drei',
  linkPath: '/x',
  workspaceName: 'Acme',
  unsubscribeToken: 'bd5bd7e5-6df0-4b3a-9b1d-3a8f4f3b2d11',
};

/** Far above the limits of these tests, far below those of the product. */
const PROMPT_MS = 5_000;

const MESSAGE = composeEmail(EMAIL, {
  from: 'Bellwire <bell@acme.example>',
  appUrl: 'https://acme.example',
});

function openSession(t: Test, url: string): SmtpSession {
  const session = new SmtpSession(parseSmtpUrl(url));
  t.teardown(() => session.close());
  return session;
}

function refuse(responseCode: number): (...args: unknown[]) => void {
  return (...args) => {
    const callback = args.at(-1) as (error: Error) => void;
    callback(Object.assign(new Error('no'), { responseCode }));
  };
}

/** A server that speaks by a script: the answer to each command; null closes the connection. */
async function startScripted(t: Test, answers: Record<string, string | null>): Promise<string> {
  const server = net.createServer((socket) => {
    let isData = false;
    socket.on('error', () => {});
    socket.write('220 scripted\r\n');
    socket.on('data', (chunk) => {
      const command = isData ? '.' : (/^[A-Z]+/i.exec(chunk.toString())?.[0] ?? '').toUpperCase();
      if (isData && !chunk.toString().includes('\r\n.\r\n')) return;
      const answer = answers[command] === undefined ? '250 fine' : answers[command];
      if (answer === null) socket.destroy();
      else socket.write(`${answer}\r\n`);
      isData = command === 'DATA' && (answer ?? '').startsWith('354');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  return `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test('a message arrives as it was composed', async (t) => {
  const server = await startMailServer(t);
  const session = openSession(t, server.url);
  t.strictSame(await session.send(MESSAGE), { result: 'sent', error: null, code: null });
  const [mail] = server.mails;
  t.equal(mail?.subject, 'Grüße 🚀');
  t.equal(mail?.messageId, MESSAGE.messageId);
  t.match(mail?.text, /Zeile eins\n\.\nZeile drei/);
  t.match(mail?.html, /<h1/);
  t.equal(mail?.headers.get('auto-submitted'), 'auto-generated');
  t.match(mail?.headers.get('list'), {
    unsubscribe: { url: `https://acme.example/api/unsubscribe/${EMAIL.unsubscribeToken}` },
    'unsubscribe-post': { name: 'List-Unsubscribe=One-Click' },
  });
  t.strictSame(mail?.to, mail?.to && { ...mail.to, text: '"Ada Løvelace" <ada@example.com>' });
});

t.test('one conversation carries several messages', async (t) => {
  let connections = 0;
  const server = await startMailServer(t, {
    onConnect: (_session, callback) => {
      connections += 1;
      callback();
    },
  });
  const session = openSession(t, server.url);
  for (let i = 0; i < 3; i += 1) t.match(await session.send(MESSAGE), { result: 'sent' });
  t.strictSame({ connections, mails: server.mails.length }, { connections: 1, mails: 3 });
});

t.test('what the server refuses', async (t) => {
  const cases: [where: string, code: number, result: string][] = [
    ['onMailFrom', 450, 'transient'],
    ['onMailFrom', 550, 'permanent'],
    ['onRcptTo', 451, 'transient'],
    ['onRcptTo', 550, 'permanent'],
    ['onData', 452, 'transient'],
    ['onData', 554, 'permanent'],
    // Not about the message: the server is not in the mood for anybody.
    ['onConnect', 554, 'transient'],
    ['onConnect', 421, 'transient'],
  ];
  for (const [where, code, result] of cases) {
    const handler =
      where === 'onData'
        ? (stream: NodeJS.ReadableStream, ...rest: unknown[]) => {
            stream.resume();
            stream.on('end', () => refuse(code)(...rest));
          }
        : refuse(code);
    const server = await startMailServer(t, { [where]: handler });
    const sent = await openSession(t, server.url).send(MESSAGE);
    t.equal(sent.result, result, `${where} ${code}: ${sent.error}`);
    t.match(sent.error, String(code));
  }
});

t.test('a refused login is our trouble, not the message’s', async (t) => {
  const server = await startMailServer(t, {
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: (_auth, _session, callback) => callback(new Error('wrong password')),
  });
  const url = server.url.replace('smtp://', 'smtp://user:secret%21@');
  const sent = await openSession(t, url).send(MESSAGE);
  t.match(sent, { result: 'transient', code: '535' });
  t.notMatch(sent.error, /secret/);
});

t.test('a login that is accepted', async (t) => {
  const seen: unknown[] = [];
  const server = await startMailServer(t, {
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: (auth, _session, callback) => {
      seen.push([auth.username, auth.password]);
      callback(null, { user: 1 });
    },
  });
  const url = server.url.replace('smtp://', 'smtp://user:secret%21@');
  t.match(await openSession(t, url).send(MESSAGE), { result: 'sent' });
  t.strictSame(seen, [['user', 'secret!']]);
});

t.test('nobody there, or a connection that breaks', async (t) => {
  const nobody = openSession(t, `smtp://127.0.0.1:${await closedPort()}`);
  t.match(await nobody.send(MESSAGE), { result: 'transient', code: 'ESOCKET' });
  const cases: [command: string, result: string][] = [
    ['EHLO', 'transient'],
    ['MAIL', 'transient'],
    ['RCPT', 'transient'],
    ['DATA', 'transient'],
    ['.', 'uncertain'],
  ];
  for (const [command, result] of cases) {
    const url = await startScripted(t, { DATA: '354 go on', [command]: null });
    const sent = await openSession(t, url).send(MESSAGE);
    t.equal(sent.result, result, `lost at ${command}: ${sent.error}`);
  }
});

t.test('asked at DATA whether it may be handed over, and not before', async (t) => {
  const cases: [answers: Record<string, string>, may: () => Promise<boolean>, asked: number][] = [
    [{ RCPT: '450 later' }, async () => true, 0],
    [{ DATA: '450 later' }, async () => true, 0],
    [{ DATA: '354 go on' }, async () => false, 1],
    [{ DATA: '354 go on' }, () => Promise.reject(new Error('no database')), 1],
  ];
  for (const [answers, may, wanted] of cases) {
    let asked = 0;
    const session = openSession(t, await startScripted(t, answers));
    const sent = await session.send(MESSAGE, () => {
      asked += 1;
      return may();
    });
    t.match(
      { asked, result: sent.result },
      { asked: wanted, result: 'transient' },
      sent.error ?? '',
    );
  }
  const server = await startMailServer(t);
  const refused = await openSession(t, server.url).send(MESSAGE, async () => false);
  t.match(refused, { result: 'transient' });
  t.match(await openSession(t, server.url).send(MESSAGE, async () => true), { result: 'sent' });
  t.equal(server.mails.length, 1, 'of the refused one nothing arrived');
});

t.test('a connection that died while idle: once more on a fresh one', async (t) => {
  const sockets: net.Socket[] = [];
  const server = await startMailServer(t);
  const relay = net.createServer((socket) => {
    const upstream = net.connect(server.port, '127.0.0.1');
    sockets.push(socket);
    socket.on('close', () => upstream.destroy());
    socket.on('error', () => {}).pipe(upstream);
    upstream.on('error', () => {}).pipe(socket);
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => relay.close(resolve));
  });
  const session = openSession(t, `smtp://127.0.0.1:${(relay.address() as AddressInfo).port}`);
  t.match(await session.send(MESSAGE), { result: 'sent' });
  sockets[0]?.destroy();
  t.match(await session.send(MESSAGE), { result: 'sent' });
  t.equal(server.mails.length, 2);
});

t.test('a server that stalls costs seconds', async (t) => {
  t.match(parseSmtpUrl('smtp://mail.example').connection, {
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    dnsTimeout: 10_000,
    socketTimeout: 20_000,
  });
  const limits = { connectMs: 100, socketMs: 200 };
  for (const [what, stall] of Object.entries(STALLS)) {
    const server = await startStalledMailServer(t, stall);
    const settings = parseSmtpUrl(server.url, limits);
    const startedAt = performance.now();
    await t.rejects(verifySmtp(settings), { code: 'ETIMEDOUT' }, what);
    t.ok(performance.now() - startedAt < PROMPT_MS, `${what}: promptly`);
    await until('it has hung up', () => server.open.size === 0);
  }
  for (const what of ['no greeting', 'silent after EHLO'] as const) {
    const server = await startStalledMailServer(t, STALLS[what]);
    const session = new SmtpSession(parseSmtpUrl(server.url, limits));
    t.match(await session.send(MESSAGE), { result: 'transient', code: 'ETIMEDOUT' }, what);
  }
  const good = await startMailServer(t);
  await verifySmtp(parseSmtpUrl(good.url));
});

t.test('the SMTP address is read, or refused without quoting it', async (t) => {
  t.match(parseSmtpUrl('smtps://mail.example'), { connection: { secure: true }, login: null });
  t.match(parseSmtpUrl('smtp://[::1]:2525'), { connection: { host: '::1', port: 2525 } });
  for (const url of ['', 'mail.example', 'http://user:secret@host', 'smtp://']) {
    t.throws(() => parseSmtpUrl(url), /^(?!.*secret).*SMTP URL/, url);
  }
});
