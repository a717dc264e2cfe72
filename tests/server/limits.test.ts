import t from 'tap';
import type { TrustedProxies } from '../../config/trust-proxy.ts';
import { clientNetwork } from '../../server/client-network.ts';
import { ask } from './support/peer.ts';
import { listApiRoutes } from './support/routes.ts';
import { PASSWORD, startServer, startStage } from './support/stage.ts';

const LIMIT = 20;
const PEOPLE_LIMIT = 60;
/** Counted like any other attempt, and refused without the work of checking a password. */
const NO_PASSWORD = { email: 'no@example.org' };

const CREDENTIAL_ROUTES = [
  'POST /api/account/deactivate',
  'POST /api/account/email/confirm',
  'POST /api/account/second-factor',
  'POST /api/account/second-factor/disable',
  'POST /api/account/second-factor/enable',
  'POST /api/account/second-factor/recovery-codes',
  'POST /api/accounts',
  'POST /api/forgot-password',
  'POST /api/invitations/accept',
  'POST /api/invitations/look-up',
  'POST /api/login',
  'POST /api/login/second-factor',
  'POST /api/reset-password',
  'POST /api/sign-up',
  'PUT /api/account/email',
  'PUT /api/account/password',
];

t.test('limits', async (t) => {
  const stage = await startStage(t);
  const { database, owner, guest, stranger } = stage;
  const { address } = await startServer(t, database, { signInLimit: LIMIT });
  const second = await startServer(t, database, { signInLimit: LIMIT });
  const attempt = (from: string, forwarded?: string, at = address) =>
    ask(at, '/api/login', {
      from,
      method: 'POST',
      body: NO_PASSWORD,
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    });
  /** The statuses of so many attempts, one after the other. */
  const statuses = async (count: number, make: (number: number) => ReturnType<typeof attempt>) => {
    const found: number[] = [];
    for (let number = 1; number <= count; number += 1) found.push((await make(number)).status);
    return found;
  };
  const used = (count: number) => [...Array(count).fill(400), 429];

  t.test('a direct client names itself anew each time and is refused at the 21st', async (t) => {
    const got = await statuses(LIMIT + 1, (n) => attempt('127.0.0.2', `198.51.100.${n}`));
    t.same(got, used(LIMIT));
    const refused = await attempt('127.0.0.2', '203.0.113.77');
    t.match(refused.body, { success: false, error: 'too_many_requests', message: String });
    const wait = Number(refused.headers['retry-after']);
    t.ok(wait > 880 && wait <= 900, 'until the window ends');
    t.match(refused.headers, {
      'x-ratelimit-limit': String(LIMIT),
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(wait),
    });
    t.equal((await attempt('127.0.0.3')).status, 400, 'its neighbour is not');
    const right = await ask(address, '/api/login', {
      from: '127.0.0.2',
      method: 'POST',
      body: { email: owner.email, password: PASSWORD },
    });
    t.equal(right.status, 429, 'nor does the right password help');
    t.equal((await ask(address, '/healthz', { from: '127.0.0.2' })).status, 200);
    t.equal((await ask(address, '/api/me', { from: '127.0.0.2' })).status, 401, 'another path');
    t.equal((await ask(address, '/api/login', { from: '127.0.0.2' })).status, 404, 'nor a GET');
  });

  t.test(
    'every route that takes a password, a code or a token is limited, and no other',
    async (t) => {
      const server = await startServer(t, database, { signInLimit: 1 });
      const from = '127.0.0.20';
      t.equal((await attempt(from, undefined, server.address)).status, 400, 'the one there is');
      const limited: string[] = [];
      for (const { method, path } of listApiRoutes(server.app)) {
        const answer = await ask(server.address, path.replace(/:[A-Za-z]+/g, '1'), {
          from,
          method,
        });
        if (answer.status === 429) limited.push(`${method} ${path}`);
      }
      t.same(limited.sort(), CREDENTIAL_ROUTES);
    },
  );

  t.test(
    'with a hop count it is the entry of that hop, and the first one with every hop',
    async (t) => {
      const left = async (trustProxy: TrustedProxies, from: string, forwarded: string) => {
        const { address: at } = await startServer(t, database, { signInLimit: LIMIT, trustProxy });
        return Number((await attempt(from, forwarded, at)).headers['x-ratelimit-remaining']);
      };
      const chain = (...entries: string[]) => entries.join(', ');
      t.equal(await left(1, '127.0.0.21', chain('192.0.2.1', '192.0.2.2', '192.0.2.3')), 19);
      t.equal(await left(1, '127.0.0.22', chain('192.0.2.9', '192.0.2.3')), 18, 'the last entry');
      t.equal(await left(2, '127.0.0.22', chain('192.0.2.3', '192.0.2.8')), 17, 'the last but one');
      t.equal(await left(true, '127.0.0.23', chain('192.0.2.3', '192.0.2.7')), 16, 'the first');
      t.equal(await left(0, '127.0.0.24', '192.0.2.3'), 19, 'nobody is believed');
      t.equal(await left(false, '127.0.0.24', '192.0.2.3'), 18, 'nor here');
    },
  );

  t.test('behind a proxy that appends, what the client wrote before does not count', async (t) => {
    const got = await statuses(LIMIT + 1, (n) => attempt('127.0.0.1', `198.51.100.${n}, 10.0.5.7`));
    t.same(got, used(LIMIT));
    t.equal((await attempt('127.0.0.1', '10.0.5.7')).status, 429, 'it is the last entry');
    const neighbour = await attempt('127.0.0.1', '10.0.5.7, 10.0.5.8');
    t.equal(neighbour.status, 400, 'a second client has a bucket of its own');
    t.equal(neighbour.headers['x-ratelimit-remaining'], String(LIMIT - 1));
  });

  t.test('two servers on one database count together', async (t) => {
    const got = await statuses(LIMIT + 1, (n) =>
      attempt('127.0.0.4', undefined, n % 2 ? address : second.address),
    );
    t.same(got, used(LIMIT));
    for (const at of [address, second.address]) {
      t.equal((await attempt('127.0.0.4', undefined, at)).status, 429);
    }
  });

  t.test('many at once are no more than one after the other', async (t) => {
    const answers = await Promise.all(
      Array.from({ length: LIMIT + 10 }, (_, n) =>
        attempt('127.0.0.5', undefined, n % 2 ? address : second.address),
      ),
    );
    t.equal(answers.filter(({ status }) => status === 400).length, LIMIT);
    t.equal(answers.filter(({ status }) => status === 429).length, 10);
  });

  t.test('the forms of one address are one client, and an IPv6 /56 is', async (t) => {
    const forms = ['203.0.113.9', '::ffff:203.0.113.9', '203.0.113.9:4711', '[::ffff:cb00:7109]:1'];
    const left: unknown[] = [];
    for (const form of forms) {
      left.push((await attempt('127.0.0.1', form)).headers['x-ratelimit-remaining']);
    }
    t.same(left, ['19', '18', '17', '16']);
    const inside = ['2001:db8:0:0::1', '2001:db8:0:ff:9::2', '[2001:db8:0:1::3]:443'];
    const outside = '2001:db8:0:100::1';
    for (const form of inside) await attempt('127.0.0.1', form);
    const next = (form: string) => attempt('127.0.0.1', form);
    t.equal((await next(inside[0] ?? '')).headers['x-ratelimit-remaining'], '16');
    t.equal((await next(outside)).headers['x-ratelimit-remaining'], '19');
  });

  t.test('what is no address shares one bucket', async (t) => {
    const names = ['unknown', '_hidden', '203.0.113', '0x7f.1', 'a:b:c'].map((text) =>
      clientNetwork(text, 56),
    );
    t.same(new Set(names).size, 1);
    t.equal(clientNetwork('fe80::1%eth0', 64), 'fe80::/64');
  });

  t.test('no address is stored', async (t) => {
    const { rows } = await database.admin.query('select * from identity.rate_limits');
    t.ok(rows.length > 0);
    t.notMatch(JSON.stringify(rows), /127\.0\.0|203\.0|2001:db8/);
  });

  t.test('a database that does not answer is no way around it', async (t) => {
    const { address } = await startServer(t, {
      ...database,
      serverUrl: 'postgres://bellwire_server:x@127.0.0.1:1/none',
    });
    t.equal((await attempt('127.0.0.6', undefined, address)).status, 503);
  });

  t.test('people are found by the beginning of name or address, and 60 times', async (t) => {
    const search = async (who: typeof owner, q: string) =>
      (await who.get(`/api/users/search?q=${encodeURIComponent(q)}`)).pick<{ name: string }[]>(
        'items',
      );
    t.match(await search(guest, ' mAt '), [{ name: 'Mats Member', email: 'mats@example.org' }]);
    t.match(await search(owner, 'gina@'), [{ id: guest.id, name: 'Gina Guest' }]);
    t.same(await search(owner, 'Member'), [], 'not from the middle');
    t.same(await search(owner, 'Stan'), [], 'nobody of another workspace');
    t.match(await search(stranger, 'Stan'), [{ name: 'Stan Stranger' }]);
    await database.admin.query('update bellwire.users set deactivated_at = now() where id = $1', [
      stage.member.id,
    ]);
    t.same(await search(owner, 'mats'), [], 'nobody who was deactivated');
    for (const literal of ['%', '_ats', 'm%', '\\']) t.same(await search(owner, literal), []);

    const find = (at: string, from = '127.0.0.7') =>
      ask(at, '/api/users/search?q=m', {
        from,
        headers: { authorization: `Bearer ${owner.token}` },
      });
    let status = 200;
    for (let number = 1; number <= PEOPLE_LIMIT; number += 1) {
      status = (await find(number % 2 ? address : second.address)).status;
    }
    t.equal(status, 200, 'the 60th');
    t.equal((await find(address)).status, 429, 'the 61st');
    t.equal((await find(second.address)).status, 429, 'at either server');
    t.equal((await find(address, '127.0.0.8')).status, 200, 'from elsewhere');
    t.equal((await attempt('127.0.0.7')).status, 400, 'signing in is counted apart');
  });
});
