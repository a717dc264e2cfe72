import type { Settings } from '../config/read.ts';
import { databaseUrls } from '../db/urls.ts';
import type { Lifecycle } from './signals.ts';

export interface ReadyDatabase {
  admin: string;
  server: string;
  worker: string;
  authenticator: string;
  /** The folder of the embedded database; undefined for one that DATABASE_URL names. */
  folder: string | undefined;
}

/** A migrated embedded database, stopped with the process. */
export async function prepareEmbedded(
  lifecycle: Lifecycle,
  options: { data: string; port?: number },
): Promise<ReadyDatabase> {
  const { setRolePasswords, startEmbedded } = await import('../db/embedded.ts');
  const { migrate } = await import('../db/migrate.ts');
  // From here on a signal waits for the step in hand: Postgres must not be left running.
  lifecycle.beginCareful();
  const { data: dataDir, port } = options;
  const database = await startEmbedded({ dataDir, port, log: note });
  lifecycle.onStop('Postgres', () => database.stop());
  lifecycle.checkpoint();
  await migrate(database.adminUrl, { log: noteWarning });
  await setRolePasswords(database);
  lifecycle.checkpoint();
  return {
    admin: database.adminUrl,
    server: database.urlFor('bellwire_server'),
    worker: database.urlFor('bellwire_worker'),
    authenticator: database.urlFor('authenticator'),
    folder: database.dataDir,
  };
}

/** The database of DATABASE_URL, migrated; the embedded one without it. */
export async function prepareDatabase(
  lifecycle: Lifecycle,
  settings: Settings,
  options: { data?: string },
): Promise<ReadyDatabase> {
  const { admin, server, worker, authenticator } = databaseUrls(settings);
  if (!admin || !server || !worker || !authenticator) {
    // Not the other options: the port on that command line is the web server's.
    return prepareEmbedded(lifecycle, { data: options.data ?? settings.BELLWIRE_DATA });
  }
  if (options.data) {
    throw new Error('--data is for the embedded database, and DATABASE_URL names another one.');
  }
  const { migrate } = await import('../db/migrate.ts');
  await migrate(admin, { log: noteWarning });
  lifecycle.checkpoint();
  return { admin, server, worker, authenticator, folder: undefined };
}

/** Progress goes to standard error: standard output is for what a program may read. */
function note(line: string): void {
  console.error(line);
}

function noteWarning(line: string): void {
  if (line.startsWith('warning:')) note(line);
}
