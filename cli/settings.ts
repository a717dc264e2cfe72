import { readEnvironment, type Settings } from '../config/read.ts';
import { Keyring } from '../secrets/keyring.ts';
import type { ServerOptions } from '../server/main.ts';
import type { WorkerOptions } from '../worker/main.ts';

/** What the command line may say; it wins over the environment. */
export interface Overrides {
  port?: number;
  host?: string;
}

/**
 * The checked environment. The overrides are read as if they were variables, so that what follows
 * from them (the default APP_URL from the port) follows from the command line too.
 */
export function readSettings(overrides: Overrides = {}): Settings {
  const environment = { ...process.env };
  if (overrides.port !== undefined) environment.PORT = String(overrides.port);
  if (overrides.host !== undefined) environment.HOST = overrides.host;
  return readEnvironment(environment);
}

/** `smtpUrl` stands in where the environment names no SMTP server. */
export function serverOptions(
  settings: Settings,
  databaseUrl: string,
  smtpUrl?: string,
): ServerOptions {
  return {
    databaseUrl,
    host: settings.HOST,
    port: settings.PORT,
    appUrl: settings.APP_URL,
    corsOrigin: settings.CORS_ORIGIN,
    poolSize: settings.DB_POOL_SIZE,
    logLevel: settings.LOG_LEVEL,
    signInLimit: settings.SIGN_IN_LIMIT,
    trustProxy: settings.TRUST_PROXY,
    smtpUrl: settings.SMTP_URL ?? smtpUrl,
    mailFrom: settings.MAIL_FROM,
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
    webhookHeaderPrefix: settings.WEBHOOK_HEADER_PREFIX,
  };
}
