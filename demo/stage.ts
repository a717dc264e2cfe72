import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startMailCatcher } from '../cli/mail-catcher.ts';
import {
  type EmbeddedDatabase,
  freePort,
  setRolePasswords,
  startEmbedded,
} from '../db/embedded.ts';
import { migrate } from '../db/migrate.ts';
import { runServer } from '../server/main.ts';
import type { Logger } from '../worker/logger.ts';
import { runWorker } from '../worker/main.ts';
import type { Interruption } from './interruption.ts';
import { Mailbox } from './mailbox.ts';
import { Receiver } from './receiver.ts';

const LOOPBACK = '127.0.0.1';
const ADMIN_CONNECTIONS = 4;
/** Every one of the demo's people signs in once, from one address. */
const SIGN_IN_LIMIT = 1000;

/** Instead of 10 seconds: the demo shows one retry, and nobody wants to wait for it. */
export const BACKOFF_SECONDS = 1;

/** Everything of Bellwire, and everything around it, on free ports and throw-away data. */
export interface Stage {
  address: string;
  receiver: Receiver;
  mailbox: Mailbox;
  /** The superuser, who sees through row security: what is compared with what arrived. */
  admin: pg.Pool;
  /** A connection of its own, like a psql session. */
  psql: pg.Client;
  /** Warnings and errors of the worker. */
  workerLog: string[];
}

/** What was started, and how to end it; the last started is ended first. */
export class Cleanup {
  readonly #steps: { name: string; run: () => Promise<unknown> }[] = [];

  add(name: string, run: () => Promise<unknown>): void {
    this.#steps.push({ name, run });
  }

  /** True when everything ended cleanly. One that fails does not keep the others from ending. */
  async run(): Promise<boolean> {
    let isClean = true;
    for (const { name, run } of this.#steps.splice(0).reverse()) {
      try {
        await run();
      } catch (error) {
        isClean = false;
        console.error(`${name} did not end cleanly: ${String(error)}`);
      }
    }
    return isClean;
  }
}

export async function setStage(cleanup: Cleanup, interruption: Interruption): Promise<Stage> {
  const database = await startDatabase(cleanup);
  interruption.checkpoint();
  const { admin, psql } = await connect(cleanup, database);
  await lowerBackoff(admin);
  interruption.checkpoint();

  const receiver = await Receiver.start();
  cleanup.add('The receiver', () => receiver.stop());
  const catcher = await startMailCatcher();
  cleanup.add('The mail catcher', () => catcher.stop());
  const mailbox = new Mailbox(catcher);
  cleanup.add('The mailbox', async () => mailbox.stop());
  interruption.checkpoint();

  const address = await startServer(cleanup, database.urlFor('bellwire_server'));
  interruption.checkpoint();
  const workerLog: string[] = [];
  const worker = await runWorker({
    databaseUrl: database.urlFor('bellwire_worker'),
    smtpUrl: catcher.smtpUrl,
    appUrl: address,
    webhookAllow: [LOOPBACK],
    logger: keepWarnings(workerLog),
  });
  cleanup.add('The worker', () => worker.stop());
  interruption.checkpoint();
  return { address, receiver, mailbox, admin, psql, workerLog };
}

async function startServer(cleanup: Cleanup, databaseUrl: string): Promise<string> {
  // Links in letters and the origin of sockets need the address before anything listens on it.
  const port = await freePort();
  const address = `http://${LOOPBACK}:${port}`;
  const server = await runServer({
    databaseUrl,
    host: LOOPBACK,
    port,
    appUrl: address,
    logLevel: 'error',
    signInLimit: SIGN_IN_LIMIT,
  });
  cleanup.add('The server', () => server.stop());
  return address;
}

async function startDatabase(cleanup: Cleanup): Promise<EmbeddedDatabase> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bellwire-demo-'));
  cleanup.add('The data', () => rm(folder, { recursive: true, force: true }));
  // Under root Postgres runs as another user, which has to get to the data.
  await chmod(folder, 0o711);
  const database = await startEmbedded({ dataDir: path.join(folder, 'data'), durable: false });
  // Where it could not get there all the same, the data is elsewhere.
  cleanup.add('The data', () => rm(database.dataDir, { recursive: true, force: true }));
  cleanup.add('Postgres', () => database.stop());
  await migrate(database.adminUrl);
  await setRolePasswords(database);
  return database;
}

async function connect(cleanup: Cleanup, database: EmbeddedDatabase) {
  const admin = new pg.Pool({ connectionString: database.adminUrl, max: ADMIN_CONNECTIONS });
  // A server that goes away rejects the query in hand; the event needs no handling.
  admin.on('error', () => {});
  cleanup.add('The database connections', () => admin.end());
  const psql = new pg.Client({ connectionString: database.adminUrl });
  psql.on('error', () => {});
  await psql.connect();
  cleanup.add('The SQL session', () => psql.end());
  return { admin, psql };
}

async function lowerBackoff(admin: pg.Pool): Promise<void> {
  const { rowCount } = await admin.query(
    "update bellwire.settings set value = $1 where name = 'webhook_backoff_seconds'",
    [BACKOFF_SECONDS],
  );
  if (rowCount !== 1) throw new Error('There is no setting webhook_backoff_seconds.');
}

function keepWarnings(lines: string[]): Logger {
  const keep = (fields: object, message: string) => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  return { debug: () => {}, info: () => {}, warn: keep, error: keep };
}
