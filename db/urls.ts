/**
 * Where to connect, and as whom. Every process reads the same four variables through this one
 * function, so that a role is never chosen in two places.
 */

/** One connection string per part of the system; undefined when nothing names it. */
export interface DatabaseUrls {
  /** Superuser or owner: migrations, seed, administration. */
  admin: string | undefined;
  /** The server's login, `bellwire_server`. */
  server: string | undefined;
  /** The worker's login, `bellwire_worker`. */
  worker: string | undefined;
  /** PostgREST's login, `authenticator`. */
  authenticator: string | undefined;
}

/** What the connection strings are read from: the checked settings, or an environment. */
interface DatabaseEnvironment {
  DATABASE_URL?: string;
  DATABASE_SERVER_URL?: string;
  DATABASE_WORKER_URL?: string;
  DATABASE_AUTHENTICATOR_URL?: string;
}

/**
 * Reads the connection strings from the environment.
 *
 * A role with no URL of its own connects with DATABASE_URL and starts as that role (the libpq
 * option `-c role=…`), so one URL is enough to begin with and no role is ever more than itself.
 */
export function databaseUrls(environment: DatabaseEnvironment): DatabaseUrls {
  const admin = environment.DATABASE_URL || undefined;
  const asRole = (role: string) => (admin ? urlWithRole(admin, role) : undefined);
  return {
    admin,
    server: environment.DATABASE_SERVER_URL || asRole('bellwire_server'),
    worker: environment.DATABASE_WORKER_URL || asRole('bellwire_worker'),
    authenticator: environment.DATABASE_AUTHENTICATOR_URL || asRole('authenticator'),
  };
}

/**
 * The same connection string with the role switched at the start of every connection. Options the
 * URL already carries are kept; the role is appended, and the last setting of a name wins.
 */
export function urlWithRole(url: string, role: string): string {
  const parsed = parseDatabaseUrl(url);
  const options = parsed.searchParams.get('options');
  const switched = `-c role=${role}`;
  parsed.searchParams.set('options', options ? `${options} ${switched}` : switched);
  // URLSearchParams writes a blank as "+", which libpq does not read as a blank.
  parsed.search = parsed.search.replaceAll('+', '%20');
  return parsed.toString();
}

/** The same server and login, another database. */
export function urlWithDatabase(url: string, database: string): string {
  const parsed = parseDatabaseUrl(url);
  parsed.pathname = `/${encodeURIComponent(database)}`;
  return parsed.toString();
}

/** The connection string as it may be shown to a person: without its password. */
export function urlWithoutPassword(url: string): string {
  const parsed = parseDatabaseUrl(url);
  if (parsed.password) parsed.password = '***';
  return parsed.toString();
}

function parseDatabaseUrl(url: string): URL {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    // The text itself stays out of the message: it may hold a password.
    throw new Error('A database URL must look like postgres://user:password@host:5432/database.');
  }
  if (parsed.protocol !== 'postgres:' && parsed.protocol !== 'postgresql:') {
    throw new Error(
      `A database URL must start with postgres:// or postgresql://, not ${parsed.protocol}//.`,
    );
  }
  return parsed;
}
