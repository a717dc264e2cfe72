import http from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import Fastify from 'fastify';
import t, { type Test } from 'tap';
import { type ReceiverOptions, webhookHandler, webhookPlugin } from '../../receiver/index.js';
import { newSecret, signedRequest } from './sign.ts';

const SECRET = newSecret();
const MAX_BODY_BYTES = 8 * 1024;
const CHUNK_BYTES = 64 * 1024;
const ENDLESS_BYTES = 256 * 1024 * 1024;

interface Mounted {
  url: string;
  handled: string[];
  problems: unknown[];
}

type Mount = (t: Test, options: ReceiverOptions) => Promise<string>;

const MOUNTS: Record<string, Mount> = {
  'node:http': (t, options) => listen(t, http.createServer(webhookHandler(options))),
  Express: (t, options) => {
    const app = express();
    app.post('/hooks', webhookHandler(options));
    app.use(express.json());
    app.post('/other', (request, response) => void response.json(request.body));
    return listen(t, http.createServer(app));
  },
  'Express behind express.raw()': (t, options) => {
    const app = express();
    app.use(express.raw({ type: '*/*', limit: '1mb' }));
    app.post('/hooks', webhookHandler(options));
    return listen(t, http.createServer(app));
  },
  Fastify: async (t, options) => {
    const app = Fastify();
    t.teardown(() => app.close());
    await app.register(webhookPlugin, { prefix: '/hooks', ...options });
    app.post('/other', async (request) => request.body);
    return app.listen({ host: '127.0.0.1', port: 0 });
  },
};

async function listen(t: Test, server: http.Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function mount(
  t: Test,
  by: Mount | undefined,
  changes: Partial<ReceiverOptions> = {},
): Promise<Mounted> {
  const handled: string[] = [];
  const problems: unknown[] = [];
  const options: ReceiverOptions = {
    secrets: SECRET,
    maxBodyBytes: MAX_BODY_BYTES,
    handle: (event) => handled.push(event.id),
    onError: (error) => problems.push(error),
    ...changes,
  };
  if (!by) throw new Error('There is no such way in.');
  return { url: `${await by(t, options)}/hooks`, handled, problems };
}

async function post(url: string, body: string, headers: Record<string, string> = {}) {
  const { 'Content-Length': _computed, ...rest } = headers;
  const response = await fetch(url, { method: 'POST', body, headers: rest });
  return { status: response.status, body: await response.json() };
}

for (const [name, by] of Object.entries(MOUNTS)) {
  t.test(name, async (t) => {
    const { url, handled } = await mount(t, by);
    const { id, body, headers } = signedRequest(SECRET);
    t.strictSame(await post(url, body, headers), { status: 200, body: { ok: true } });
    t.match(await post(url, body, headers), { status: 200, body: { duplicate: true } });
    t.strictSame(handled, [id]);

    const { 'Content-Type': _json, ...untyped } = signedRequest(SECRET, { id }).headers;
    t.equal((await post(url, body, { ...untyped, 'content-type': 'text/odd' })).status, 200);
    t.strictSame(await post(url, `${body} `, headers), {
      status: 401,
      body: { error: 'bad_signature' },
    });
    t.strictSame(await post(url, body), { status: 401, body: { error: 'missing_header' } });
    t.strictSame(await post(url, '', headers), { status: 401, body: { error: 'bad_signature' } });
    t.strictSame(await post(url, 'x'.repeat(MAX_BODY_BYTES + 1), headers), {
      status: 413,
      body: { error: 'too_large' },
    });
    t.equal((await post(url, 'x'.repeat(MAX_BODY_BYTES), headers)).status, 401, 'just fits');
    t.strictSame(handled, [id]);
  });
}

t.test('a body without end: the connection is closed', async (t) => {
  for (const name of ['node:http', 'Express', 'Fastify']) {
    const { url, handled } = await mount(t, MOUNTS[name]);
    const request = http.request(url, { method: 'POST', headers: signedRequest(SECRET).headers });
    request.removeHeader('Content-Length');
    let written = 0;
    let isClosed = false;
    request
      .on('error', () => {})
      .on('close', () => {
        isClosed = true;
      });
    let status = 0;
    request.on('response', (response) => {
      status = response.statusCode ?? 0;
      response.resume();
    });
    while (!isClosed && written < ENDLESS_BYTES) {
      request.write(Buffer.alloc(CHUNK_BYTES));
      written += CHUNK_BYTES;
      await new Promise(setImmediate);
    }
    // The answer can be lost where the sender still writes.
    t.ok([0, 413].includes(status), `${name}: ${status}`);
    t.ok(isClosed, `${name}: closed after ${written} bytes`);
    t.strictSame(handled, []);
  }
});

t.test('other routes keep their parsers', async (t) => {
  for (const name of ['Express', 'Fastify']) {
    const { url } = await mount(t, MOUNTS[name]);
    const headers = { 'Content-Type': 'application/json' };
    const { body } = await post(url.replace('/hooks', '/other'), '{"a":1}', headers);
    t.strictSame(body, { a: 1 }, name);
  }
});

t.test('behind a parser the mistake is named, and nothing is verified', async (t) => {
  const { url, handled, problems } = await mount(t, (t, options) => {
    const app = express();
    app.use(express.json());
    app.post('/hooks', webhookHandler(options));
    return listen(t, http.createServer(app));
  });
  const { body, headers } = signedRequest(SECRET);
  t.equal((await post(url, body, headers)).status, 500);
  t.match(problems, [{ message: /put the webhook handler in front/ }]);
  t.strictSame(handled, []);
});

t.test('only POST, and the answer waits for the handler', async (t) => {
  let finish = () => {};
  let isHandling = false;
  const { url } = await mount(t, MOUNTS['node:http'], {
    handle: () => {
      isHandling = true;
      return new Promise<void>((resolve) => {
        finish = resolve;
      });
    },
  });
  const got = await fetch(url);
  t.strictSame([got.status, got.headers.get('allow')], [405, 'POST']);

  const { body, headers } = signedRequest(SECRET);
  let isAnswered = false;
  const answer = post(url, body, headers).then((result) => {
    isAnswered = true;
    return result;
  });
  while (!isHandling) await new Promise(setImmediate);
  t.equal(isAnswered, false);
  finish();
  t.equal((await answer).status, 200);
});

t.test('a sender that hangs up in the middle of the body', async (t) => {
  const { url, handled, problems } = await mount(t, MOUNTS['node:http']);
  const request = http.request(url, { method: 'POST', headers: { 'Content-Length': '100' } });
  request.on('error', () => {});
  request.write('half');
  await new Promise((resolve) => request.on('socket', (socket) => socket.on('connect', resolve)));
  request.destroy();
  const { body, headers } = signedRequest(SECRET);
  t.equal((await post(url, body, headers)).status, 200, 'the server goes on');
  t.strictSame([handled.length, problems], [1, []]);
});
