import { connect } from 'node:net';
import pg from 'pg';
import t from 'tap';
import { databaseProblem } from '../../server/database-problem.ts';
import { startStage } from './support/stage.ts';

t.test('errors', async (t) => {
  const { address, owner, anonymous } = await startStage(t);

  t.test('an unknown path is JSON, whatever the method', async (t) => {
    for (const method of ['GET', 'POST', 'DELETE', 'PATCH']) {
      const answer = await anonymous.send(method, '/api/nothing?x=1');
      t.equal(answer.status, 404, method);
      t.match(answer.headers.get('content-type'), /application\/json/);
      t.match(answer.body, { success: false, error: 'not_found', message: String });
    }
  });

  t.test(
    'the request id is taken over when it is harmless, and repeated in the body',
    async (t) => {
      const given = await anonymous.get('/api/me', { headers: { 'x-request-id': 'trace-42' } });
      t.equal(given.headers.get('x-request-id'), 'trace-42');
      t.equal(given.pick('requestId'), 'trace-42');
      const odd = await anonymous.get('/api/me', { headers: { 'x-request-id': '<script>' } });
      t.match(odd.headers.get('x-request-id'), /^[0-9a-f-]{36}$/);
    },
  );

  t.test('what cannot be read is a 4xx', async (t) => {
    const post = (raw: string, headers = {}) =>
      anonymous.post('/api/login', undefined, { raw, headers });
    t.match((await post('{"email":')).body, {
      error: 'invalid_request',
      message: /not valid JSON/,
    });
    t.equal((await post('{"__proto__":{"a":1}}')).status, 400);
    t.equal((await post('')).status, 400);
    t.equal((await post('x', { 'content-type': 'text/plain' })).status, 415);
    t.equal((await post('<a/>', { 'content-type': 'application/xml' })).status, 415);
    const large = await post(JSON.stringify({ email: 'x'.repeat(2.5 * 1024 * 1024) }));
    t.equal(large.status, 413);
    t.match(large.body, { success: false, error: 'payload_too_large' });
    const fits = await post(JSON.stringify({ email: 'x'.repeat(1.9 * 1024 * 1024) }));
    t.equal(fits.status, 400, 'below 2 MB it is read');
    t.equal((await anonymous.get('/api/%ff')).status, 400);
    t.equal((await anonymous.get('/api/documents/%00')).status, 401);
    t.equal((await owner.get('/api/documents/%00')).status, 400);
    t.equal((await owner.get(`/api/documents/${'9'.repeat(299)}`)).status, 400);
    t.ok((await owner.get(`/api/documents/${'9'.repeat(5000)}`)).status < 500);
  });

  t.test('bytes that are no HTTP are refused and do no harm', async (t) => {
    const { port, hostname } = new URL(address);
    const text = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), hostname, () => socket.end('\u0000garbage\r\n\r\n'));
      let got = '';
      socket.on('data', (data) => {
        got += data;
      });
      socket.on('close', () => resolve(got));
    });
    t.match(text, /^HTTP\/1.1 400/);
    t.match(text, /"success":false/);
    const headers = { cookie: 'x'.repeat(20_000) };
    const large = await anonymous.get('/api/me', { headers });
    t.equal(large.status, 431);
    t.equal(large.pick('error'), 'headers_too_large');
    t.equal((await anonymous.get('/healthz')).status, 200);
  });

  t.test('/docs describes every route, and / leads there', async (t) => {
    const home = await anonymous.get('/');
    t.equal(home.status, 302);
    t.equal(home.headers.get('location'), '/docs');
    t.equal((await anonymous.get('/docs')).status, 200);
    const document = await anonymous.get('/docs/json');
    const paths = document.pick<Record<string, Record<string, Operation>>>('paths');
    t.ok(Object.keys(paths).length >= 35);
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        t.ok(operation.summary && operation.tags?.length === 1, `${method} ${path}`);
      }
    }
  });
});

interface Operation {
  summary?: string;
  tags?: string[];
}

t.test('SQLSTATEs', async (t) => {
  const raised = (code: string, more: Partial<pg.DatabaseError> = {}) =>
    databaseProblem(
      Object.assign(new pg.DatabaseError('Our own words.', 0, 'error'), {
        code,
        routine: 'exec_stmt_raise',
        hint: 'Do that.',
        ...more,
      }),
    );
  const table: [state: string, status: number, error: string][] = [
    ['42501', 403, 'forbidden'],
    ['P0002', 404, 'not_found'],
    ['23505', 409, 'conflict'],
    ['23503', 409, 'conflict'],
    ['22023', 400, 'invalid_request'],
    ['22P02', 400, 'invalid_request'],
    ['22021', 400, 'invalid_request'],
    ['22003', 400, 'invalid_request'],
    ['23514', 400, 'invalid_request'],
    ['54000', 400, 'invalid_request'],
    ['28000', 401, 'unauthenticated'],
    ['40001', 503, 'try_again'],
    ['40P01', 503, 'try_again'],
    ['55P03', 503, 'try_again'],
    ['53100', 503, 'unavailable'],
    ['53300', 503, 'unavailable'],
    ['57P01', 503, 'unavailable'],
    ['08006', 503, 'unavailable'],
    ['57014', 503, 'timeout'],
    ['XX000', 500, 'internal'],
    ['42P01', 500, 'internal'],
  ];
  for (const [state, status, error] of table) {
    const problem = raised(state);
    t.equal(problem?.status, status, state);
    t.equal(problem?.code, error, state);
    const isShown = status < 500;
    t.equal(problem?.message === 'Our own words.', isShown, `${state} is shown: ${isShown}`);
    t.equal(problem?.hint, isShown ? 'Do that.' : undefined);
    const foreign = raised(state, { routine: 'ExecConstraints' });
    t.not(foreign?.message, 'Our own words.', `${state}: the driver's text is never shown`);
    t.equal(foreign?.hint, undefined);
  }
  t.equal(raised('22023', { detail: 'invalid_cursor' })?.code, 'invalid_cursor');
  t.equal(raised('22023', { detail: 'Some prose.' })?.code, 'invalid_request');
  t.equal(raised('28P01', { routine: 'auth_failed' })?.status, 503, 'our own login was refused');
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'ENOTFOUND']) {
    t.equal(databaseProblem(Object.assign(new Error('x'), { code }))?.status, 503, code);
  }
  t.equal(databaseProblem(new Error('Connection terminated unexpectedly'))?.status, 503);
  t.equal(databaseProblem(new Error('something else')), undefined);
});
