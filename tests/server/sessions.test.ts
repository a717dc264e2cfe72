import { createHash } from 'node:crypto';
import t from 'tap';
import { Client } from './support/client.ts';
import { PASSWORD, startServer, startStage } from './support/stage.ts';

t.test('sign-in and sessions', async (t) => {
  const stage = await startStage(t);
  const { database, owner, anonymous } = stage;
  const rows = async () =>
    (await database.admin.query('select * from identity.sessions order by created_at')).rows;

  t.test('a sign-in answers a token, a cookie and the person', async (t) => {
    const answer = await anonymous.post('/api/login', { email: owner.email, password: PASSWORD });
    t.equal(answer.status, 200);
    t.match(answer.body, {
      success: true,
      token: /^[A-Za-z0-9_-]{64}$/,
      expiresAt: /^\d{4}-\d\d-\d\dT.*Z$/,
      user: { id: owner.id, name: owner.name, email: owner.email, isAdmin: false },
    });
    const cookie = answer.headers.get('set-cookie') ?? '';
    t.match(
      cookie,
      /^sessionToken=[A-Za-z0-9_-]{64}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=/,
    );
    t.notMatch(cookie, /Secure/);
    t.equal(answer.headers.get('cache-control'), 'no-store');
  });

  t.test('only the digest of the token is stored', async (t) => {
    const digest = createHash('sha256')
      .update(owner.token ?? '')
      .digest('hex');
    const stored = await rows();
    t.ok(stored.some((row) => row.token_digest === digest));
    t.notOk(JSON.stringify(stored).includes(owner.token ?? '-'));
  });

  t.test(
    'a wrong password and an unknown person get one answer and one row each: none',
    async (t) => {
      const before = (await rows()).length;
      const wrong = await anonymous.post('/api/login', { email: owner.email, password: 'nope' });
      const unknown = await anonymous.post('/api/login', {
        email: 'no@example.org',
        password: 'no',
      });
      t.equal(wrong.status, 401);
      t.equal(unknown.status, 401);
      t.equal(wrong.pick('message'), unknown.pick('message'));
      t.equal(wrong.pick('error'), 'wrong_credentials');
      t.equal((await rows()).length, before);
    },
  );

  t.test('who is deactivated cannot sign in, and is signed out', async (t) => {
    await database.admin.query('update bellwire.users set deactivated_at = now() where id = $1', [
      stage.guest.id,
    ]);
    t.equal((await stage.guest.get('/api/me')).status, 401);
    const answer = await anonymous.post('/api/login', {
      email: stage.guest.email,
      password: PASSWORD,
    });
    t.equal(answer.status, 401);
  });

  t.test('bearer and cookie both say who one is; the bearer wins', async (t) => {
    t.match((await owner.get('/api/me')).body, {
      success: true,
      user: { id: owner.id, email: owner.email, unreadCount: Number },
    });
    const byCookie = (cookie: string, headers = {}) =>
      anonymous.get('/api/me', { headers: { cookie, ...headers } });
    t.equal((await byCookie(`a=b; sessionToken=${owner.token}`)).status, 200);
    t.equal((await byCookie(`SessionToken=${owner.token}`)).status, 401, 'the exact name');
    t.equal((await byCookie(`xsessionToken=${owner.token}`)).status, 401, 'the whole name');
    t.equal((await byCookie(`__Host-sessionToken=${owner.token}`)).status, 401, 'https only');
    const both = await byCookie(`sessionToken=${owner.token}`, { authorization: 'Bearer wrong' });
    t.equal(both.status, 401);
    t.equal(
      (await anonymous.get('/api/me', { headers: { authorization: 'Bearer ' } })).status,
      401,
    );
  });

  t.test('an expired session is none', async (t) => {
    const answer = await anonymous.post('/api/login', { email: owner.email, password: PASSWORD });
    const client = new Client(stage.address, answer.pick('token'));
    t.equal((await client.get('/api/me')).status, 200);
    await database.admin.query(
      "update identity.sessions set expires_at = now() - interval '1 second' where token_digest = $1",
      [
        createHash('sha256')
          .update(client.token ?? '')
          .digest('hex'),
      ],
    );
    t.equal((await client.get('/api/me')).status, 401);
  });

  t.test('logout ends this session and no other', async (t) => {
    const answer = await anonymous.post('/api/login', { email: owner.email, password: PASSWORD });
    const client = new Client(stage.address, answer.pick('token'));
    const out = await client.post('/api/logout');
    t.equal(out.status, 200);
    t.match(out.headers.get('set-cookie'), /^sessionToken=; .*Max-Age=0/);
    t.equal((await client.get('/api/me')).status, 401);
    t.equal((await owner.get('/api/me')).status, 200);
    t.equal((await client.post('/api/logout')).status, 200, 'again is fine');
    t.equal((await anonymous.post('/api/logout')).status, 401, 'nothing to end');
    const emptyJson = await owner.post('/api/logout', undefined, {
      raw: '',
      headers: { 'content-type': 'application/json', authorization: 'Bearer unknown' },
    });
    t.equal(emptyJson.status, 200, 'an empty body under the name of JSON');
  });

  t.test('on https the cookie is __Host- and Secure', async (t) => {
    const { address } = await startServer(t, database, { appUrl: 'https://bell.example.org' });
    const client = new Client(address);
    const answer = await client.post('/api/login', { email: owner.email, password: PASSWORD });
    const cookie = answer.headers.get('set-cookie') ?? '';
    t.match(cookie, /^__Host-sessionToken=.+; Path=\/; .*; Secure$/);
    const pair = cookie.split(';')[0] ?? '';
    t.equal((await client.get('/api/me', { headers: { cookie: pair } })).status, 200);
    const plain = pair.replace('__Host-', '');
    t.equal((await client.get('/api/me', { headers: { cookie: plain } })).status, 401);
  });

  t.test('sign-in attempts are limited by address', async (t) => {
    const { address } = await startServer(t, database, { signInLimit: 3 });
    const attempt = (from: string) =>
      new Client(address).post(
        '/api/login',
        { email: 'no@example.org', password: 'no' },
        { headers: { 'x-forwarded-for': from } },
      );
    for (let count = 0; count < 3; count += 1) t.equal((await attempt('203.0.113.9')).status, 401);
    const refused = await attempt('203.0.113.9');
    t.equal(refused.status, 429);
    t.match(refused.body, { success: false, error: 'too_many_requests', message: String });
    t.ok(Number(refused.headers.get('retry-after')) > 0);
    t.equal((await attempt('203.0.113.10')).status, 401, 'another address has its own');
    t.equal((await new Client(address).get('/healthz')).status, 200);
  });
});
