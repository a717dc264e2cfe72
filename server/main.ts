import type { FastifyInstance } from 'fastify';
import type { TrustedProxies } from '../config/trust-proxy.ts';
import { NOT_MIGRATED } from '../operations/readiness.ts';
import { type Administrator, syncAdministrator } from './administrator.ts';
import { type AppOptions, buildApp } from './app.ts';
import { databaseProblem } from './database-problem.ts';

export interface ServerOptions extends Omit<AppOptions, 'appUrl'> {
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 3000; 0 takes a free one. */
  port?: number;
  /** The address people use; default http://localhost and the port. */
  appUrl?: string;
  /** Whether `trustProxy` is the operator's own choice, for the line that says so. */
  isTrustProxyGiven?: boolean;
  /** The administrator of the environment; without one none is made, and no first workspace. */
  administrator?: Administrator;
}

export interface RunningServer {
  /** Where it listens, like http://127.0.0.1:3000. */
  address: string;
  /**
   * Finishes what is under way, for at most 8 seconds. Safe to call more than once.
   * @returns what did not end as it should, a sentence each; everything else is done all the same
   */
  stop(): Promise<readonly string[]>;
}

const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 3000;
/** Within the 10 seconds that a process has to end. */
const STOP_TIMEOUT_MS = 8_000;
/** For what follows when requests were cut short. */
const STOP_GRACE_MS = 1_000;

/**
 * Starts the server. Listening comes last, so that no request meets a server that is not ready.
 * @throws Error with a sentence for the operator: the database cannot be used, or the port is taken.
 */
export async function runServer(options: ServerOptions): Promise<RunningServer> {
  const host = options.host ?? DEFAULT_HOST;
  const port = options.port ?? DEFAULT_PORT;
  const app = await buildApp({
    ...options,
    appUrl: options.appUrl ?? `http://localhost:${port}`,
  });
  try {
    await checkDatabase(app);
    await decideMail(app);
    if (options.administrator) await syncAdministrator(app, options.administrator);
    const address = await listen(app, host, port);
    app.log.info(describeProxies(options.trustProxy, options.isTrustProxyGiven ?? false));
    let stopping: Promise<readonly string[]> | undefined;
    return {
      address,
      stop: () => {
        stopping ??= stopServer(app);
        return stopping;
      },
    };
  } catch (error) {
    await stopServer(app);
    throw error;
  }
}

async function checkDatabase(app: FastifyInstance): Promise<void> {
  const reason = await app.readiness.reason();
  if (reason === 'migrations') {
    throw new Error(NOT_MIGRATED);
  }
  if (reason !== 'database') return;
  const cause = await app.database.read('select 1').then(
    () => undefined,
    (error: unknown) => databaseProblem(error)?.cause ?? error,
  );
  const detail = cause instanceof Error ? cause.message || String(cause) : 'it did not answer';
  throw new Error(`The server cannot use its database (DATABASE_SERVER_URL): ${detail}`, { cause });
}

/** Off is a way to run, and said so; configured and not working is worth a warning. */
async function decideMail(app: FastifyInstance): Promise<void> {
  await app.mail.decide();
  const { isEnabled, isConfigured, reason } = app.mail;
  if (isEnabled) app.log.info('e-mail is on: the mail server answered');
  else if (isConfigured) app.log.warn(`e-mail is off: ${reason}`);
  else app.log.info(`e-mail is off (${reason}): links are shown instead of mailed`);
}

function describeProxies(proxies: TrustedProxies | undefined, isGiven: boolean): string {
  const source = isGiven ? 'from TRUST_PROXY' : 'the default';
  return `trusting proxies (${source}): ${proxyText(proxies)}`;
}

function proxyText(proxies: TrustedProxies | undefined): string {
  if (proxies === undefined) return 'this machine';
  if (proxies === false) return 'none, X-Forwarded-For is ignored';
  if (proxies === true) return 'every hop';
  return typeof proxies === 'number' ? `${proxies} hops` : proxies.join(', ');
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

/**
 * In this order: /readyz refuses, no new connections, sockets are told (1001), requests under way are
 * answered, then the steps of the plugins, the database last.
 */
export async function stopServer(app: FastifyInstance): Promise<readonly string[]> {
  app.readiness.isShuttingDown = true;
  const failures: string[] = [];
  const closed = app.close().then(
    () => true,
    (error: Error) => Boolean(failures.push(`closing: ${error.message}`)),
  );
  if (!(await isDoneWithin(STOP_TIMEOUT_MS, closed))) {
    failures.push(`requests: cut short after ${STOP_TIMEOUT_MS} ms`);
    app.server.closeAllConnections();
    if (!(await isDoneWithin(STOP_GRACE_MS, closed))) failures.push('closing: it took too long');
  }
  return [...failures, ...app.stopFailures];
}

async function isDoneWithin(ms: number, done: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const isDone = await Promise.race([done, late]);
  clearTimeout(timer);
  return isDone;
}
