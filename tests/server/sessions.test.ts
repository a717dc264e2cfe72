import { createHash } from 'node:crypto';
import t from 'tap';
import { hashPassword, Passwords } from '../../server/passwords.ts';
import { cookieToken, digestOf, sessionCookie } from '../../server/session-token.ts';
import { until } from '../worker/support.ts';
import { Client } from './support/client.ts';
import { connect } from './support/socket.ts';
import { createPerson, PASSWORD, signIn, startServer, startStage } from './support/stage.ts';

t.test('sign-in and sessions', async (t) => {
  const passwords = new Passwords();
  const stage = await startStage(t, { passwords });
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
    const nothing = await anonymous.post('/api/logout');
    t.equal(nothing.status, 401, 'nothing to end');
    for (const each of [out, nothing]) t.equal(each.headers.get('cache-control'), 'no-store');
    const emptyJson = await owner.post('/api/logout', undefined, {
      raw: '',
      headers: { 'content-type': 'application/json', authorization: 'Bearer unknown' },
    });
    t.equal(emptyJson.status, 200, 'an empty body under the name of JSON');
  });

  t.test('on https the cookie is __Host- and Secure', async (t) => {
    for (const appUrl of ['https://bell.example.org', 'HTTPS://bell.example.org']) {
      t.match(sessionCookie(appUrl, 'x', 1), /^__Host-sessionToken=x; .*; Secure$/, appUrl);
    }
    t.match(sessionCookie('http://https.example.org', 'x', 1), /^sessionToken=x; .*Max-Age=1$/);
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

  t.test('a cookie that only looks like ours is another one', async (t) => {
    const { address } = await startServer(t, database, { appUrl: 'https://bell.example.org' });
    const byCookie = (cookie: string) =>
      new Client(address).get('/api/me', {
        headers: { cookie: Buffer.from(cookie).toString('latin1') },
      });
    const name = '__Host-sessionToken';
    const token = owner.token ?? '';
    for (const lead of ['', ' ', '\t', 'a=b; ', ' \t a=b;\t']) {
      t.equal((await byCookie(`${lead}${name}=${token}`)).status, 200, JSON.stringify(lead));
    }
    for (const lead of ['\ufeff', '\u00a0', '\u2000', '\u3000', '\u0085', 'x', '"']) {
      const cookie = `${lead}${name}=${token}`;
      t.equal(cookieToken({ cookie }, name), undefined, JSON.stringify(lead));
      t.equal((await byCookie(cookie)).status, 401, `${JSON.stringify(lead)} in UTF-8`);
      const planted = `${lead}${name}=planted; sessionToken=planted; ${name}=${token}`;
      t.equal((await byCookie(planted)).status, 200, 'ours counts wherever it is');
    }
    // One byte on the wire, which Node reads as U+00A0.
    const raw = await new Client(address).get('/api/me', {
      headers: { cookie: `\u00a0${name}=${token}` },
    });
    t.equal(raw.status, 401);
    t.equal((await byCookie(`${name} =${token}`)).status, 200, 'a blank of the header');
    t.equal(cookieToken({ cookie: `${name}\u00a0=${token}` }, name), undefined);
    t.equal(cookieToken({ cookie: `${name}=` }, name), undefined, 'empty');
  });

  t.test('who cannot sign in costs as much work as who can, and gets one answer', async (t) => {
    const people = ['Nick Nopassword', 'Sam Second', 'Dora Deactivated'];
    const passwordHash = await hashPassword(PASSWORD);
    const [bare, second, gone] = await Promise.all(
      people.map((name) => createPerson(database, stage.address, name, passwordHash)),
    );
    await database.admin.query('delete from identity.passwords where user_id = $1', [bare?.id]);
    await database.admin.query(
      `insert into identity.second_factors (user_id, secret, enabled_at) values ($1, 'ABCDEFGHABCDEFGH', now())`,
      [second?.id],
    );
    await database.admin.query('update bellwire.users set deactivated_at = now() where id = $1', [
      gone?.id,
    ]);
    const attempt = async (email: string, password: string) => {
      const before = passwords.verifications;
      const startedAt = performance.now();
      const answer = await anonymous.post('/api/login', { email, password });
      return {
        status: answer.status,
        text: answer.text.replace(/"requestId":"[^"]+"/, ''),
        work: passwords.verifications - before,
        ms: performance.now() - startedAt,
      };
    };
    const wrong = await attempt(owner.email, 'wrong password');
    t.equal(wrong.work, 1);
    const attempts: Record<string, [email: string, password: string]> = {
      unknown: ['no@example.org', 'wrong password'],
      'without a password': [bare?.email ?? '', PASSWORD],
      'with a second factor': [second?.email ?? '', 'wrong password'],
      deactivated: [gone?.email ?? '', PASSWORD],
    };
    for (const [what, [email, password]] of Object.entries(attempts)) {
      const { status, text, work } = await attempt(email, password);
      t.same({ status, text, work }, { status: wrong.status, text: wrong.text, work: 1 }, what);
    }
    // The shortest of some, taken in turn: what else the machine does makes times longer only.
    const timed: [who: string, email: string, password: string][] = [
      ['wrong', owner.email, 'wrong'],
      ['unknown', 'no@example.org', 'wrong'],
      ['deactivated', gone?.email ?? '', PASSWORD],
    ];
    const shortest = new Map<string, number>();
    for (let count = 0; count < 8; count += 1) {
      for (const [who, email, password] of timed) {
        const { ms } = await attempt(email, password);
        shortest.set(who, Math.min(shortest.get(who) ?? ms, ms));
      }
    }
    for (const who of ['unknown', 'deactivated']) {
      const ratio = (shortest.get(who) ?? 0) / (shortest.get('wrong') ?? 0);
      // Without the work it takes a tenth.
      t.ok(ratio > 0.4 && ratio < 2.5, `${who} against wrong: ${ratio.toFixed(2)}`);
    }
  });

  t.test('a hash of less work is renewed by a sign-in, and only by one', async (t) => {
    const weak = await hashPassword(PASSWORD, { memoryKib: 8_192, iterations: 1, parallelism: 1 });
    const wanda = await createPerson(database, stage.address, 'Wanda Weak', weak);
    const stored = async () =>
      (
        await database.admin.query(
          'select password_hash from identity.passwords where user_id = $1',
          [wanda.id],
        )
      ).rows[0]?.password_hash as string;
    await until('it is renewed', async () => (await stored()) !== weak);
    const renewed = await stored();
    t.match(renewed, /m=19456,t=2,p=1/);
    const again = await anonymous.post('/api/login', { email: wanda.email, password: PASSWORD });
    t.equal(again.status, 200);
    await anonymous.post('/api/login', { email: wanda.email, password: 'wrong' });
    t.equal(await stored(), renewed);
  });

  t.test('sessions are listed and ended, one or all', async (t) => {
    const stan = await signIn(stage.address, stage.stranger.email);
    const other = await signIn(stage.address, stage.stranger.email);
    const listed = await stan.get('/api/sessions', { headers: { 'user-agent': 'Lynx' } });
    t.match(listed.pick<unknown[]>('items').length, 3);
    t.notMatch(listed.text, /digest/i);
    const items = listed.pick<{ id: number; isCurrent: boolean; ip: string }[]>('items');
    t.equal(items.filter(({ isCurrent }) => isCurrent).length, 1);
    t.ok(items.every(({ ip }) => ip === '127.0.0.1'));
    const { socket } = await connect(stage.address, other.token);
    const theirs = (await other.get('/api/sessions')).pick<typeof items>('items');
    const otherId = theirs.find(({ isCurrent }) => isCurrent)?.id;
    t.equal((await stage.owner.delete(`/api/sessions/${otherId}`)).status, 404);
    t.equal((await stan.delete(`/api/sessions/${otherId}`)).status, 200);
    t.match(await socket.ended(), { code: 4004 });
    t.equal((await other.get('/api/me')).status, 401);
    const everywhere = (isThisOneKept: boolean) =>
      stan.post('/api/logout-everywhere', { isThisOneKept });
    t.equal((await everywhere(true)).headers.get('set-cookie'), null);
    t.equal((await stage.stranger.get('/api/me')).status, 401);
    t.equal((await stan.get('/api/me')).status, 200);
    t.match((await everywhere(false)).headers.get('set-cookie'), /Max-Age=0/);
    t.equal((await stan.get('/api/me')).status, 401);
  });

  t.test('last seen is noted beside a request, never before its answer', async (t) => {
    const gus = await signIn(stage.address, owner.email);
    const digest = digestOf(gus.token ?? '');
    const age = () =>
      database.admin.query(
        "update identity.sessions set last_seen_at = now() - interval '1 hour' where token_digest = $1",
        [digest],
      );
    const isNoted = async () =>
      (
        await database.admin.query(
          "select last_seen_at > now() - interval '1 minute' as noted from identity.sessions where token_digest = $1",
          [digest],
        )
      ).rows[0]?.noted;
    await age();
    t.equal((await gus.get('/api/me')).status, 200);
    await until('it is noted', isNoted);
    await age();
    const holder = await database.admin.connect();
    await holder.query('begin; lock table identity.sessions in share mode');
    t.equal((await gus.get('/api/me')).status, 200, 'though the note cannot be written');
    await holder.query('rollback');
    holder.release();
    await until('it is noted later', isNoted);
  });

  t.test('a note that cannot be written is logged, and the request is answered', async (t) => {
    const { app, address } = await startServer(t, database);
    const lines: string[] = [];
    app.log.warn = ((fields: object, text: string) => {
      lines.push(JSON.stringify({ ...fields, text }));
    }) as typeof app.log.warn;
    const nora = await signIn(address, owner.email);
    const fails = (how: string) =>
      database.admin.query(
        `create or replace function identity.touch_session(token_digest text) returns void
         language plpgsql security definer set search_path = '' as $$ begin ${how} end $$`,
      );
    const age = () =>
      database.admin.query(
        "update identity.sessions set last_seen_at = now() - interval '1 hour' where token_digest = $1",
        [digestOf(nora.token ?? '')],
      );
    const [found] = (
      await database.admin.query<{ source: string }>(
        "select pg_get_functiondef('identity.touch_session'::regproc) as source",
      )
    ).rows;
    await age();
    await fails("raise exception 'no room for %', token_digest using errcode = '53100';");
    t.equal((await nora.get('/api/me')).status, 200);
    await until('it is logged', () => lines.length > 0);
    t.strictSame(lines, ['{"code":"53100","text":"could not note that a session is in use"}']);
    t.equal((await nora.get('/api/me')).status, 200, 'the next one, too');
    await until('and logged again', () => lines.length === 2);
    await database.admin.query(found?.source ?? '');
    t.equal((await nora.get('/api/me')).status, 200);
    await until('it is noted once it can be', async () => {
      const { rows: noted } = await database.admin.query(
        "select from identity.sessions where token_digest = $1 and last_seen_at > now() - interval '1 minute'",
        [digestOf(nora.token ?? '')],
      );
      return noted.length === 1;
    });
    t.equal(lines.length, 2, 'without a word');
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
