import type { ProcessName } from '../config/contract.ts';
import {
  doubts,
  ignoredVariables,
  isGiven,
  isProduction,
  readEnvironment,
  type Settings,
} from '../config/read.ts';
import { Keyring } from '../secrets/keyring.ts';
import type { ServerOptions } from '../server/main.ts';
import type { WorkerOptions } from '../worker/main.ts';

/** What the command line may say; it wins over the environment. */
export interface Overrides {
  port?: number;
  host?: string;
}

/**
 * The checked environment of a server or a worker, its warnings printed. The overrides are read as
 * if they were variables, so that what follows from them (the default APP_URL from the port)
 * follows from the command line too.
 * @throws ConfigurationError
 */
export function readSettings(of: ProcessName, overrides: Overrides = {}): Settings {
  const environment = processEnvironment();
  if (overrides.port !== undefined) environment.PORT = String(overrides.port);
  if (overrides.host !== undefined) environment.HOST = overrides.host;
  // Before what may stop the start, so that it is always read.
  for (const line of ignoredVariables(environment)) console.error(line);
  const settings = readEnvironment(environment, of);
  for (const line of doubts(settings)) console.error(`warning: ${line}`);
  return settings;
}

/** For the commands about the database alone: the rest of the environment may be as it likes. */
export function readDatabaseSettings(): Settings {
  return readEnvironment(processEnvironment(), 'worker', [
    'DATABASE_URL',
    'DATABASE_SERVER_URL',
    'DATABASE_WORKER_URL',
    'DATABASE_AUTHENTICATOR_URL',
    'BELLWIRE_DATA',
  ]);
}

/** `smtpUrl` stands in where the environment names no SMTP server. */
export function serverOptions(
  settings: Settings,
  databaseUrl: string,
  smtpUrl?: string,
): ServerOptions {
  const { ADMIN_USERNAME: name, ADMIN_PASSWORD: password, ADMIN_EMAIL: email } = settings;
  return {
    databaseUrl,
    host: settings.HOST,
    port: settings.PORT,
    appUrl: settings.APP_URL,
    corsOrigin: settings.CORS_ORIGIN,
    isProduction: isProduction(settings),
    poolSize: settings.DB_POOL_SIZE,
    logLevel: settings.LOG_LEVEL,
    signInLimit: settings.SIGN_IN_LIMIT,
    trustProxy: settings.TRUST_PROXY,
    isTrustProxyGiven: isGiven(processEnvironment(), 'TRUST_PROXY'),
    authProviders: settings.AUTH_PROVIDERS,
    administrator: name && password && email ? { name, password, email } : undefined,
    smtpUrl: settings.SMTP_URL ?? smtpUrl,
    mailFrom: settings.MAIL_FROM,
    slowQueryMs: settings.SLOW_QUERY_MS,
    metricsToken: settings.METRICS_TOKEN,
    passwordCost: {
      memoryKib: settings.ARGON2_MEMORY_KIB,
      iterations: settings.ARGON2_ITERATIONS,
      parallelism: settings.ARGON2_PARALLELISM,
    },
    keyring: new Keyring(settings.SECRETS_KEY),
  };
}

/** `smtpUrl` as for the server. */
export function workerOptions(
  settings: Settings,
  databaseUrl: string,
  smtpUrl?: string,
): WorkerOptions {
  return {
    databaseUrl,
    smtpUrl: settings.SMTP_URL ?? smtpUrl,
    mailFrom: settings.MAIL_FROM,
    appUrl: settings.APP_URL,
    webhookAllow: settings.WEBHOOK_ALLOW,
    webhookPorts: settings.WEBHOOK_PORTS,
    webhookHeaderPrefix: settings.WEBHOOK_HEADER_PREFIX,
    slowQueryMs: settings.SLOW_QUERY_MS,
    probes:
      settings.WORKER_PORT === undefined
        ? undefined
        : { host: settings.HOST, port: settings.WORKER_PORT, metricsToken: settings.METRICS_TOKEN },
    secretsKeys: settings.SECRETS_KEY,
  };
}

/** The one place where the process's environment is taken as a whole. */
function processEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env };
}
