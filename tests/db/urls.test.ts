import t from 'tap';
import { databaseUrls, urlWithDatabase, urlWithoutPassword, urlWithRole } from '../../db/urls.ts';

t.test('one URL is enough: the roles are switched', async (t) => {
  const urls = databaseUrls({ DATABASE_URL: 'postgres://me:secret@db:5432/app' });
  t.equal(urls.admin, 'postgres://me:secret@db:5432/app');
  t.equal(urls.server, 'postgres://me:secret@db:5432/app?options=-c%20role%3Dbellwire_server');
  t.match(urls.worker, /bellwire_worker$/);
  t.match(urls.authenticator, /authenticator$/);
});

t.test('a URL of its own wins, and none gives none', async (t) => {
  const own = databaseUrls({
    DATABASE_URL: 'postgres://me@db/app',
    DATABASE_WORKER_URL: 'postgres://bellwire_worker@db/app',
  });
  t.equal(own.worker, 'postgres://bellwire_worker@db/app');
  t.strictSame(databaseUrls({ DATABASE_URL: '' }), {
    admin: undefined,
    server: undefined,
    worker: undefined,
    authenticator: undefined,
  });
});

t.test('options that are there already are kept', async (t) => {
  t.equal(
    urlWithRole('postgres://me@db/app?sslmode=require&options=-c%20jit%3Doff', 'anon'),
    'postgres://me@db/app?sslmode=require&options=-c%20jit%3Doff%20-c%20role%3Danon',
  );
});

t.test('another database, and no password for people to see', async (t) => {
  t.equal(urlWithDatabase('postgres://me:x@db/app?a=b', 'other'), 'postgres://me:x@db/other?a=b');
  t.equal(urlWithoutPassword('postgres://me:secret@db/app'), 'postgres://me:***@db/app');
});

t.test('what is no database URL is refused without repeating it', async (t) => {
  t.throws(() => urlWithRole('me:secret@db', 'anon'), { message: /must/ });
  t.throws(() => urlWithRole('http://me:secret@db', 'anon'), { message: /not http:/ });
  try {
    urlWithRole('secret words', 'anon');
  } catch (error) {
    t.notMatch((error as Error).message, /secret words/);
  }
});
