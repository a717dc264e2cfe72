/**
 * Writes docs/schema.md: what a migrated database holds, read from its catalog.
 *
 *   npx tsx scripts/schema-docs.ts           writes the file
 *   npx tsx scripts/schema-docs.ts --check   exits 1 when the file says something else
 *
 * The database is a throw-away one of the embedded Postgres, whatever DATABASE_URL says, so that
 * the page is the same on every machine.
 */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbedded } from '../db/embedded.ts';
import { migrate } from '../db/migrate.ts';

const PAGE = path.resolve(import.meta.dirname, '../docs/schema.md');
const SCHEMAS = ['bellwire', 'identity', 'suite', 'api'];
const GENERATED_SCHEMA = 'bellwire_tracked';

type Ask = <Row>(sql: string, values?: unknown[]) => Promise<Row[]>;

interface Relation {
  oid: number;
  name: string;
  comment: string | null;
}

interface Policy {
  command: string;
  role: string;
  columns: string | null;
  name: string | null;
  using: string | null;
  check: string | null;
}

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  const wanted = await withDatabase(writePage);
  const present = await readFile(PAGE, 'utf8').catch(() => '');
  const name = path.relative(process.cwd(), PAGE);
  if (!values.check) {
    if (present !== wanted) await writeFile(PAGE, wanted);
    console.log(present === wanted ? `${name} is up to date` : `wrote ${name}`);
    return 0;
  }
  if (present === wanted) return 0;
  const [left, right] = [present.split('\n'), wanted.split('\n')];
  const line = right.findIndex((text, index) => text !== left[index]);
  const at = line < 0 ? right.length : line;
  console.error(`${name}:${at + 1} is out of date: run "npx tsx scripts/schema-docs.ts".`);
  console.error(`  is:        ${left[at] ?? '(the end)'}`);
  console.error(`  should be: ${right[at] ?? '(the end)'}`);
  return 1;
}

async function withDatabase<T>(use: (ask: Ask) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bellwire-schema-'));
  // Under root Postgres runs as another user, which has to get to the data.
  await chmod(folder, 0o711);
  try {
    const database = await startEmbedded({ dataDir: path.join(folder, 'data'), durable: false });
    try {
      await migrate(database.adminUrl);
      const client = new pg.Client({ connectionString: database.adminUrl });
      await client.connect();
      try {
        // So that expressions name everything with its schema.
        await client.query("set search_path = ''");
        return await use(
          async (sql, values) => (await client.query(sql, values)).rows as unknown as never,
        );
      } finally {
        await client.end();
      }
    } finally {
      await database.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writePage(ask: Ask): Promise<string> {
  const parts = [
    // Its wide tables stay as they are instead of being padded.
    '<!-- biome-ignore-all format: generated -->',
    '# Schema',
    'Read from a migrated database by `npx tsx scripts/schema-docs.ts`; not edited by hand. Every ' +
      'table has row security enabled and forced: what no policy allows, nobody does, the owner of ' +
      'the tables included. Functions have no right for PUBLIC; the column *callable by* names who ' +
      'may, and without a name only other functions of the same owner do. Words: see the glossary ' +
      'in [ARCHITECTURE.md](../ARCHITECTURE.md).',
    SCHEMAS.map((schema) => `[${schema}](#${schema})`).join(' · '),
  ];
  for (const schema of SCHEMAS) parts.push(...(await schemaParts(ask, schema)));
  parts.push(...(await generatedParts(ask)));
  return `${parts.join('\n\n')}\n`;
}

async function schemaParts(ask: Ask, schema: string): Promise<string[]> {
  const [about] = await ask<{ comment: string | null }>(
    "select obj_description($1::regnamespace, 'pg_namespace') as comment",
    [schema],
  );
  const parts = [`## ${schema}`, prose(about?.comment ?? null)];
  for (const table of await relations(ask, schema, 'r')) {
    parts.push(...(await tableParts(ask, schema, table)));
  }
  for (const view of await relations(ask, schema, 'v')) {
    parts.push(`### ${schema}.${view.name} (view)`, prose(view.comment));
    parts.push(await columnTable(ask, view.oid), await readerLine(ask, view.oid));
  }
  for (const type of await relations(ask, schema, 'c')) {
    parts.push(`### ${schema}.${type.name} (type)`, prose(type.comment));
    parts.push(await columnTable(ask, type.oid));
  }
  parts.push(`### Functions of ${schema}`, await functionTable(ask, schema));
  return parts.filter((part) => part !== '');
}

function relations(ask: Ask, schema: string, kind: 'r' | 'v' | 'c'): Promise<Relation[]> {
  return ask<Relation>(
    `select oid::int4 as oid, relname as name,
            coalesce(obj_description(oid, 'pg_class'), obj_description(reltype, 'pg_type')) as comment
     from pg_class where relnamespace = $1::regnamespace and relkind = $2
     order by relname collate "C"`,
    [schema, kind],
  );
}

async function tableParts(ask: Ask, schema: string, table: Relation): Promise<string[]> {
  return [
    `### ${schema}.${table.name}`,
    prose(table.comment),
    await columnTable(ask, table.oid),
    await constraintList(ask, table.oid),
    await indexList(ask, table.oid),
    await triggerList(ask, table.oid),
    await accessTable(ask, table.oid),
  ];
}

async function columnTable(ask: Ask, oid: number): Promise<string> {
  const rows = await ask<Record<'name' | 'type' | 'preset' | 'comment', string | null>>(
    `select attname as name,
            format_type(atttypid, atttypmod)
              || case when attnotnull or class.relkind <> 'r' then '' else ', null' end as type,
            case attidentity
              when 'a' then 'identity, always'
              when 'd' then 'identity'
              else pg_get_expr(def.adbin, def.adrelid)
            end as preset,
            col_description(attrelid, attnum) as comment
     from pg_attribute
     join pg_class as class on class.oid = attrelid
     left join pg_attrdef as def on def.adrelid = attrelid and def.adnum = attnum
     where attrelid = $1 and attnum > 0 and not attisdropped order by attnum`,
    [oid],
  );
  return markdownTable(
    ['column', 'type', 'default', ''],
    rows.map((row) => [code(row.name), row.type, code(row.preset), prose(row.comment)]),
  );
}

async function constraintList(ask: Ask, oid: number): Promise<string> {
  const rows = await ask<{ name: string; definition: string }>(
    `select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
     where conrelid = $1 and contype in ('p', 'u', 'f', 'c')
     order by position(contype::text in 'pufc'), conname collate "C"`,
    [oid],
  );
  return list(rows.map((row) => `${code(row.name)}: ${code(row.definition)}`));
}

/** Those of constraints are left out: they are listed with them. */
async function indexList(ask: Ask, oid: number): Promise<string> {
  const rows = await ask<{ name: string; comment: string | null }>(
    `select indexrelid::regclass::text as name, obj_description(indexrelid, 'pg_class') as comment
     from pg_index
     where indrelid = $1 and not exists (select from pg_constraint where conindid = indexrelid)
     order by indexrelid::regclass::text collate "C"`,
    [oid],
  );
  return list(rows.map((row) => `index ${code(row.name)}: ${prose(row.comment)}`));
}

async function triggerList(ask: Ask, oid: number): Promise<string> {
  const rows = await ask<{ name: string; function: string; moment: string }>(
    `select tgname as name, tgfoid::regproc::text as function,
            lower(substring(pg_get_triggerdef(oid) from '((?:BEFORE|AFTER) .*?) ON ')) as moment
     from pg_trigger where tgrelid = $1 and not tgisinternal order by tgname collate "C"`,
    [oid],
  );
  return list(
    rows.map((row) => `trigger ${code(row.name)}, ${row.moment}: ${code(`${row.function}()`)}`),
  );
}

/** Who may do what: a right counts where a policy allows it, and a policy where there is a right. */
async function accessTable(ask: Ask, oid: number): Promise<string> {
  const rows = await ask<Policy>(
    `with rights as (
       select lower(granted.privilege_type) as command, granted.grantee, null::text as columns
       from pg_class as class cross join lateral aclexplode(class.relacl) as granted
       where class.oid = $1 and granted.grantee <> class.relowner
       union all
       select lower(granted.privilege_type), granted.grantee, string_agg(attname, ', ' order by attnum)
       from pg_attribute as attribute cross join lateral aclexplode(attribute.attacl) as granted
       where attribute.attrelid = $1 and not attribute.attisdropped
       group by granted.privilege_type, granted.grantee
     )
     select rights.command, rights.grantee::regrole::text as role, rights.columns,
            policy.polname as name,
            pg_get_expr(policy.polqual, policy.polrelid) as using,
            pg_get_expr(policy.polwithcheck, policy.polrelid) as check
     from rights
     left join pg_policy as policy
       on policy.polrelid = $1 and rights.grantee = any (policy.polroles)
       and policy.polcmd::text = case rights.command
         when 'select' then 'r' when 'insert' then 'a' when 'update' then 'w' when 'delete' then 'd' end
     order by rights.grantee::regrole::text collate "C", position(rights.command in 'select insert update delete')`,
    [oid],
  );
  const cells = mergeOpen(rows).map((row) => [
    row.role,
    row.command + (row.columns ? ` (${row.columns})` : ''),
    row.name && code(row.name),
    conditions(row),
  ]);
  return rows.length === 0 ? '' : markdownTable(['role', 'may', 'policy', 'rows'], cells);
}

/** A view shows what the policies of its tables let the caller see. */
async function readerLine(ask: Ask, oid: number): Promise<string> {
  const [row] = await ask<{ readers: string | null }>(
    `select string_agg(granted.grantee::regrole::text, ', ' order by granted.grantee::regrole::text collate "C") as readers
     from pg_class as class cross join lateral aclexplode(class.relacl) as granted
     where class.oid = $1 and granted.grantee <> class.relowner and granted.privilege_type = 'SELECT'`,
    [oid],
  );
  return `Runs with the rights of who asks: ${row?.readers ?? 'nobody'}.`;
}

/** Several commands of one role on all rows are one line. */
function mergeOpen(rows: Policy[]): Policy[] {
  const merged: Policy[] = [];
  for (const row of rows) {
    const before = merged.at(-1);
    if (before && isOpen(before) && isOpen(row) && before.role === row.role) {
      before.command += `, ${row.command}`;
      before.name += `, ${row.name}`;
    } else merged.push({ ...row });
  }
  return merged;
}

function isOpen(row: Policy): boolean {
  return row.name !== null && row.columns === null && conditions(row) === 'all';
}

function conditions(row: Policy): string {
  const texts = [...new Set([row.using, row.check])].filter((text) => text !== null);
  if (texts.length === 0) return '';
  if (texts.every((text) => text === 'true')) return 'all';
  return texts
    .map((text) => (text === row.using ? code(text) : `after the change: ${code(text)}`))
    .join('; ');
}

async function functionTable(ask: Ask, schema: string): Promise<string> {
  const rows = await ask<
    Record<'name' | 'takes' | 'gives' | 'rights' | 'callers' | 'comment', string>
  >(
    `select proname as name,
            pg_get_function_arguments(function.oid) as takes,
            pg_get_function_result(function.oid) as gives,
            case when prosecdef then proowner::regrole::text else 'caller' end as rights,
            (select string_agg(grantee::regrole::text, ', ' order by grantee::regrole::text collate "C")
             from aclexplode(proacl) where grantee <> proowner) as callers,
            obj_description(function.oid, 'pg_proc') as comment
     from pg_proc as function where pronamespace = $1::regnamespace
     order by proname collate "C", pg_get_function_arguments(function.oid) collate "C"`,
    [schema],
  );
  return markdownTable(
    ['function', 'gives', 'runs as', 'callable by', ''],
    rows.map((row) => [
      code(`${row.name}(${row.takes})`),
      code(row.gives),
      row.rights,
      row.callers,
      prose(row.comment),
    ]),
  );
}

async function generatedParts(ask: Ask): Promise<string[]> {
  const rows = await ask<{ table: string; functions: string; comment: string | null }>(
    `select tgrelid::regclass::text as table,
            string_agg(proname, ', ' order by proname collate "C") as functions,
            obj_description(pronamespace, 'pg_namespace') as comment
     from pg_trigger join pg_proc on pg_proc.oid = tgfoid
     where pronamespace = $1::regnamespace group by tgrelid, pronamespace
     order by tgrelid::regclass::text collate "C"`,
    [GENERATED_SCHEMA],
  );
  return [
    `## ${GENERATED_SCHEMA}`,
    prose(rows[0]?.comment ?? null),
    markdownTable(
      ['table', 'trigger functions'],
      rows.map((row) => [code(row.table), row.functions]),
    ),
  ];
}

function markdownTable(head: string[], rows: (string | null)[][]): string {
  const cell = (text: string | null) => (text ?? '').replaceAll('|', '\\|');
  const line = (cells: (string | null)[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function list(items: string[]): string {
  return items.map((item) => `- ${item}`).join('\n');
}

/** A comment as it was written, not as HTML. */
function prose(text: string | null): string {
  return (text ?? '').replaceAll('<', '&lt;');
}

/** As code, on one line. */
function code(text: string | null): string {
  if (!text) return '';
  const oneLine = text.replaceAll(/\s+/g, ' ');
  return oneLine.includes('`') ? `\`\` ${oneLine} \`\`` : `\`${oneLine}\``;
}
