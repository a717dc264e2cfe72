import fastify from 'fastify';
import t, { type Test } from 'tap';
import { forwardersPlugin, UntrustedForwarders } from '../../server/plugins/forwarders.ts';
import { ask } from './support/peer.ts';

const MOST_PEERS = 32;

async function start(t: Test, trustProxy: string[] | false) {
  const lines: string[] = [];
  const stream = { write: (line: string) => lines.push(JSON.parse(line).msg) };
  const app = fastify({ trustProxy, logger: { level: 'warn', stream } });
  await app.register(forwardersPlugin);
  app.get('/healthz', async () => ({ ok: true }));
  t.teardown(() => app.close());
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const send = (from: string, forwarded?: string) =>
    ask(address, '/healthz', {
      from,
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    });
  return { lines, send };
}

t.test('a peer that is not trusted is named once, and served', async (t) => {
  const { lines, send } = await start(t, ['127.0.0.1/32']);
  await send('127.0.0.2');
  await send('127.0.0.1', '198.51.100.1');
  await send('127.0.0.1', ',');
  await send('127.0.0.2', ' ');
  t.same(lines, [], 'no header, or a trusted peer');
  for (const forwarded of ['198.51.100.1', '198.51.100.2']) {
    t.equal((await send('127.0.0.2', forwarded)).status, 200);
  }
  t.equal(lines.length, 1);
  t.match(lines[0], /^127\.0\.0\.2 sent X-Forwarded-For, but TRUST_PROXY does not name it/);
  await send('127.0.0.3', '198.51.100.1');
  t.equal(lines.length, 2, 'another peer');
});

t.test('who trusts nobody is told of everybody', async (t) => {
  const { lines, send } = await start(t, false);
  await send('127.0.0.1', '198.51.100.1');
  t.match(lines, [/^127\.0\.0\.1 sent/]);
});

t.test('at most 32 peers, an IPv6 network being one, and then a last line', async (t) => {
  const lines: string[] = [];
  const forwarders = new UntrustedForwarders({ warn: (line: unknown) => lines.push(String(line)) });
  for (const address of [
    '203.0.113.1',
    '::ffff:203.0.113.1',
    '2001:db8:0:1::1',
    '2001:db8:0:1:ffff::2',
    '2001:db8:0:2::1',
  ]) {
    forwarders.notice(address);
  }
  t.same(
    lines.map((line) => line.split(' ')[0]),
    ['203.0.113.1', '2001:db8:0:1::/64', '2001:db8:0:2::/64'],
  );
  for (let number = 1; number <= 1_000; number += 1) {
    forwarders.notice(`198.51.${number >> 8}.${number & 255}`);
  }
  t.equal(lines.length, MOST_PEERS + 1);
  t.match(lines.at(-1), /no more of them are named/);
});
