import { connect as connectTcp } from 'node:net';
import t from 'tap';
import { urlWithDatabase } from '../../db/urls.ts';
import { Readiness } from '../../operations/readiness.ts';
import { buildApp } from '../../server/app.ts';
import { runServer } from '../../server/main.ts';
import { createDatabase } from '../support/database.ts';
import { Client } from './support/client.ts';
import { startServer } from './support/stage.ts';

const NOWHERE = 'postgres://bellwire_server:x@127.0.0.1:1/none';
const QUIET = { appUrl: 'http://localhost:3000', logLevel: 'silent' };

t.test('probes', async (t) => {
  const database = await createDatabase(t);
  const { address } = await startServer(t, database);
  const client = new Client(address);

  t.test('healthy and ready', async (t) => {
    const [healthy, ready] = [await client.get('/healthz'), await client.get('/readyz')];
    t.match([healthy.status, ready.status], [200, 200]);
    t.same([healthy.body, ready.body], [{ ok: true }, { ready: true }]);
    for (const each of [healthy, ready]) t.equal(each.headers.get('cache-control'), 'no-store');
  });

  t.test('a burst of probes is one query, and so is every second of them', async (t) => {
    const { app } = await startServer(t, database);
    const { rows } = await database.admin.query<{ source: string }>(
      "select pg_get_functiondef('bellwire.readiness'::regproc) as source",
    );
    // A sequence counts without regard to transactions and to when statistics are written.
    await database.admin.query(
      `create sequence public.probes;
       grant usage on sequence public.probes to public;
       create or replace function bellwire.readiness(known_migrations text[] default '{}')
       returns table (is_migrated boolean) language sql security definer set search_path = '' as $$
         select nextval('public.probes') > 0
       $$`,
    );
    const queries = async () => {
      const { rows } = await database.admin.query<{ count: number }>(
        'select case when is_called then last_value else 0 end::int as count from public.probes',
      );
      return Number(rows[0]?.count);
    };
    const probe = async () => (await app.inject('/readyz')).statusCode;
    const startedAt = performance.now();
    const answers = await Promise.all(Array.from({ length: 200 }, probe));
    t.ok(answers.every((status) => status === 200));
    t.equal(await queries(), 1, 'at once');
    while ((await queries()) < 2) await probe();
    t.ok(performance.now() - startedAt > 1_000, 'the answer was used for a second');
    await database.admin.query(String(rows[0]?.source));
  });

  t.test('no CORS, no limits, no sign-in in front of them', async (t) => {
    const headers = { origin: 'http://evil.example', authorization: 'Bearer nonsense' };
    t.equal((await client.get('/healthz', { headers })).status, 200);
    t.equal((await client.get('/readyz', { headers })).status, 200);
  });

  t.test('without a database: alive, and not ready because of it', async (t) => {
    const app = await buildApp({ ...QUIET, databaseUrl: NOWHERE });
    t.teardown(() => app.close());
    t.equal((await app.inject('/healthz')).statusCode, 200);
    const ready = await app.inject('/readyz');
    t.equal(ready.statusCode, 503);
    t.same(ready.json(), { ready: false, reason: 'database' });
  });

  t.test('a database that was never migrated', async (t) => {
    await database.admin.query('select 1');
    const url = urlWithDatabase(database.serverUrl, 'postgres');
    const app = await buildApp({ ...QUIET, databaseUrl: url });
    t.teardown(() => app.close());
    t.same((await app.inject('/readyz')).json(), { ready: false, reason: 'migrations' });
    await t.rejects(runServer({ ...QUIET, databaseUrl: url, port: 0 }), {
      message: /not migrated.*bellwire migrate/,
    });
  });

  t.test('a database of an older version is not ready, one of a newer version is', async (t) => {
    const isReady = async () => {
      const app = await buildApp({ ...QUIET, databaseUrl: database.serverUrl });
      const answer = await app.inject('/readyz');
      await app.close();
      return answer.json();
    };
    const migrations = 'bellwire.schema_migrations';
    await database.admin.query(`insert into ${migrations} (name, run_on) values ('9999_x', now())`);
    t.same(await isReady(), { ready: true }, 'and goes on while the next one comes');
    for (const which of ['min', 'max']) {
      const { rows } = await database.admin.query<{ name: string }>(
        `delete from ${migrations}
          where name = (select ${which}(name) from ${migrations} where name <> '9999_x')
         returning name`,
      );
      const name = String(rows[0]?.name);
      t.same(await isReady(), { ready: false, reason: 'migrations' }, name);
      await database.admin.query(`insert into ${migrations} (name, run_on) values ($1, now())`, [
        name,
      ]);
    }
    t.same(await isReady(), { ready: true });
  });

  t.test('a server that cannot reach its database does not start', async (t) => {
    await t.rejects(runServer({ ...QUIET, databaseUrl: NOWHERE, port: 0 }), {
      message: /DATABASE_SERVER_URL.*ECONNREFUSED/,
    });
  });
});

t.test(
  'a query that hangs is given up after two seconds, and is not joined by others',
  async (t) => {
    let asked = 0;
    let answer = (_isMigrated: boolean) => {};
    const readiness = new Readiness(() => {
      asked += 1;
      return new Promise((resolve) => {
        answer = resolve;
      });
    });
    const startedAt = performance.now();
    t.equal(await readiness.reason(), 'database');
    const waited = performance.now() - startedAt;
    t.ok(waited > 1_900 && waited < 4_000, `${Math.round(waited)} ms`);
    const second = readiness.reason();
    answer(true);
    t.equal(await second, undefined, 'who comes later hears what it says in the end');
    t.equal(asked, 1);
    readiness.isShuttingDown = true;
    t.equal(await readiness.reason(), 'shutting_down', 'the first reason');
  },
);

t.test('start and stop', async (t) => {
  const database = await createDatabase(t);
  const options = { ...QUIET, databaseUrl: database.serverUrl, port: 0 };

  t.test('a taken port is named', async (t) => {
    const first = await runServer(options);
    const port = Number(new URL(first.address).port);
    await t.rejects(runServer({ ...options, port }), {
      message: new RegExp(`port ${port} .*PORT`),
    });
    await first.stop();
  });

  t.test('a pool of one is enough for many at once, and stays one', async (t) => {
    const server = await runServer({ ...options, poolSize: 1 });
    const authorization = `Bearer ${'A'.repeat(64)}`;
    const answers = await Promise.all(
      Array.from({ length: 40 }, () =>
        fetch(`${server.address}/api/me`, { headers: { authorization } }),
      ),
    );
    t.ok(answers.every(({ status }) => status === 401));
    const { rows } = await database.admin.query(
      `select count(*)::int as count from pg_stat_activity
        where datname = current_database() and application_name = 'bellwire-server'
          and query !~ '(push_tail|listen)'`,
    );
    t.equal(rows[0].count, 1);
    await server.stop();
  });

  t.test('stopping refuses new connections, twice is once, and leaves no connection', async (t) => {
    const server = await runServer(options);
    t.equal((await fetch(`${server.address}/readyz`)).status, 200);
    await Promise.all([server.stop(), server.stop()]);
    await t.rejects(fetch(`${server.address}/healthz`));
    const { rows } = await database.admin.query(
      `select count(*)::int as count from pg_stat_activity
        where datname = current_database() and application_name = 'bellwire-server'`,
    );
    t.equal(rows[0].count, 0);
  });

  t.test('what is under way is answered while stopping, and readiness is refused', async (t) => {
    const app = await buildApp({ ...options });
    await app.listen({ port: 0, host: '127.0.0.1' });
    app.readiness.isShuttingDown = true;
    const answer = await app.inject('/readyz');
    t.equal(answer.statusCode, 503);
    t.same(answer.json(), { ready: false, reason: 'shutting_down' });
    await app.close();
  });

  t.test(
    'a first run that fails leaves the server running, and the next start makes it',
    async (t) => {
      const administrator = { name: 'Root', email: 'root@example.org', password: 'correct horse' };
      const workspaces = async () => {
        const { rows } = await database.admin.query('select name from bellwire.workspaces');
        return rows.length;
      };
      const rename = (from: string, to: string) =>
        database.admin.query(`alter function suite.${from}(bigint) rename to ${to}`);
      await rename('seed_first_run', 'seed_no_run');
      const first = await runServer({ ...options, administrator });
      t.equal((await fetch(`${first.address}/readyz`)).status, 200);
      await first.stop();
      t.equal(await workspaces(), 0);
      await rename('seed_no_run', 'seed_first_run');
      const second = await runServer({ ...options, administrator });
      await second.stop();
      t.equal(await workspaces(), 1);
    },
  );

  t.test('a client that never finishes its request does not hold the stop', async (t) => {
    t.setTimeout(30_000);
    const server = await runServer(options);
    const { port } = new URL(server.address);
    const socket = connectTcp(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write('POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n');
    socket.write('Content-Length: 100\r\n\r\n{');
    await new Promise((resolve) => setTimeout(resolve, 100));
    const startedAt = Date.now();
    await server.stop();
    t.ok(Date.now() - startedAt < 11_000);
    socket.destroy();
  });
});
