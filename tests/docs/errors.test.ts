import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import t from 'tap';
import { databaseProblem } from '../../server/database-problem.ts';
import { readPage, section, tableRows } from './markdown.ts';

const PAGE = readPage('docs/errors.md');
const FUNCTIONS = path.resolve(import.meta.dirname, '../../db/functions');
const SERVER = path.resolve(import.meta.dirname, '../../server');

/** The raise statements of a function file: up to the first semicolon outside a literal. */
const RAISE = /raise exception((?:'(?:[^']|'')*'|[^;'])*);/g;

function filesIn(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(path.join(folder, name), 'utf8'));
}

function bare(cell: string | undefined): string {
  return (cell ?? '').replaceAll('`', '');
}

t.test('the page has every error that a function raises, and no other', async (t) => {
  const raised = new Set<string>();
  for (const text of filesIn(FUNCTIONS, '.sql')) {
    const [, name = ''] = /^create or replace function ([a-z_.]+)\(/m.exec(text) ?? [];
    for (const [, raise = ''] of text.matchAll(RAISE)) {
      const [, state = ''] = /errcode = '(\w+)'/.exec(raise) ?? [];
      const [, detail = ''] = /detail = '(\w+)'/.exec(raise) ?? [];
      // Raised only to be caught in the same function.
      if (/^\s*using errcode/.test(raise)) continue;
      raised.add(`${name} ${state} ${detail}`);
    }
  }
  const shown = tableRows(section(PAGE, 'From SQL functions')).map(
    ([name, state, detail]) => `${bare(name)} ${bare(state)} ${bare(detail)}`,
  );
  t.strictSame(shown.sort(), [...raised].sort());
});

t.test('the table from SQLSTATE to answer is the server’s', async (t) => {
  const rows = tableRows(section(PAGE, 'Over HTTP')).filter(([state]) => state?.startsWith('`'));
  t.ok(rows.length > 20);
  for (const [state, status, code] of rows) {
    const raised = new pg.DatabaseError('Our own words.', 0, 'error');
    Object.assign(raised, { code: bare(state), routine: 'exec_stmt_raise' });
    const problem = databaseProblem(raised);
    t.equal(String(problem?.status), status, `${state}: status`);
    t.equal(problem?.code, bare(code), `${state}: error`);
  }
  const source = readFileSync(path.join(SERVER, 'database-problem.ts'), 'utf8');
  const table = /const BY_STATE[^{]*\{(.*?)^\};/ms.exec(source)?.[1] ?? '';
  const known = [...table.matchAll(/^ {2}'?([0-9A-Z]{5})'?:/gm)].map(([, state]) => state);
  t.ok(known.length > 15);
  const states = rows.map(([state]) => bare(state));
  t.strictSame(
    known.filter((state) => !states.includes(state ?? '')),
    [],
    'none is left out',
  );
});

t.test('the page has every error code of the server', async (t) => {
  const codes = filesIn(SERVER, '.ts').flatMap((text) =>
    [...text.matchAll(/(?:code: |new Problem\(\s*\d{3},\s*)'([a-z_]+)'/g)].map(([, code]) => code),
  );
  t.ok(codes.length > 10);
  const shown = tableRows(section(PAGE, 'Over HTTP')).flatMap(([, second, third]) => [
    bare(second),
    bare(third),
  ]);
  t.strictSame(
    [...new Set(codes)].filter((code) => !shown.includes(code ?? '')),
    [],
  );
});
