import { databaseUrls } from '../db/urls.ts';
import { prepareEmbedded } from './database.ts';
import {
  type Overrides,
  readDatabaseSettings,
  readSettings,
  serverOptions,
  workerOptions,
} from './settings.ts';
import { Lifecycle } from './signals.ts';

// What a command needs is loaded by it and not before: a bad variable is told at once.

/** `bellwire server`: resolves to the exit code after a signal. */
export function runServerCommand(options: Overrides): Promise<number> {
  const lifecycle = new Lifecycle();
  return lifecycle.run(async () => {
    const settings = readSettings('server', options);
    const databaseUrl = databaseUrls(settings).server;
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
    const settings = readSettings('worker');
    const databaseUrl = databaseUrls(settings).worker;
    if (!databaseUrl) throw missingUrl('worker', 'DATABASE_WORKER_URL');
    const { runWorker } = await import('../worker/main.ts');
    const worker = await runWorker(workerOptions(settings, databaseUrl));
    lifecycle.onStop('The worker', () => worker.stop());
    const probes = worker.address ? `, its probes at ${worker.address}` : '';
    console.log(`Bellwire worker is running${probes}`);
  });
}

/** `bellwire migrate`: prints what it did. */
export async function runMigrateCommand(): Promise<number> {
  const { admin } = databaseUrls(readDatabaseSettings());
  if (!admin) {
    throw new Error('bellwire migrate needs DATABASE_URL (a superuser, or the owner).');
  }
  const { migrate } = await import('../db/migrate.ts');
  const { migrations, files } = await migrate(admin, { log: (line) => console.log(line) });
  if (migrations.length + files.length === 0) console.log('already up to date');
  return 0;
}

/** `bellwire db`: prints the URLs, one per line, and stays until a signal. */
export function runDbCommand(options: { port?: number; data?: string }): Promise<number> {
  const lifecycle = new Lifecycle();
  return lifecycle.run(async () => {
    const data = options.data ?? readDatabaseSettings().BELLWIRE_DATA;
    const database = await prepareEmbedded(lifecycle, { data, port: options.port });
    console.log(`DATABASE_URL=${database.admin}`);
    console.log(`DATABASE_SERVER_URL=${database.server}`);
    console.log(`DATABASE_WORKER_URL=${database.worker}`);
    console.log(`DATABASE_AUTHENTICATOR_URL=${database.authenticator}`);
  });
}

function missingUrl(command: string, variable: string): Error {
  return new Error(`bellwire ${command} needs ${variable} or DATABASE_URL.`);
}
