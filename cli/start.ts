import { seed } from '../db/seed/seed.ts';
import { urlWithoutPassword } from '../db/urls.ts';
import { prepareDatabase, type ReadyDatabase } from './database.ts';
import { type MailCatcher, startMailCatcher } from './mail-catcher.ts';
import { type Overrides, readSettings, serverOptions, workerOptions } from './settings.ts';
import { Lifecycle } from './signals.ts';

interface StartOptions extends Overrides {
  data?: string;
  seed: boolean;
}

type Seeded = Awaited<ReturnType<typeof seed>>;

/** `bellwire start`: everything in one process. Resolves to the exit code after a signal. */
export function runStart(options: StartOptions): Promise<number> {
  const lifecycle = new Lifecycle();
  return lifecycle.run(async () => {
    // Before anything is started: a bad variable costs nobody a minute.
    const settings = readSettings(options);
    const database = await prepareDatabase(lifecycle, options);
    const seeded = options.seed ? await seed(database.admin) : undefined;
    lifecycle.checkpoint();

    const mail = await startMailCatcher();
    lifecycle.onStop('The mail catcher', () => mail.stop());
    lifecycle.checkpoint();

    const { runServer } = await import('../server/main.ts');
    const server = await runServer(serverOptions(settings, database.server, mail.smtpUrl));
    lifecycle.onStop('The server', () => server.stop());
    lifecycle.checkpoint();

    const { runWorker } = await import('../worker/main.ts');
    const worker = await runWorker(workerOptions(settings, database.worker, mail.smtpUrl));
    lifecycle.onStop('The worker', () => worker.stop());
    lifecycle.checkpoint();

    console.log(banner(database, mail, server.address, seeded));
  });
}

function banner(
  database: ReadyDatabase,
  mail: MailCatcher,
  address: string,
  seeded: Seeded | undefined,
): string {
  const web = address.replace(/\/$/, '');
  // The embedded database is this machine's own: its URL is there to be pasted into psql.
  const url = database.folder ? database.admin : urlWithoutPassword(database.admin);
  const lines = [
    '',
    '  Bellwire is running',
    '',
    `  web           ${web}`,
    `  API pages     ${web}/docs`,
    `  caught mail   ${mail.webUrl}`,
    `  SQL           psql '${url}'`,
  ];
  if (database.folder) lines.push(`  data          ${database.folder}`);
  if (seeded && seeded.users.length > 0) lines.push('', '  Sign in as', ...signIns(seeded));
  lines.push('', '  Ctrl-C stops everything.', '');
  return lines.join('\n');
}

function signIns(seeded: Seeded): string[] {
  const widest = Math.max(...seeded.users.map((user) => user.email.length));
  return seeded.users.map(
    (user) => `    ${user.email.padEnd(widest)}  ${user.password}  (${user.name})`,
  );
}
