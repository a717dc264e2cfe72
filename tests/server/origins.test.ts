import t from 'tap';
import { Client } from './support/client.ts';
import { ask } from './support/peer.ts';
import { startServer, startStage } from './support/stage.ts';

const EVIL = 'http://evil.example';
const POLICY = [
  "base-uri 'self'",
  "connect-src 'self' ws: wss:",
  "default-src 'self'",
  "font-src 'self' data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "img-src 'self' data: blob: https:",
  "object-src 'none'",
  "script-src 'self'",
  "script-src-attr 'none'",
  "style-src 'self' 'unsafe-inline'",
];

t.test('origins', async (t) => {
  const { address, owner, anonymous, database } = await startStage(t, {
    appUrl: 'https://bell.example.org',
    corsOrigin: 'https://app.example.org',
  });
  const cookie = `__Host-sessionToken=${owner.token}`;
  const save = (headers: Record<string, string>, client = anonymous) =>
    client.post('/api/notifications/read-all', undefined, { headers });

  t.test('pages of the own host, of APP_URL and of CORS_ORIGIN may call', async (t) => {
    const own = [address, 'https://bell.example.org', 'https://app.example.org'];
    for (const origin of own) {
      const answer = await owner.get('/api/me', { headers: { origin } });
      t.equal(answer.status, 200, origin);
      t.equal(answer.headers.get('access-control-allow-origin'), origin);
      t.equal(answer.headers.get('access-control-allow-credentials'), 'true');
    }
  });

  t.test('any other origin is refused, its token notwithstanding', async (t) => {
    for (const origin of [EVIL, 'null', 'https://sub.bell.example.org', 'http://app.example.org']) {
      const answer = await owner.get('/api/me', { headers: { origin } });
      t.equal(answer.status, 403, origin);
      t.equal(answer.pick('error'), 'origin_refused');
      t.equal(answer.headers.get('access-control-allow-origin'), null);
    }
  });

  t.test('a preflight of another origin gets no permission', async (t) => {
    const ask = (origin: string) =>
      anonymous.send('OPTIONS', '/api/me', undefined, {
        headers: { origin, 'access-control-request-method': 'PUT' },
      });
    t.equal((await ask(EVIL)).headers.get('access-control-allow-origin'), null);
    const allowed = await ask('https://app.example.org');
    t.equal(allowed.headers.get('access-control-allow-origin'), 'https://app.example.org');
    t.match(allowed.headers.get('access-control-allow-methods'), /PUT/);
  });

  t.test('a write by cookie needs an acceptable Origin; a bearer does not', async (t) => {
    t.equal((await save({ cookie })).status, 403);
    t.equal((await save({ cookie, origin: EVIL })).status, 403);
    t.equal((await save({ cookie, origin: 'https://bell.example.org' })).status, 200);
    t.equal((await save({}, owner)).status, 200);
    t.equal((await anonymous.get('/api/me', { headers: { cookie } })).status, 200, 'reading');
  });

  t.test('a refused write has done nothing, however its address is written', async (t) => {
    const create = (path: string, headers: Record<string, string>) =>
      anonymous.post(path, { name: 'Trace' }, { headers });
    const traces = async () => {
      const { rows } = await database.admin.query(
        "select count(*)::int as count from bellwire.workspaces where name = 'Trace'",
      );
      return rows[0].count;
    };
    const paths = ['/api/workspaces', '/%61pi/workspaces', '/api/%77orkspaces'];
    for (const path of paths) {
      for (const origin of [undefined, EVIL, 'null']) {
        const headers = { cookie, ...(origin === undefined ? {} : { origin }) };
        t.equal((await create(path, headers)).status, 403, `${path} ${origin}`);
      }
      const byToken = { authorization: `Bearer ${owner.token}`, origin: EVIL };
      t.equal((await create(path, byToken)).status, 403, `${path} with a token`);
    }
    t.equal(await traces(), 0);
    for (const path of paths) await create(path, { cookie, origin: address });
    t.equal(await traces(), paths.length, 'and with an Origin of ours it is done');
  });

  t.test('either name of the cookie makes a write one of a browser; a bearer wins', async (t) => {
    for (const name of ['sessionToken', '__Host-sessionToken']) {
      const headers = { cookie: `a=b; ${name}=x` };
      t.equal((await save(headers)).status, 403, name);
      t.equal((await save(headers, owner)).status, 200, `${name} and a bearer`);
    }
    t.equal((await save({ cookie: 'sessionTokens=x' })).status, 401, 'another name');
    t.equal((await save({ cookie, authorization: 'Bearer ' })).status, 403, 'a bearer of nothing');
    t.equal((await save({ cookie, authorization: 'Basic eA==' })).status, 403);
  });

  t.test('the Host header is read as a browser writes an origin', async (t) => {
    const { port } = new URL(address);
    const from = (origin: string, host: string) =>
      ask(address, '/api/unknown', { headers: { origin, host } });
    t.equal((await from('http://bell.local', 'BELL.Local')).status, 404, 'case');
    t.equal((await from('https://bell.local', 'bell.local:443')).status, 404, 'the default port');
    t.equal((await from('http://bell.local:8080', 'bell.local')).status, 403, 'another port');
    t.equal((await from(`http://127.0.0.1:${port}`, 'bell.local')).status, 403, 'another name');
    t.equal((await from('http://x@bell.local', 'bell.local@evil.example')).status, 403);
  });

  t.test('X-Forwarded-Host does not make an origin acceptable', async (t) => {
    const headers = { cookie, origin: EVIL, 'x-forwarded-host': 'evil.example' };
    t.equal((await save(headers)).status, 403);
  });

  t.test('security headers are on every answer but the probes', async (t) => {
    for (const path of ['/api/me', '/api/nothing', '/docs', '/nothing']) {
      const { headers } = await anonymous.get(path);
      t.match(headers.get('content-security-policy'), /default-src 'self'/, path);
      t.equal(headers.get('x-frame-options'), 'DENY', path);
      t.equal(headers.get('x-content-type-options'), 'nosniff', path);
      t.equal(headers.get('cross-origin-opener-policy'), 'same-origin-allow-popups', path);
      const policy = (headers.get('content-security-policy') ?? '').split(';').sort();
      t.same(policy, POLICY, path);
      t.match(headers.get('x-request-id'), /^[0-9a-f-]{36}$/, path);
    }
    t.equal((await anonymous.get('/healthz')).headers.get('content-security-policy'), null);
  });

  t.test('without CORS_ORIGIN only the own hosts', async (t) => {
    const { address: other } = await startServer(t, database);
    const client = new Client(other, owner.token);
    const origin = 'https://app.example.org';
    t.equal((await client.get('/api/me', { headers: { origin } })).status, 403);
    t.equal((await client.get('/api/me', { headers: { origin: other } })).status, 200);
  });

  t.test('pages of this machine may call outside production, and in it may not', async (t) => {
    const { address: other } = await startServer(t, database, { isProduction: false });
    const from = (at: string, origin: string) =>
      new Client(at, owner.token).get('/api/me', { headers: { origin } });
    for (const origin of ['http://localhost:5173', 'http://127.0.0.1:1', 'https://localhost']) {
      const answer = await from(other, origin);
      t.equal(answer.status, 200, origin);
      t.equal(answer.headers.get('access-control-allow-origin'), origin);
      t.equal((await from(address, origin)).status, 403, `${origin} in production`);
    }
    for (const origin of ['http://localhost.evil.example', 'http://127.0.0.2:1', EVIL, 'null']) {
      t.equal((await from(other, origin)).status, 403, origin);
    }
  });
});
