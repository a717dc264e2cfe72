import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import t, { type Test } from 'tap';
import { resolveHostname } from '../../outgoing/resolve.ts';

const TYPE_A = 1;
const HEADER_BYTES = 12;
const NO_SUCH_NAME = 3;
const PATIENCE_MS = 10_000;

/** What a name server says: addresses of the asked family, `unknown`, or nothing at all. */
type Zone = Record<string, { A?: string[]; AAAA?: string[] } | 'silent'>;

/** A real name server on a free port, which counts the questions. */
async function startNameServer(t: Test, zone: Zone) {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (question, from) => {
    const { name, type, end } = readQuestion(question);
    asked.push(`${name} ${type === TYPE_A ? 'A' : 'AAAA'}`);
    const entry = zone[name];
    const addresses = entry === 'silent' ? undefined : entry?.[type === TYPE_A ? 'A' : 'AAAA'];
    if (entry && !addresses) return;
    socket.send(answer(question.subarray(0, end), type, addresses), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise<void>((resolve) => socket.close(() => resolve())));
  return { servers: [`127.0.0.1:${socket.address().port}`], asked };
}

function readQuestion(message: Buffer) {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function answer(question: Buffer, type: number, addresses: string[] | undefined): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(addresses ? 0x8180 : 0x8180 | NO_SUCH_NAME, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses?.length ?? 0, 6);
  head.writeUInt32BE(0, 8);
  const records = (addresses ?? []).map((address) => {
    const data = isIPv6(address) ? ipv6Bytes(address) : Buffer.from(address.split('.').map(Number));
    const record = Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([head, ...records]);
}

/** Of an address with eight groups. */
function ipv6Bytes(address: string): Buffer {
  return Buffer.from(address.split(':').flatMap((group) => [0, Number.parseInt(group, 16)]));
}

t.test('both families of a name', async (t) => {
  const { servers } = await startNameServer(t, {
    'both.example': { A: ['192.0.2.1', '192.0.2.2'], AAAA: ['1:2:3:4:5:6:7:8'] },
    'four.example': { A: ['192.0.2.1'], AAAA: [] },
  });
  const signal = AbortSignal.timeout(PATIENCE_MS);
  t.strictSame(await resolveHostname('both.example', signal, servers), [
    '192.0.2.1',
    '192.0.2.2',
    '1:2:3:4:5:6:7:8',
  ]);
  t.strictSame(await resolveHostname('four.example', signal, servers), ['192.0.2.1']);
});

t.test('a name server that keeps silent about one family does not hide the other', async (t) => {
  const { servers } = await startNameServer(t, { 'half.example': { A: ['192.0.2.1'] } });
  const startedAt = performance.now();
  const signal = AbortSignal.timeout(PATIENCE_MS);
  t.strictSame(await resolveHostname('half.example', signal, servers), ['192.0.2.1']);
  t.ok(performance.now() - startedAt < 1_400, 'well before the other would have been given up');
});

t.test('what DNS does not know is looked up on the machine', async (t) => {
  const { servers, asked } = await startNameServer(t, {});
  const signal = AbortSignal.timeout(PATIENCE_MS);
  // Every machine knows this one without asking anybody.
  t.strictSame(await resolveHostname('127.0.0.1', signal, servers), ['127.0.0.1']);
  t.strictSame(asked.sort(), ['127.0.0.1 A', '127.0.0.1 AAAA']);
  t.ok((await resolveHostname('localhost', signal, servers)).includes('127.0.0.1'));
  t.equal(asked.length, 2, 'localhost is nothing to ask DNS about');
});

t.test('a name server that does not answer is left when nobody waits any more', async (t) => {
  const { servers } = await startNameServer(t, { '127.0.0.2': 'silent' });
  // The machine would answer this one: that it is not asked shows that no thread was taken.
  await t.rejects(resolveHostname('127.0.0.2', AbortSignal.timeout(50), servers), {
    code: 'ECANCELLED',
  });
});

t.test('many look-ups take turns, and those nobody waits for are left out', async (t) => {
  const { servers } = await startNameServer(t, {});
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const all = Array.from({ length: 20 }, () => resolveHostname('127.0.0.1', signal, servers));
  t.equal((await Promise.all(all)).length, 20);
  const over = AbortSignal.abort();
  const late = [resolveHostname('localhost', over), resolveHostname('localhost', over)];
  t.match(await Promise.allSettled(late), [
    { status: 'rejected', reason: { name: 'AbortError' } },
    { status: 'rejected', reason: { name: 'AbortError' } },
  ]);
  t.ok((await resolveHostname('localhost', signal)).length > 0, 'the place is free again');
});
