import t from 'tap';
import { Client } from './support/client.ts';
import { startServer, startStage } from './support/stage.ts';

const EVIL = 'http://evil.example';

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
});
