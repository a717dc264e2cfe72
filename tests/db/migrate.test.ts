import { randomBytes } from 'node:crypto';
import { appendFile, cp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import t, { type Test } from 'tap';
import { migrate } from '../../db/migrate.ts';
import { urlWithDatabase } from '../../db/urls.ts';
import { readTestEnvironment } from '../support/environment.ts';

const SCRIPT_FOLDERS = ['migrations', 'functions', 'policies', 'views', 'suite'];

t.test('a second run does nothing', async (t) => {
  const { url, directory } = await emptyDatabase(t);
  const first = await migrate(url, { directory });
  t.ok(first.migrations.length > 0, 'the first runs migrations');
  t.ok(first.files.length > 0, 'and applies files');
  const before = await fingerprint(url);
  t.strictSame(await migrate(url, { directory }), { migrations: [], files: [], orphaned: [] });
  t.strictSame(await fingerprint(url), before, 'the catalog is untouched');
});

t.test('two at once: one works, the other waits and finds nothing to do', async (t) => {
  const { url, directory } = await emptyDatabase(t);
  const results = await Promise.all([migrate(url, { directory }), migrate(url, { directory })]);
  const counts = results.map(({ migrations }) => migrations.length).sort((a, b) => a - b);
  t.equal(counts[0], 0);
  t.ok(Number(counts[1]) > 0);
});

t.test('only the file that changed is applied again', async (t) => {
  const { url, directory } = await emptyDatabase(t);
  await addSample(directory, 'select 1');
  await migrate(url, { directory });
  await addSample(directory, 'select 2');
  const { migrations, files } = await migrate(url, { directory });
  t.strictSame(
    { migrations, files },
    { migrations: [], files: ['functions/access/zz_sample.sql'] },
  );
});

t.test('a file that is gone is reported, and its function stays', async (t) => {
  const { url, directory } = await emptyDatabase(t);
  const sample = await addSample(directory, 'select 1');
  await migrate(url, { directory });
  await rm(sample);
  const { orphaned } = await migrate(url, { directory });
  t.strictSame(orphaned, ['functions/access/zz_sample.sql']);
  t.equal(await firstValue(url, 'select bellwire.zz_sample()'), 1);
});

t.test('a failing file leaves everything as it was and is named with its line', async (t) => {
  const { url, directory } = await emptyDatabase(t);
  await addSample(directory, 'select 1');
  await migrate(url, { directory });
  const before = await fingerprint(url);

  await t.test('with a pending migration beside it', async (t) => {
    await writeFile(
      path.join(directory, 'migrations', '9999_sample.sql'),
      'create table bellwire.zz_sample (id bigint primary key);\n',
    );
    const failing = path.join(directory, 'functions', 'access', 'zz_zzz.sql');
    await writeFile(failing, '-- one\n-- two\nselect 1;\n\nselect 1\n  from bellwire.nowhere;\n');
    await t.rejects(migrate(url, { directory }), {
      name: 'MigrationError',
      message: /zz_zzz\.sql:6: relation "bellwire\.nowhere" does not exist/,
    });
    t.strictSame(await fingerprint(url), before);
    await rm(failing);
    await rm(path.join(directory, 'migrations', '9999_sample.sql'));
  });

  await t.test('an error without a position: the line of its statement', async (t) => {
    const sample = path.join(directory, 'functions', 'access', 'zz_zzz.sql');
    await writeFile(sample, '-- ;\nselect 1;\n/* ; */ select 2;\n\ndrop table bellwire.nowhere;\n');
    await t.rejects(migrate(url, { directory }), { message: /zz_zzz\.sql:5: table "nowhere"/ });
    await rm(sample);
  });

  await t.test('a mistake in a body that was created unchecked', async (t) => {
    await addSample(directory, 'select missing_column\n  from bellwire.applied_files');
    await t.rejects(migrate(url, { directory }), {
      message: /zz_sample\.sql:3: column "missing_column" does not exist/,
    });
    t.strictSame(await fingerprint(url), before);
  });

  await t.test('a failing migration', async (t) => {
    await addSample(directory, 'select 1');
    const migration = path.join(directory, 'migrations', '9999_sample.sql');
    await writeFile(migration, 'create table bellwire.zz_a (id int);\n');
    await appendFile(migration, 'create table bellwire.zz_a (id int);\n');
    await t.rejects(migrate(url, { directory }), {
      message: /9999_sample\.sql:2: relation "zz_a"/,
    });
    t.strictSame(await fingerprint(url), before);
  });
});

t.test('the queue belongs to the worker, which keeps no right to create schemas', async (t) => {
  const { url, directory } = await emptyDatabase(t);
  await migrate(url, { directory });
  t.equal(
    await firstValue(
      url,
      "select tableowner from pg_tables where schemaname = 'graphile_worker' and tablename = 'migrations'",
    ),
    'bellwire_worker',
  );
  t.equal(
    await firstValue(
      url,
      "select has_database_privilege('bellwire_worker', current_database(), 'create')",
    ),
    false,
  );
});

/** A database with nothing in it, and a copy of the scripts to change at will. */
async function emptyDatabase(t: Test): Promise<{ url: string; directory: string }> {
  const { adminUrl } = readTestEnvironment();
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`;
  const maintenanceUrl = urlWithDatabase(adminUrl, 'postgres');
  await firstValue(maintenanceUrl, `create database ${name}`);
  t.teardown(() => firstValue(maintenanceUrl, `drop database ${name} with (force)`));
  const source = fileURLToPath(new URL('../../db/', import.meta.url));
  const directory = t.testdir({ functions: { access: {} } });
  for (const folder of SCRIPT_FOLDERS) {
    const from = path.join(source, folder);
    await cp(from, path.join(directory, folder), { recursive: true }).catch(ignoreMissing);
  }
  return { url: urlWithDatabase(adminUrl, name), directory };
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

async function addSample(directory: string, body: string): Promise<string> {
  const file = path.join(directory, 'functions', 'access', 'zz_sample.sql');
  const head = 'create or replace function bellwire.zz_sample() returns int language sql';
  await writeFile(file, `-- A sample.\n${head} as $sample$\n${body}\n$sample$;\n`);
  return file;
}

/** Every relation, function and applied file, with the transactions that made them. */
function fingerprint(url: string): Promise<unknown> {
  return firstValue(
    url,
    `select array(select format('%s %s', oid::regclass, xmin) from pg_class order by oid)
         || array(select format('%s %s', oid::regprocedure, xmin) from pg_proc
                   where oid >= 16384 order by oid)
         || array(select format('%s %s', path, sha256) from bellwire.applied_files order by path)`,
  );
}

/** The first value of the first row. */
async function firstValue(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' });
    return rows[0]?.[0];
  } finally {
    await client.end();
  }
}
