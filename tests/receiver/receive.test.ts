import t from 'tap';
import {
  createReceiver,
  type Gap,
  type KnownEvent,
  MemoryStore,
  type ReceiverOptions,
  type ReceiverStore,
  UnacceptableEvent,
} from '../../receiver/index.js';
import { newSecret, type Signed, signedRequest } from './sign.ts';

const SECRET = newSecret();
const silent = () => {};

/** A receiver that writes down what it handled and which gaps it saw. */
function setUp(changes: Partial<ReceiverOptions> = {}) {
  const handled: string[] = [];
  const gaps: Gap[] = [];
  const handle = (event: KnownEvent) => handled.push(event.id);
  const onGap = (gap: Gap) => gaps.push(gap);
  const receive = createReceiver({ secrets: SECRET, handle, onGap, onError: silent, ...changes });
  const send = ({ body, headers }: Signed) => receive(body, headers);
  return { handled, gaps, send, at: (position: number) => signedRequest(SECRET, { position }) };
}

const OK = { status: 200, body: { ok: true } };
const DUPLICATE = { status: 200, body: { ok: true, duplicate: true } };

t.test('handled once, however often it is sent', async (t) => {
  const { handled, send, at } = setUp();
  const first = at(1);
  t.strictSame(await send(first), OK);
  t.strictSame(await send(first), DUPLICATE, 'the answer was lost');
  const attempt = signedRequest(SECRET, { id: first.id, at: Date.now() + 10_000 });
  t.strictSame(await send(attempt), DUPLICATE, 'with the signature of a later attempt');
  t.strictSame(await send(at(2)), OK);
  t.equal(handled.length, 2);
});

t.test('sent again while it is being handled: one run, one answer for both', async (t) => {
  let runs = 0;
  let finish = silent;
  const { send, at } = setUp({
    handle: () => {
      runs += 1;
      return new Promise<void>((resolve) => {
        finish = resolve;
      });
    },
  });
  const request = at(1);
  const both = [send(request), send(request)];
  while (runs === 0) await new Promise(setImmediate);
  finish();
  t.strictSame(await Promise.all(both), [OK, OK]);
  t.equal(runs, 1);
});

t.test('a handler that fails is asked again; one that refuses for good is not', async (t) => {
  const problems: unknown[] = [];
  let problem: Error | null = new Error('no disk');
  const { send, at } = setUp({
    handle: () => {
      if (problem) throw problem;
    },
    onError: (error) => problems.push(error),
  });
  const request = at(1);
  t.strictSame(await send(request), { status: 500, body: { error: 'failed' } });
  t.match(problems, [{ message: 'no disk' }]);
  problem = new UnacceptableEvent('no such archive');
  t.strictSame(await send(request), { status: 422, body: { error: 'unacceptable' } });
  t.equal(problems.length, 1, 'a refusal is no error');
  problem = null;
  t.strictSame(await send(request), OK, 'redelivered by an administrator');
});

t.test('a gap is told once, before the event that came after it', async (t) => {
  const order: string[] = [];
  const { send, at } = setUp({
    handle: (_event, { position }) => order.push(`handled ${position}`),
    onGap: ({ expected, received }) => order.push(`gap ${expected} ${received}`),
  });
  for (const position of [1, 2, 5, 6]) await send(at(position));
  t.strictSame(order, ['handled 1', 'handled 2', 'gap 3 5', 'handled 5', 'handled 6']);
});

t.test('what is no gap', async (t) => {
  const { gaps, handled, send, at } = setUp();
  const third = at(3);
  for (const request of [third, at(4), third, at(2), at(1), at(4), at(5)]) await send(request);
  t.strictSame(gaps, [], 'a start in the middle, repetitions, older ones');
  t.equal(handled.length, 6);

  const others = setUp({ headerPrefix: 'Acme-Bell' });
  await others.send(signedRequest(SECRET, { position: 1, prefix: 'Acme-Bell' }));
  await others.send(signedRequest(SECRET, { position: 5 }));
  t.strictSame(others.gaps, [], 'a count that is not ours');
  await others.send(signedRequest(SECRET, { position: 3, prefix: 'Acme-Bell' }));
  t.strictSame(others.gaps, [{ expected: 2, received: 3 }]);
});

t.test('a delivery whose every attempt failed here is missing, too', async (t) => {
  let isBroken = false;
  const { gaps, send, at } = setUp({
    handle: () => {
      if (isBroken) throw new Error('broken');
    },
  });
  await send(at(1));
  isBroken = true;
  const second = at(2);
  for (let attempt = 0; attempt < 3; attempt += 1) await send(second);
  t.strictSame(gaps, []);
  isBroken = false;
  await send(at(3));
  t.strictSame(gaps, [{ expected: 2, received: 3 }]);

  const refusing = setUp({
    handle: (_event, { position }) => {
      if (position === 2) throw new UnacceptableEvent('not this one');
    },
  });
  for (const position of [1, 2, 3]) await refusing.send(refusing.at(position));
  t.strictSame(refusing.gaps, [], 'one that was refused on purpose was dealt with');
});

t.test('a gap that could not be told is told again', async (t) => {
  const told: Gap[] = [];
  const { handled, send, at } = setUp({
    onGap: (gap) => {
      told.push(gap);
      if (told.length === 1) throw new Error('the API is down');
    },
  });
  await send(at(1));
  const third = at(3);
  t.equal((await send(third)).status, 500);
  t.strictSame(await send(third), OK);
  t.strictSame(told, [
    { expected: 2, received: 3 },
    { expected: 2, received: 3 },
  ]);
  t.equal(handled.length, 2);
});

t.test('the memory: bounded, and from a position on', async (t) => {
  const { gaps, handled, send, at } = setUp({ store: new MemoryStore({ limit: 2, position: 0 }) });
  const requests = [2, 3, 4].map(at);
  for (const request of requests) await send(request);
  t.strictSame(gaps, [{ expected: 1, received: 2 }], 'the very first must be number 1');
  const [oldest, , newest] = requests;
  if (!oldest || !newest) throw new Error('There are three.');
  t.strictSame(await send(newest), DUPLICATE);
  t.strictSame(await send(oldest), OK, 'forgotten');
  t.equal(handled.length, 4);
});

t.test('a store that others share, or that fails', async (t) => {
  const shared = new MemoryStore();
  const other = setUp({ store: shared });
  const { send, at } = setUp({ store: shared });
  const request = at(1);
  shared.claim(request.id);
  t.strictSame(await send(request), { status: 503, body: { error: 'busy' } });
  t.equal(shared.position(), 0, 'not dealt with yet');
  shared.finish(request.id);
  t.strictSame(await other.send(request), DUPLICATE);

  const problems: unknown[] = [];
  const broken: ReceiverStore = Object.assign(new MemoryStore(), {
    claim: async () => {
      throw new Error('no connection');
    },
  });
  const failing = setUp({ store: broken, onError: (error) => problems.push(error) });
  t.equal((await failing.send(failing.at(1))).status, 500);
  t.match(problems, [{ message: 'no connection' }]);
  t.strictSame(failing.handled, []);
});

t.test('who is refused hears a code; a broken callback changes no answer', async (t) => {
  const refused: string[] = [];
  const { handled, send, at } = setUp({ onRefused: (error) => refused.push(error.code) });
  const { id, body, headers } = at(1);
  t.strictSame(await send({ id, headers, body: `${body} ` }), {
    status: 401,
    body: { error: 'bad_signature' },
  });
  const old = signedRequest(SECRET, { at: Date.now() - 400_000 });
  t.strictSame(await send(old), { status: 401, body: { error: 'too_old' } });
  t.strictSame([refused, handled], [['bad_signature', 'too_old'], []]);

  const written = t.capture(console, 'error');
  const fail = () => {
    throw new Error('no log');
  };
  const broken = setUp({ onRefused: fail, onError: fail, handle: fail });
  t.equal((await broken.send({ id, headers, body: '' })).status, 401);
  t.equal((await broken.send(broken.at(1))).status, 500);
  t.equal(written().length, 2);
});

t.test('what makes no sense is said at the start', async (t) => {
  t.throws(() => createReceiver({ secrets: 'nonsense', handle: silent }), TypeError);
  t.throws(() => createReceiver({ secrets: SECRET, handle: silent, tolerance: -1 }), TypeError);
});
