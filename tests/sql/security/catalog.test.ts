import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { RULES } from './rules.ts';

const FUNCTIONS = path.resolve(import.meta.dirname, '../../../db/functions');

async function names(database: TestDatabase, sql: string): Promise<string[]> {
  const { rows } = await database.admin.query({ text: sql, rowMode: 'array' });
  return rows.map((row) => String(row[0]));
}

t.test('the catalog keeps the rules', async (t) => {
  const database = await createDatabase(t);
  for (const [rule, query] of RULES) t.strictSame(await names(database, query), [], rule);
});

t.test('the functions are exactly the files', async (t) => {
  const database = await createDatabase(t);
  const files: string[] = [];
  for (const file of await readdir(FUNCTIONS, { recursive: true })) {
    if (!file.endsWith('.sql')) continue;
    const text = await readFile(path.join(FUNCTIONS, file), 'utf8');
    const [, name] = /^create or replace function ([a-z_.]+)\(/m.exec(text) ?? [];
    files.push(name ?? `${file} defines no function`);
    t.equal(name?.split('.')[1], path.basename(file, '.sql'), file);
  }
  t.strictSame(
    await names(
      database,
      `select pronamespace::regnamespace || '.' || proname from pg_proc
       where pronamespace::regnamespace::text in ('bellwire', 'identity', 'suite', 'api') order by 1`,
    ),
    files.sort(),
    'no overload, nothing left over from a file that went',
  );
});

t.test('the generated functions are those of tracked tables', async (t) => {
  const database = await createDatabase(t);
  t.strictSame(
    await names(
      database,
      `select oid::regprocedure from pg_proc where pronamespace = 'bellwire_tracked'::regnamespace
         and not exists (select from pg_trigger where tgfoid = pg_proc.oid)`,
    ),
    [],
  );
});

t.test('every error has a code of the table of errors, and says what to do', async (t) => {
  const known = /errcode = '(22023|28000|42501|P0002|23505|54000)'/;
  for (const file of await readdir(FUNCTIONS, { recursive: true })) {
    if (!file.endsWith('.sql')) continue;
    const text = await readFile(path.join(FUNCTIONS, file), 'utf8');
    for (const [raise] of text.matchAll(/raise exception[\s\S]*?;/g)) {
      t.match(raise, known, `${file}: ${raise.slice(0, 60)}`);
      // Raised only to be caught in the same function.
      if (/^raise exception\s+using errcode/.test(raise)) continue;
      t.match(raise, /hint =/, `${file}: a hint for ${raise.slice(0, 60)}`);
    }
  }
});
