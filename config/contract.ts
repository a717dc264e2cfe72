/**
 * Every environment variable Bellwire reads, and nothing else: data only, and it imports nothing, so
 * that a tool can read it without loading a server. `scripts/env-docs.ts` writes `.env.example` and
 * the README's table from it; `tests/config/contract.test.ts` holds all of the source against it.
 *
 * A blank value counts as unset. PORT in the default of another variable stands for its value.
 * The order is the order in which a start refuses: what a gate of the boot checks comes first.
 */

/**
 * When a variable has to be there:
 * - `required`: always;
 * - `required-in-production`: with NODE_ENV=production, in the processes of `requiredBy`;
 * - `required-with`: as soon as one of `requiredWith` is set;
 * - `default`: never; unset and blank behave as the default;
 * - `optional`: never; unset and blank, there is no value;
 * - `removed`: not read. One that is still set is named at the start, which goes on.
 */
export type Kind =
  | 'required'
  | 'required-in-production'
  | 'required-with'
  | 'default'
  | 'optional'
  | 'removed';

/** What a variable holds, and therefore how it is checked. */
export type ValueType =
  | 'database-url'
  | 'smtp-url'
  | 'http-url'
  | 'origin'
  | 'port'
  | 'integer'
  | 'boolean'
  | 'allow-list'
  | 'ports'
  | 'proxies'
  | 'providers'
  | 'log-level'
  | 'header-prefix'
  | 'keys'
  | 'email'
  | 'name'
  | 'password'
  | 'token'
  | 'text';

export type ProcessName = 'server' | 'worker';

export interface Variable {
  name: string;
  kind: Kind;
  /** A removed variable has none. */
  type?: ValueType;
  default?: string | number;
  /** Names of others that make this one necessary. */
  requiredWith?: readonly string[];
  requiredBy?: readonly ProcessName[];
  /** Bounds of an integer, both allowed. */
  minimum?: number;
  maximum?: number;
  /** One sentence for the person who runs it; of a removed one, what to do instead. */
  why: string;
}

export const CONTRACT = [
  {
    name: 'DB_POOL_SIZE',
    kind: 'default',
    type: 'integer',
    default: 10,
    minimum: 1,
    maximum: 100,
    why: 'Database connections of one server process; one more listens for pushes.',
  },
  {
    name: 'TRUST_PROXY',
    kind: 'default',
    type: 'proxies',
    default: '127.0.0.1/32, ::1/128',
    why: 'The proxies whose X-Forwarded-For is believed: addresses or narrow ranges, or false for none.',
  },
  {
    name: 'TRUST_PROXY_ALLOW_HOP_COUNT',
    kind: 'optional',
    type: 'boolean',
    why: 'true accepts a hop count, true or a wide range as TRUST_PROXY: a client may then choose its own address.',
  },
  {
    name: 'ADMIN_USERNAME',
    kind: 'required-in-production',
    type: 'name',
    requiredWith: ['ADMIN_PASSWORD', 'ADMIN_EMAIL'],
    requiredBy: ['server'],
    why: 'The name of the administrator that each start of a server creates or brings up to date.',
  },
  {
    name: 'ADMIN_PASSWORD',
    kind: 'required-in-production',
    type: 'password',
    requiredWith: ['ADMIN_USERNAME', 'ADMIN_EMAIL'],
    requiredBy: ['server'],
    why: 'Their password, 8 characters or more. A new one ends their sessions.',
  },
  {
    name: 'ADMIN_EMAIL',
    kind: 'required-in-production',
    type: 'email',
    requiredWith: ['ADMIN_USERNAME', 'ADMIN_PASSWORD'],
    requiredBy: ['server'],
    why: 'Their address, which they sign in with and by which the account is found.',
  },
  {
    name: 'APP_URL',
    kind: 'required-in-production',
    type: 'http-url',
    default: 'http://localhost:PORT',
    requiredBy: ['server', 'worker'],
    why: 'The address people use. Links in e-mails are built from it, and https makes the session cookie __Host-.',
  },
  {
    name: 'AUTH_PROVIDERS',
    kind: 'default',
    type: 'providers',
    default: 'local',
    why: 'How people sign in, by comma. local is by password.',
  },
  {
    name: 'PORT',
    kind: 'default',
    type: 'port',
    default: 3000,
    why: 'The port to listen on; 0 takes a free one.',
  },
  {
    name: 'HOST',
    kind: 'default',
    type: 'text',
    default: '127.0.0.1',
    why: 'The address to listen on; 0.0.0.0 for every interface.',
  },
  {
    name: 'NODE_ENV',
    kind: 'optional',
    type: 'text',
    why: 'production makes the variables necessary that are marked so.',
  },
  {
    name: 'DATABASE_URL',
    kind: 'optional',
    type: 'database-url',
    why: 'An existing Postgres 15 or newer, as its owner: migrations and seed. Unset, `start` runs the embedded one.',
  },
  {
    name: 'DATABASE_SERVER_URL',
    kind: 'optional',
    type: 'database-url',
    why: 'The login bellwire_server. Unset, DATABASE_URL is used with that role switched on.',
  },
  {
    name: 'DATABASE_WORKER_URL',
    kind: 'optional',
    type: 'database-url',
    why: 'The login bellwire_worker. Unset, DATABASE_URL is used with that role switched on.',
  },
  {
    name: 'DATABASE_AUTHENTICATOR_URL',
    kind: 'optional',
    type: 'database-url',
    why: 'The login authenticator, for PostgREST. Unset, DATABASE_URL is used with that role switched on.',
  },
  {
    name: 'BELLWIRE_DATA',
    kind: 'default',
    type: 'text',
    default: '.bellwire',
    why: 'The folder of the embedded database and of what else must outlive a start.',
  },
  {
    name: 'CORS_ORIGIN',
    kind: 'optional',
    type: 'origin',
    why: 'One more origin whose pages may call the API, exactly as a browser sends it.',
  },
  {
    name: 'SIGN_IN_LIMIT',
    kind: 'default',
    type: 'integer',
    default: 20,
    minimum: 1,
    maximum: 1000000,
    why: 'Attempts with a password, a code or a token from one address in 15 minutes, over all servers.',
  },
  {
    name: 'ARGON2_MEMORY_KIB',
    kind: 'default',
    type: 'integer',
    default: 19456,
    minimum: 7168,
    maximum: 1048576,
    why: 'Memory that hashing one password takes (argon2id). Raised, a hash is renewed at its next sign-in.',
  },
  {
    name: 'ARGON2_ITERATIONS',
    kind: 'default',
    type: 'integer',
    default: 2,
    minimum: 1,
    maximum: 20,
    why: 'Passes over that memory; 5 where it is the least.',
  },
  {
    name: 'ARGON2_PARALLELISM',
    kind: 'default',
    type: 'integer',
    default: 1,
    minimum: 1,
    maximum: 16,
    why: 'Lanes of that memory.',
  },
  {
    name: 'SMTP_URL',
    kind: 'optional',
    type: 'smtp-url',
    why: 'smtp://user:password@host:587 or smtps://. Unset, no e-mail is sent.',
  },
  {
    name: 'MAIL_FROM',
    kind: 'default',
    type: 'text',
    default: 'Bellwire <bellwire@localhost>',
    why: 'The sender of every e-mail.',
  },
  {
    name: 'WEBHOOK_ALLOW',
    kind: 'optional',
    type: 'allow-list',
    why: 'Private receivers webhooks may reach, by comma: host names, addresses or CIDR ranges.',
  },
  {
    name: 'WEBHOOK_PORTS',
    kind: 'default',
    type: 'ports',
    default: '80, 443, 1024-65535',
    why: 'Ports webhooks may go to, by comma. No range includes the port of a database or of another known service.',
  },
  {
    name: 'WEBHOOK_HEADER_PREFIX',
    kind: 'default',
    type: 'header-prefix',
    default: 'Codex',
    why: 'The middle of X-…-Signature-256, X-…-Event and X-…-Delivery.',
  },
  {
    name: 'SECRETS_KEY',
    kind: 'optional',
    type: 'keys',
    why: 'Seals secrets in the database: openssl rand -base64 32. To exchange it: docs/operations.md.',
  },
  {
    name: 'LOG_LEVEL',
    kind: 'default',
    type: 'log-level',
    default: 'info',
    why: 'fatal, error, warn, info, debug, trace or silent.',
  },
  {
    name: 'SLOW_QUERY_MS',
    kind: 'default',
    type: 'integer',
    default: 500,
    minimum: 1,
    maximum: 60000,
    why: 'A statement that takes this many milliseconds or longer is logged by its name.',
  },
  {
    name: 'METRICS_TOKEN',
    kind: 'optional',
    type: 'token',
    why: 'The bearer token that /metrics asks for, 16 characters or more. Unset, there is no /metrics.',
  },
  {
    name: 'WORKER_PORT',
    kind: 'optional',
    type: 'port',
    why: 'The port of the worker for /healthz, /readyz and /metrics, on HOST; 0 takes a free one. Unset, it has none.',
  },
  {
    name: 'DB_HOST',
    kind: 'removed',
    why: 'Put the host into DATABASE_URL.',
  },
  {
    name: 'DB_NAME',
    kind: 'removed',
    why: 'Put the name of the database into DATABASE_URL.',
  },
  {
    name: 'DB_USER',
    kind: 'removed',
    why: 'Put the user into DATABASE_URL.',
  },
  {
    name: 'DB_PASS',
    kind: 'removed',
    why: 'Put the password into DATABASE_URL.',
  },
] as const satisfies readonly Variable[];

/** Read as every program reads them, and none of ours to describe. */
export const CONVENTIONS = ['NO_COLOR', 'PATH', 'TERM'] as const;
