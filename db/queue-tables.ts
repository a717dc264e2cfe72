import { Logger, runMigrations } from 'graphile-worker';
import pg from 'pg';
import { urlWithRole } from './urls.ts';

const WORKER_ROLE = 'bellwire_worker';
const QUEUE_SCHEMA = 'graphile_worker';

/**
 * Installs or updates graphile-worker's tables. They have row security without policies, so they
 * must belong to the role that uses them: its migrations run as the worker, which may create a
 * schema for just as long as that takes.
 */
export async function installQueue(
  client: pg.Client,
  adminUrl: string,
  log: (line: string) => void,
): Promise<void> {
  const { rows } = await client.query<{ role: boolean; installed: boolean; database: string }>(
    `select exists (select from pg_catalog.pg_roles where rolname = $1) as role,
            to_regclass($2 || '.migrations') is not null as installed,
            current_database() as database`,
    [WORKER_ROLE, QUEUE_SCHEMA],
  );
  const { role, installed, database } = rows[0] ?? { role: false, installed: false, database: '' };
  if (!role) {
    log(`warning: there is no role ${WORKER_ROLE}, so the queue was not installed`);
    return;
  }
  const privilege = `create on database ${pg.escapeIdentifier(database)}`;
  // It says `create schema if not exists`, which asks for the right even when the schema exists.
  if (!installed) await client.query(`grant ${privilege} to ${WORKER_ROLE}`);
  try {
    await migrateQueue(adminUrl);
  } finally {
    // Also what an earlier run left behind when it was killed in between.
    await client.query(
      `do $$ begin
         if has_database_privilege('${WORKER_ROLE}', current_database(), 'create') then
           revoke ${privilege} from ${WORKER_ROLE};
         end if;
       end $$`,
    );
  }
}

async function migrateQueue(adminUrl: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: urlWithRole(adminUrl, WORKER_ROLE), max: 2 });
  // A lost connection rejects the query in hand; graphile-worker asks for both handlers.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  try {
    await runMigrations({
      pgPool: pool,
      schema: QUEUE_SCHEMA,
      logger: new Logger(() => () => {}),
    });
  } finally {
    await pool.end();
  }
}
