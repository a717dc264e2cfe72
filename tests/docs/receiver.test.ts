import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import t, { type Test } from 'tap';
import type { KnownEvent, ReceiverStore } from '../../receiver/index.js';
import { createReceiver } from '../../receiver/index.js';
import { newSecret, type Signed, signedRequest } from '../receiver/sign.ts';
import { createDatabase } from '../support/database.ts';
import { blocks, readPage, section, tableRows } from './markdown.ts';

const PAGE = readPage('docs/receiver.md');
const SECRET = newSecret();
process.env.WEBHOOK_SECRET = SECRET;

/** The block of a section, as a module in this checkout, where the package finds itself. */
async function importSnippet(t: Test, heading: string, language = 'js') {
  const [code = ''] = blocks(section(PAGE, heading), language);
  const name = language === 'js' ? 'snippet.mjs' : 'snippet.mts';
  return import(`${t.testdir({ [name]: code })}/${name}`);
}

async function listen(t: Test, listener: http.RequestListener): Promise<string> {
  const server = http.createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function statusOf(url: string, { body, headers }: Signed): Promise<number> {
  const { 'Content-Length': _computed, ...rest } = headers;
  return (await fetch(url, { method: 'POST', body, headers: rest })).status;
}

const tampered = (request: Signed): Signed => ({ ...request, body: `${request.body} ` });

t.test('Express', async (t) => {
  const { app } = await importSnippet(t, 'Express and node:http');
  const url = await listen(t, app);
  const request = signedRequest(SECRET);
  t.equal(await statusOf(`${url}/hooks`, request), 200);
  t.equal(await statusOf(`${url}/hooks`, tampered(request)), 401);
});

t.test('Fastify', async (t) => {
  const { app }: { app: FastifyInstance } = await importSnippet(t, 'Fastify');
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => app.close());
  const request = signedRequest(SECRET);
  t.equal(await statusOf(`${url}/hooks`, request), 200);
  t.equal(await statusOf(`${url}/hooks`, tampered(request)), 401);
});

t.test('requests of fetch', async (t) => {
  const { POST } = await importSnippet(t, 'Anything else');
  const written = t.capture(console, 'log');
  const answer = async ({ body, headers }: Signed): Promise<Response> =>
    POST(new Request('https://receiver.example/', { method: 'POST', body, headers }));
  const request = signedRequest(SECRET);
  t.equal((await answer(request)).status, 200);
  t.strictSame(await (await answer(request)).json(), { ok: true, duplicate: true });
  t.equal((await answer(tampered(request))).status, 401);
  t.match(written(), [{ args: ['archive.rename'] }]);
});

t.test('verify, and types of your own', async (t) => {
  const { readEvent } = await importSnippet(t, 'Verify, and nothing else');
  const request = signedRequest(SECRET);
  t.match(readEvent(request.body, request.headers), { id: request.id });
  t.equal(readEvent(`${request.body} `, request.headers), null);
  t.throws(() => readEvent(request.body, null));

  const { handler } = await importSnippet(t, 'Types', 'ts');
  t.equal(await statusOf(await listen(t, handler), request), 200);
});

t.test('the tables name every option and code, and no other', async (t) => {
  const declared = readPage('receiver/index.d.ts');
  const [, options = ''] = /interface ReceiverOptions<.*?> \{(.*?)^\}/ms.exec(declared) ?? [];
  const [, codes = ''] = /type VerificationCode =(.*?);/s.exec(declared) ?? [];
  const shown = (heading: string) =>
    tableRows(section(PAGE, heading)).map(([name]) => name?.replaceAll('`', ''));
  t.strictSame(
    shown('Options'),
    Array.from(options.matchAll(/^ {2}(\w+)\??:/gm), ([, name]) => name),
  );
  t.strictSame(
    shown('Verify, and nothing else'),
    Array.from(codes.matchAll(/'(\w+)'/g), ([, code]) => code),
  );
});

t.test('the types have the data that webhooks.md shows', async (t) => {
  const declared = readPage('receiver/index.d.ts');
  const keysOf = (text = '') => Array.from(text.matchAll(/(\w+): [\w |]+/g), ([, key]) => key);
  const shared = Object.fromEntries(
    Array.from(declared.matchAll(/^interface (\w+Data) \{(.*?)^\}/gms), ([, name, text]) => [
      name,
      keysOf(text),
    ]),
  );
  const typed = Array.from(
    declared.matchAll(/\| Envelope<'([\w.]+)', (\w+)?(?:(?: & )?\{(.*?)\})?>/g),
    ([, type, base, more]) => [type, [...(shared[base ?? ''] ?? []), ...keysOf(more)].sort()],
  );
  const shown = tableRows(section(readPage('docs/webhooks.md'), 'The body, version 1'))
    .map(([type, data]) => [type?.replaceAll('`', ''), data?.replaceAll('`', '') ?? ''] as const)
    .filter(([type, data]) => data.startsWith('{') && type !== 'ticket.close')
    .map(([type, data]) => [type, Object.keys(JSON.parse(data)).sort()]);
  t.equal(shown.length, 9);
  t.strictSame(typed, shown);
});

t.test('the store in Postgres', async (t) => {
  const { admin } = await createDatabase(t);
  const [tables = ''] = blocks(section(PAGE, 'Remember'), 'sql');
  await admin.query(tables);
  const { PostgresStore } = await importSnippet(t, 'Remember');
  const store: ReceiverStore = new PostgresStore(admin, 'one');
  const other: ReceiverStore = new PostgresStore(admin, 'two');

  const claims = await Promise.all(Array.from({ length: 5 }, () => store.claim('a')));
  t.strictSame(claims.sort(), ['busy', 'busy', 'busy', 'busy', 'mine'], 'one of all takes it');
  t.equal(await other.claim('a'), 'mine', 'another subscription has its own');
  await store.release('a');
  t.equal(await store.claim('a'), 'mine');
  await admin.query("update handled_webhooks set claimed_until = now() - interval '1 second'");
  t.equal(await store.claim('a'), 'mine', 'the process that had it died');
  await store.finish('a');
  await store.release('a');
  await admin.query("update handled_webhooks set claimed_until = now() - interval '1 second'");
  t.equal(await store.claim('a'), 'done');

  t.equal(await store.position(), null);
  await store.setPosition(5);
  await store.setPosition(3);
  t.strictSame([await store.position(), await other.position()], [5, null]);

  const handled: KnownEvent[] = [];
  const handle = (event: KnownEvent) => handled.push(event);
  const first = createReceiver({ secrets: SECRET, handle, store });
  const second = createReceiver({
    secrets: SECRET,
    handle,
    store: new PostgresStore(admin, 'one'),
  });
  const { body, headers } = signedRequest(SECRET, { position: 6 });
  t.equal((await first(body, headers)).status, 200);
  t.match(await second(body, headers), { status: 200, body: { duplicate: true } });
  t.strictSame([handled.length, await store.position()], [1, 6]);
});
