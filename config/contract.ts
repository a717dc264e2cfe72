/**
 * Every environment variable Bellwire reads, and nothing else: data only, so that the reader, the
 * example file and the documentation cannot drift apart. A test holds `.env.example` against it.
 *
 * `default: null` means the variable may stay unset and has no value then. A blank value counts as
 * unset. PORT in the default of another variable stands for its value.
 */

/** What a variable holds, and therefore how it is checked. */
export type Kind =
  | 'database-url'
  | 'smtp-url'
  | 'http-url'
  | 'origin'
  | 'port'
  | 'integer'
  | 'list'
  | 'proxies'
  | 'log-level'
  | 'header-prefix'
  | 'keys'
  | 'text';

interface Variable {
  name: string;
  kind: Kind;
  default: string | number | null;
  /** Bounds of an integer, both allowed. */
  minimum?: number;
  maximum?: number;
  /** One sentence for the person who runs it. */
  why: string;
}

export const CONTRACT = [
  {
    name: 'DATABASE_URL',
    kind: 'database-url',
    default: null,
    why: 'An existing Postgres 15 or newer, as its owner: migrations and seed. Unset, `start` runs the embedded one.',
  },
  {
    name: 'DATABASE_SERVER_URL',
    kind: 'database-url',
    default: null,
    why: 'The login bellwire_server. Unset, DATABASE_URL is used with that role switched on.',
  },
  {
    name: 'DATABASE_WORKER_URL',
    kind: 'database-url',
    default: null,
    why: 'The login bellwire_worker. Unset, DATABASE_URL is used with that role switched on.',
  },
  {
    name: 'DATABASE_AUTHENTICATOR_URL',
    kind: 'database-url',
    default: null,
    why: 'The login authenticator, for PostgREST. Unset, DATABASE_URL is used with that role switched on.',
  },
  {
    name: 'BELLWIRE_DATA',
    kind: 'text',
    default: '.bellwire',
    why: 'The folder of the embedded database and of what else must outlive a start.',
  },
  {
    name: 'HOST',
    kind: 'text',
    default: '127.0.0.1',
    why: 'The address to listen on; 0.0.0.0 for every interface.',
  },
  { name: 'PORT', kind: 'port', default: 3000, why: 'The port to listen on; 0 takes a free one.' },
  {
    name: 'APP_URL',
    kind: 'http-url',
    default: 'http://localhost:PORT',
    why: 'The address people use. Links in e-mails are built from it, and https makes the session cookie __Host-.',
  },
  {
    name: 'CORS_ORIGIN',
    kind: 'origin',
    default: null,
    why: 'One more origin whose pages may call the API, exactly as a browser sends it.',
  },
  {
    name: 'TRUST_PROXY',
    kind: 'proxies',
    default: '127.0.0.1/32, ::1/128',
    why: 'The proxies whose X-Forwarded-For is believed: addresses or narrow ranges, or false for none.',
  },
  {
    name: 'DB_POOL_SIZE',
    kind: 'integer',
    default: 10,
    minimum: 1,
    maximum: 100,
    why: 'Database connections of one server process; one more listens for pushes.',
  },
  {
    name: 'LOG_LEVEL',
    kind: 'log-level',
    default: 'info',
    why: 'fatal, error, warn, info, debug, trace or silent.',
  },
  {
    name: 'SIGN_IN_LIMIT',
    kind: 'integer',
    default: 20,
    minimum: 1,
    maximum: 1000000,
    why: 'Sign-in attempts from one address in 15 minutes.',
  },
  {
    name: 'ARGON2_MEMORY_KIB',
    kind: 'integer',
    default: 19456,
    minimum: 7168,
    maximum: 1048576,
    why: 'Memory that hashing one password takes (argon2id). Raised, a hash is renewed at its next sign-in.',
  },
  {
    name: 'ARGON2_ITERATIONS',
    kind: 'integer',
    default: 2,
    minimum: 1,
    maximum: 20,
    why: 'Passes over that memory; 5 where it is the least.',
  },
  {
    name: 'ARGON2_PARALLELISM',
    kind: 'integer',
    default: 1,
    minimum: 1,
    maximum: 16,
    why: 'Lanes of that memory.',
  },
  {
    name: 'SMTP_URL',
    kind: 'smtp-url',
    default: null,
    why: 'smtp://user:password@host:587 or smtps://. Unset, no e-mail is sent.',
  },
  {
    name: 'MAIL_FROM',
    kind: 'text',
    default: 'Bellwire <bellwire@localhost>',
    why: 'The sender of every e-mail.',
  },
  {
    name: 'WEBHOOK_ALLOW',
    kind: 'list',
    default: null,
    why: 'Private receivers webhooks may reach, by comma: host names, addresses or CIDR ranges.',
  },
  {
    name: 'WEBHOOK_HEADER_PREFIX',
    kind: 'header-prefix',
    default: 'Codex',
    why: 'The middle of X-…-Signature-256, X-…-Event and X-…-Delivery.',
  },
  {
    name: 'SECRETS_KEY',
    kind: 'keys',
    default: null,
    why: 'Seals secrets in the database: openssl rand -base64 32. To change it, put the new one in front, by comma.',
  },
] as const satisfies readonly Variable[];
