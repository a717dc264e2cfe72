import type { FastifyInstance } from 'fastify';
import type { Keyring } from '../secrets/keyring.ts';
import { buildApp } from './app.ts';
import { databaseProblem } from './database-problem.ts';
import { smtpMailer } from './mail/mailer.ts';
import { type PasswordCost, Passwords } from './passwords.ts';

export interface ServerOptions {
  /** Connects as bellwire_server. */
  databaseUrl: string;
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 3000; 0 takes a free one. */
  port?: number;
  /** The address people use; default http://localhost and the port. */
  appUrl?: string;
  corsOrigin?: string;
  poolSize?: number;
  logLevel?: string;
  /** Sign-in attempts from one address in 15 minutes. */
  signInLimit?: number;
  trustProxy?: readonly string[];
  /** Without it no letter about an account is sent. */
  smtpUrl?: string;
  /** `Bellwire <bell@example.com>`; needed with an smtpUrl. */
  mailFrom?: string;
  passwordCost?: PasswordCost;
  keyring?: Keyring;
}

export interface RunningServer {
  /** Where it listens, like http://127.0.0.1:3000. */
  address: string;
  /** Finishes what is under way, for at most 10 seconds. Safe to call more than once. */
  stop(): Promise<void>;
}

const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 3000;
const STOP_TIMEOUT_MS = 10_000;

/**
 * Starts the server. Listening comes last, so that no request meets a server that is not ready.
 * @throws Error with a sentence for the operator: the database cannot be used, or the port is taken.
 */
export async function runServer(options: ServerOptions): Promise<RunningServer> {
  const host = options.host ?? DEFAULT_HOST;
  const port = options.port ?? DEFAULT_PORT;
  const { smtpUrl, mailFrom } = options;
  const app = await buildApp({
    ...options,
    passwords: new Passwords(options.passwordCost),
    mailer: smtpUrl && mailFrom ? smtpMailer(smtpUrl, mailFrom) : undefined,
    appUrl: options.appUrl ?? `http://localhost:${port}`,
  });
  try {
    await checkDatabase(app);
    const address = await listen(app, host, port);
    let stopping: Promise<void> | undefined;
    return {
      address,
      stop: () => {
        stopping ??= stop(app);
        return stopping;
      },
    };
  } catch (error) {
    await stop(app);
    throw error;
  }
}

async function checkDatabase(app: FastifyInstance): Promise<void> {
  const reason = await app.readiness.reason();
  if (reason === 'migrations') {
    throw new Error('The database is not migrated to this version: run "bellwire migrate" first.');
  }
  if (reason !== 'database') return;
  const cause = await app.database.read('select 1').then(
    () => undefined,
    (error: unknown) => databaseProblem(error)?.cause ?? error,
  );
  const detail = cause instanceof Error ? cause.message || String(cause) : 'it did not answer';
  throw new Error(`The server cannot use its database (DATABASE_SERVER_URL): ${detail}`, { cause });
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === 'EADDRINUSE'
        ? 'something else listens there; set PORT to another one'
        : code === 'EACCES'
          ? 'this user may not use it; set PORT to one above 1023'
          : message;
    throw new Error(`Cannot listen on port ${port} of ${host}: ${reason}.`, { cause: error });
  }
}

async function stop(app: FastifyInstance): Promise<void> {
  app.readiness.isShuttingDown = true;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      app.log.error(`stopping took longer than ${STOP_TIMEOUT_MS} ms and was cut short`);
      app.server.closeAllConnections();
      resolve();
    }, STOP_TIMEOUT_MS);
  });
  await Promise.race([app.close(), late]);
  clearTimeout(timer);
}
