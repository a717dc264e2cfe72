import { migrate } from '../db/migrate.ts';
import { databaseUrls } from '../db/urls.ts';
import { prepareEmbedded } from './database.ts';
import { type Overrides, readSettings, serverOptions, workerOptions } from './settings.ts';
import { Lifecycle } from './signals.ts';

/** `bellwire server`: resolves to the exit code after a signal. */
export function runServerCommand(options: Overrides): Promise<number> {
  const lifecycle = new Lifecycle();
  return lifecycle.run(async () => {
    const settings = readSettings(options);
    const databaseUrl = databaseUrls(process.env).server;
    if (!databaseUrl) throw missingUrl('server', 'DATABASE_SERVER_URL');
    const { runServer } = await import('../server/main.ts');
    const server = await runServer(serverOptions(settings, databaseUrl));
    lifecycle.onStop('The server', () => server.stop());
    console.log(`Bellwire server at ${server.address}`);
  });
}

/** `bellwire worker`: resolves to the exit code after a signal. */
export function runWorkerCommand(): Promise<number> {
  const lifecycle = new Lifecycle();
  return lifecycle.run(async () => {
    const settings = readSettings();
    const databaseUrl = databaseUrls(process.env).worker;
    if (!databaseUrl) throw missingUrl('worker', 'DATABASE_WORKER_URL');
    const { runWorker } = await import('../worker/main.ts');
    const worker = await runWorker(workerOptions(settings, databaseUrl));
    lifecycle.onStop('The worker', () => worker.stop());
    console.log('Bellwire worker is running');
  });
}

/** `bellwire migrate`: prints what it did. */
export async function runMigrateCommand(): Promise<number> {
  const { admin } = databaseUrls(process.env);
  if (!admin) {
    throw new Error('bellwire migrate needs DATABASE_URL (a superuser, or the owner).');
  }
  const { migrations, files } = await migrate(admin, { log: (line) => console.log(line) });
  if (migrations.length + files.length === 0) console.log('already up to date');
  return 0;
}

/** `bellwire db`: prints the URLs, one per line, and stays until a signal. */
export function runDbCommand(options: { port?: number; data?: string }): Promise<number> {
  const lifecycle = new Lifecycle();
  return lifecycle.run(async () => {
    const database = await prepareEmbedded(lifecycle, options);
    console.log(`DATABASE_URL=${database.admin}`);
    console.log(`DATABASE_SERVER_URL=${database.server}`);
    console.log(`DATABASE_WORKER_URL=${database.worker}`);
    console.log(`DATABASE_AUTHENTICATOR_URL=${database.authenticator}`);
  });
}

function missingUrl(command: string, variable: string): Error {
  return new Error(`bellwire ${command} needs ${variable} or DATABASE_URL.`);
}
