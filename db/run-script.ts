import path from 'node:path';
import pg from 'pg';
import type { SqlFile } from './sql-files.ts';
import { lineAt, statementStarts } from './sql-text.ts';

/** A script that failed: says where, and carries Postgres's error as its cause. */
export class MigrationError extends Error {
  override name = 'MigrationError';
}

/** @throws MigrationError naming file and line, when Postgres refuses it. */
export async function runScript(client: pg.Client, directory: string, file: SqlFile) {
  // A script is one simple query; how many of its statements completed tells which one failed.
  let completed = 0;
  const count = () => completed++;
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
  connection.on('commandComplete', count);
  try {
    return await client.query(file.text);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    const statement = statementStarts(file.text)[completed] ?? 0;
    // Postgres counts characters from 1; only a few errors have a position.
    const place = error.position ? unitsBefore(file.text, Number(error.position) - 1) : statement;
    throw scriptError(error, directory, file, place);
  } finally {
    connection.off('commandComplete', count);
  }
}

/**
 * Checks the bodies of the functions this transaction made, now that everything they name exists.
 * They were created unchecked, and a misspelt column is better found here than by a user.
 *
 * @throws MigrationError naming file and line of the first one that is wrong
 */
export async function checkBodies(
  client: pg.Client,
  directory: string,
  files: SqlFile[],
): Promise<void> {
  await client.query('set local check_function_bodies = on');
  const { rows } = await client.query<{ oid: string; source: string; validator: string }>(
    `select p.oid::text as oid, p.prosrc as source, l.lanvalidator::regproc::text as validator
       from pg_catalog.pg_proc p
       join pg_catalog.pg_language l on l.oid = p.prolang
      where l.lanname in ('sql', 'plpgsql')
        and p.prosqlbody is null
        and p.xmin = pg_current_xact_id()::xid
      order by p.oid`,
  );
  for (const { oid, source, validator } of rows) {
    try {
      await client.query(`select ${validator}($1::oid)`, [oid]);
    } catch (error) {
      const file = files.find((candidate) => candidate.text.includes(source));
      if (!(error instanceof pg.DatabaseError) || !file) throw error;
      const inside = Math.max(Number(error.internalPosition ?? 1) - 1, 0);
      const query = error.internalQuery ?? '';
      const start = file.text.indexOf(query && source.includes(query) ? query : source);
      throw scriptError(error, directory, file, start + unitsBefore(query || source, inside));
    }
  }
}

/** How many UTF-16 units the first characters (code points) of a text take. */
function unitsBefore(text: string, characters: number): number {
  return Array.from(text).slice(0, characters).join('').length;
}

function scriptError(
  error: pg.DatabaseError,
  directory: string,
  file: SqlFile,
  place: number,
): MigrationError {
  const absolute = path.join(directory, file.path);
  const relative = path.relative(process.cwd(), absolute);
  const name = relative.startsWith('..') ? absolute : relative;
  const lines = [`${name}:${lineAt(file.text, place)}: ${error.message}`];
  if (error.detail) lines.push(`  detail: ${error.detail}`);
  if (error.hint) lines.push(`  hint: ${error.hint}`);
  if (error.where) lines.push(`  where: ${error.where.replaceAll('\n', '\n         ')}`);
  return new MigrationError(lines.join('\n'), { cause: error });
}
