import { execFile } from 'node:child_process';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { Sender, shorten } from '../../../worker/webhooks/send.ts';
import { answerWith, closedPort, startReceiver, until } from '../support.ts';
import { certificate } from './certificate.ts';

const POST = path.join(import.meta.dirname, 'post.ts');
const BODY = Buffer.from('{"a":"ü"}');

function startSender(t: Test, timeoutMs = 5_000): Sender {
  const sender = new Sender(timeoutMs);
  t.teardown(() => sender.close());
  return sender;
}

function outgoing(url: string, addresses = ['127.0.0.1']) {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(BODY.length) };
  return { url: new URL(url), addresses, headers, body: BODY };
}

/** A TCP server that does with each connection what the test says. */
async function startRaw(
  t: Test,
  onConnection: (socket: net.Socket) => void,
  { host = '127.0.0.1', port = 0 } = {},
): Promise<string> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

t.test('the bytes arrive as they are, and the status comes back', async (t) => {
  const receiver = await startReceiver(t, answerWith(202));
  const sender = startSender(t);
  t.strictSame(await sender.post(outgoing(`${receiver.url}?a=1%202`)), { status: 202 });
  const [request] = receiver.received;
  t.ok(request?.body.equals(BODY));
  t.equal(request?.path, '/hook?a=1%202');
  t.equal(request?.headers.host, `127.0.0.1:${receiver.port}`);
});

t.test('statuses are reported, redirects not followed', async (t) => {
  for (const status of [200, 204, 302, 404, 410, 422, 500, 503]) {
    const receiver = await startReceiver(t, (_request, response) => {
      response.writeHead(status, { Location: '/elsewhere' }).end();
    });
    t.strictSame(await startSender(t).post(outgoing(receiver.url)), { status }, String(status));
    t.equal(receiver.received.length, 1);
  }
});

t.test('one connection serves many sends, also with small bodies in the answer', async (t) => {
  const receiver = await startReceiver(t, (_request, response) => response.end('thank you'));
  const sender = startSender(t);
  for (let i = 0; i < 5; i += 1) {
    await sender.post(outgoing(receiver.url));
    // The answer's body is discarded behind our back; the connection is free after that.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const ports = new Set(receiver.received.map((request) => request.clientPort));
  t.ok(ports.size < 5, `${ports.size} connections for 5 sends`);
});

t.test('the connect goes to the approved address, whatever the name says', async (t) => {
  const receiver = await startReceiver(t);
  const url = `http://name-without-an-address.invalid:${receiver.port}/`;
  t.strictSame(await startSender(t).post(outgoing(url)), { status: 204 });
  t.equal(receiver.received[0]?.headers.host, `name-without-an-address.invalid:${receiver.port}`);
});

t.test('the next approved address is tried when nobody listens on the first', async (t) => {
  const receiver = await startReceiver(t);
  const answer = await startSender(t).post(outgoing(receiver.url, ['127.0.0.2', '127.0.0.1']));
  t.strictSame(answer, { status: 204 });
});

t.test('of many addresses a few are tried', async (t) => {
  const receiver = await startReceiver(t);
  const nobody = [2, 3, 4, 5].map((last) => `127.0.0.${last}`);
  const sender = startSender(t);
  const fourth = await sender.post(outgoing(receiver.url, [...nobody.slice(1), '127.0.0.1']));
  t.strictSame(fourth, { status: 204 });
  const fifth = await sender.post(outgoing(receiver.url, [...nobody, '127.0.0.1']));
  t.match(fifth, { error: /ECONNREFUSED/ });
});

t.test('an address that is not approved is never used for a kept-alive connection', async (t) => {
  const receiver = await startReceiver(t);
  const sender = startSender(t);
  await sender.post(outgoing(receiver.url));
  t.match(await sender.post(outgoing(receiver.url, ['127.0.0.2'])), { error: /ECONNREFUSED/ });
  t.equal(receiver.received.length, 1);
});

t.test('nobody listens', async (t) => {
  const answer = await startSender(t).post(outgoing(`http://127.0.0.1:${await closedPort()}/`));
  t.match(answer, { error: /ECONNREFUSED/ });
});

t.test('a receiver that never answers, or answers one byte at a time', async (t) => {
  const hanging = await startReceiver(t, () => {});
  t.strictSame(await startSender(t, 100).post(outgoing(hanging.url)), {
    error: 'No answer within 0.1 seconds (ETIMEDOUT).',
  });
  for (const beginning of ['', 'HTTP/1.1 200 OK\r\nX: ']) {
    const slow = await startRaw(t, (socket) => {
      socket.write(beginning);
      const timer = setInterval(() => socket.write('H'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    t.match(await startSender(t, 150).post(outgoing(slow)), { error: /not valid HTTP|ETIMEDOUT/ });
  }
});

t.test('an endless body: the status counts and the connection is cut', async (t) => {
  let written = 0;
  let isCut = false;
  const receiver = await startReceiver(t, (_request, response) => {
    response.writeHead(200);
    const more = () => {
      const isOpen = response.write(Buffer.alloc(64 * 1024));
      written += 64 * 1024;
      if (isOpen && !isCut) setImmediate(more);
    };
    response.on('drain', more);
    response.on('close', () => {
      isCut = true;
    });
    more();
  });
  const before = process.memoryUsage();
  t.strictSame(await startSender(t).post(outgoing(receiver.url)), { status: 200 });
  await until('the connection is cut', () => isCut);
  t.ok(written < 50 * 1024 * 1024, `${written} bytes written`);
  const after = process.memoryUsage();
  const growth = after.heapUsed + after.external - before.heapUsed - before.external;
  t.ok(growth < 64 * 1024 * 1024, `the heap and its buffers grew by ${growth} bytes`);
});

t.test('a body that comes byte by byte: the connection is not kept for it', async (t) => {
  let isCut = false;
  const url = await startRaw(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n');
    const timer = setInterval(() => socket.write('a'), 20);
    socket.on('close', () => {
      clearInterval(timer);
      isCut = true;
    });
  });
  t.strictSame(await startSender(t).post(outgoing(url)), { status: 200 });
  await until('the connection is cut', () => isCut);
});

t.test('an endless header', async (t) => {
  const url = await startRaw(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write(`X: ${'a'.repeat(4096)}\r\n`), 1);
    socket.on('close', () => clearInterval(timer));
  });
  t.match(await startSender(t).post(outgoing(url)), { error: /not valid HTTP \(HPE_HEADER/ });
});

t.test('answers that are none', async (t) => {
  const nonsense = await startRaw(t, (socket) => socket.end('hello\r\n\r\n'));
  t.match(await startSender(t).post(outgoing(nonsense)), { error: /not valid HTTP/ });
  const closing = await startRaw(t, (socket) => socket.once('data', () => socket.end()));
  t.match(await startSender(t).post(outgoing(closing)), { error: /ECONNRESET/ });
  const upgrading = await startRaw(t, (socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    });
  });
  t.match(await startSender(t).post(outgoing(upgrading)), { error: /./ });
});

t.test('a kept-alive connection that is reset as it is used is replaced once', async (t) => {
  const receiver = await startReceiver(t);
  const sender = startSender(t);
  let resets = 0;
  // Hands on the first request of each connection and resets the connection at its second.
  const relay = await startRaw(t, (socket) => {
    const upstream = net.connect(receiver.port, '127.0.0.1');
    upstream.on('error', () => {}).pipe(socket);
    let requests = 0;
    socket.on('data', (chunk) => {
      if (chunk.includes('POST')) requests += 1;
      if (requests < 2) {
        upstream.write(chunk);
      } else {
        resets += 1;
        upstream.destroy();
        socket.resetAndDestroy();
      }
    });
  });
  let sent = 0;
  // Whether a send finds the connection of the one before it free is a matter of microseconds.
  while (resets === 0 && sent < 100) {
    t.strictSame(await sender.post(outgoing(relay)), { status: 204 });
    sent += 1;
  }
  t.equal(resets, 1);
  t.equal(receiver.received.length, sent);
});

t.test('a stop cuts off what is in flight', async (t) => {
  const hanging = await startReceiver(t, () => {});
  const sender = startSender(t);
  const sending = sender.post(outgoing(hanging.url));
  await until('the request arrived', () => hanging.received.length === 1);
  sender.close();
  t.match(await sending, { error: /./ });
  t.equal(sender.isClosed, true);
});

t.test('an answer is an answer however it goes on', async (t) => {
  const answers: [what: string, onRequest: (socket: net.Socket) => void][] = [
    [
      'closes in the middle of its body',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nab'),
    ],
    [
      'resets in the middle of its body',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nab', () =>
          socket.resetAndDestroy(),
        );
      },
    ],
    // A thousand times as much as it looks like, for whoever unpacks it.
    [
      'is packed',
      (socket) =>
        socket.write(
          'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9999999\r\n\r\n\x1f\x8b',
        ),
    ],
    [
      'says that it will come, a few times',
      (socket) => {
        socket.write(
          'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
        );
      },
    ],
  ];
  for (const [what, onRequest] of answers) {
    const url = await startRaw(t, (socket) => socket.once('data', () => onRequest(socket)));
    t.strictSame(await startSender(t).post(outgoing(url)), { status: 200 }, what);
  }
  const early = await startRaw(t, (socket) => socket.write('HTTP/1.1 202 Accepted\r\n\r\n'));
  t.strictSame(await startSender(t).post(outgoing(early)), { status: 202 }, 'before the request');
  const cut = await startRaw(t, (socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nA')),
  );
  t.match(
    await startSender(t).post(outgoing(cut)),
    { error: /./ },
    'no answer until its header ends',
  );
});

t.test('interim answers without end', async (t) => {
  for (const status of ['100 Continue', '103 Early Hints']) {
    let isCut = false;
    const url = await startRaw(t, (socket) => {
      socket.on('close', () => {
        isCut = true;
      });
      const more = () => {
        while (!socket.destroyed && socket.write(`HTTP/1.1 ${status}\r\n\r\n`));
      };
      socket.on('drain', more).once('data', more);
    });
    const answer = await startSender(t).post(outgoing(url));
    t.strictSame(answer, { error: 'Interim answers without end.' });
    await until('the connection is cut', () => isCut);
  }
});

t.test('a fresh connection that is reset is not tried twice', async (t) => {
  let connections = 0;
  const url = await startRaw(
    t,
    (socket) => {
      connections += 1;
      socket.once('data', () => socket.resetAndDestroy());
    },
    { host: '0.0.0.0' },
  );
  t.match(await startSender(t).post(outgoing(url)), { error: /ECONNRESET/ });
  t.equal(connections, 1);
  const two = outgoing(url, ['127.0.0.1', '127.0.0.2']);
  t.match(await startSender(t).post(two), { error: /ECONNRESET/ });
  t.equal(connections, 2, 'nor at another address: the first one may have got it');
});

t.test('a connection that ended up elsewhere is dropped before anything is written', async (t) => {
  const receiver = await startReceiver(t);
  // To the unspecified address means to this machine: the socket says 127.0.0.1.
  t.match(await startSender(t).post(outgoing(receiver.url, ['0.0.0.0'])), {
    error: 'The connection went to 127.0.0.1, which was not approved.',
  });
  t.equal(receiver.received.length, 0);
  t.strictSame(await startSender(t).post(outgoing(receiver.url, ['::ffff:127.0.0.1'])), {
    status: 204,
  });
});

/** A receiver with TLS. Of each request: the name its connection was made for, and the host it names. */
async function startSecure(t: Test) {
  const requests: { servername: string; hostname: string }[] = [];
  let connections = 0;
  const server = https.createServer(certificate, (request, response) => {
    requests.push({
      servername: String((request.socket as TLSSocket & { servername: string }).servername),
      hostname: String(request.headers.host).replace(/:.*/, ''),
    });
    request.resume().on('end', () => response.writeHead(204).end());
  });
  server.on('secureConnection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { port, requests, connections: () => connections };
}

t.test('a certificate nobody vouches for', async (t) => {
  const secure = await startSecure(t);
  const answer = await startSender(t).post(outgoing(`https://one.example:${secure.port}/`));
  t.match(answer, { error: /SELF_SIGNED/ });
  t.strictSame(secure.requests, []);
  const plain = await startReceiver(t);
  t.match(await startSender(t).post(outgoing(`https://127.0.0.1:${plain.port}/`)), { error: /./ });
  t.equal(plain.received.length, 0);
});

t.test('an address that swallows what it gets leaves time for the next', async (t) => {
  const secure = await startSecure(t);
  await startRaw(t, () => {}, { host: '127.0.0.2', port: secure.port });
  const url = `https://one.example:${secure.port}/`;
  const answer = await startSender(t, 2_000).post(outgoing(url, ['127.0.0.2', '127.0.0.1']));
  t.match(answer, { error: /SELF_SIGNED/ }, 'the certificate is that of the second');
});

t.test('a certificate of somebody else', async (t) => {
  const secure = await startSecure(t);
  const hosts = ['one.example', 'receiver.example', '127.0.0.1'];
  const trusted = path.join(t.testdir({ 'trusted.pem': certificate.cert }), 'trusted.pem');
  // Whom a process trusts is read at its start.
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', POST, ...hosts.map((host) => `https://${host}:${secure.port}/`)],
    { env: { ...process.env, NODE_EXTRA_CA_CERTS: trusted } },
  );
  const [own, other, address] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.strictSame(own, { status: 204 }, 'it is made for this host');
  t.match(other, { error: /ERR_TLS_CERT_ALTNAME_INVALID/ });
  t.match(address, { error: /ERR_TLS_CERT_ALTNAME_INVALID/ }, 'nor for an address');
  t.equal(secure.requests.length, 1);
});

t.test('two hosts on one address share no secure connection', async (t) => {
  const secure = await startSecure(t);
  const sender = startSender(t);
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  t.teardown(() => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  });
  // Whether a send finds the connection of the one before it free is a matter of microseconds.
  while (secure.requests.length < 100 && secure.connections() > secure.requests.length - 4) {
    for (const host of ['one.example', 'two.example']) {
      const answer = await sender.post(outgoing(`https://${host}:${secure.port}/`));
      t.strictSame(answer, { status: 204 });
    }
  }
  t.ok(secure.connections() < secure.requests.length, 'connections are used again');
  t.ok(secure.requests.every(({ servername, hostname }) => servername === hostname));
});

t.test('errors are at most 255 code points, surrogate pairs whole', async (t) => {
  t.equal(shorten('short'), 'short');
  const long = shorten('🚀'.repeat(300));
  t.equal(Array.from(long).length, 255);
  t.notMatch(long, /\p{Surrogate}/u);
  t.equal(shorten('a\0b'), 'ab', 'Postgres stores no NUL');
});
