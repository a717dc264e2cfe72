import type { FastifyInstance } from 'fastify';
import { databaseProblem } from './database-problem.ts';

/** Who the environment says runs this installation. */
export interface Administrator {
  name: string;
  email: string;
  password: string;
}

interface Synced {
  outcome: 'created' | 'synced' | 'refused';
  userId: number;
  /** The administrators there were before one was created. */
  earlierIds: readonly string[] | null;
}

/**
 * Makes the administrator of the environment or brings them up to date, and gives an empty
 * installation its first workspace. Neither stops the start: a server that is reachable without
 * them is better than none, and the next start tries again.
 */
export async function syncAdministrator(
  app: FastifyInstance,
  administrator: Administrator,
): Promise<void> {
  const synced = await syncAccount(app, administrator);
  if (synced === undefined || synced.outcome === 'refused') return;
  try {
    const [row] = await app.database.write<{ isSeeded: boolean }>(
      'select suite.seed_first_run($1) as is_seeded',
      [synced.userId],
    );
    if (row?.isSeeded) app.log.info('first run: made a workspace for the administrator');
  } catch (error) {
    app.log.error({ err: causeOf(error) }, 'first run: failed; the installation stays empty');
  }
}

async function syncAccount(
  app: FastifyInstance,
  { name, email, password }: Administrator,
): Promise<Synced | undefined> {
  try {
    const [found] = await app.database.read<{ passwordHash: string | null }>(
      'select password_hash from identity.find_credentials($1)',
      [email],
    );
    // A hash is new each time; only a password that is new may end the sessions.
    const isSame =
      found !== undefined && (await app.passwords.verify(found.passwordHash, password));
    const [synced] = await app.database.write<Synced>(
      'select outcome, user_id, earlier_ids from identity.sync_admin($1, $2, $3)',
      [name, email, isSame ? null : await app.passwords.hash(password)],
    );
    if (synced) app.log[isOdd(synced) ? 'warn' : 'info'](describe(synced));
    return synced;
  } catch (error) {
    app.log.error({ err: causeOf(error) }, 'admin sync: failed; the next start tries again');
    return undefined;
  }
}

function isOdd({ outcome, earlierIds }: Synced): boolean {
  return outcome === 'refused' || Boolean(earlierIds?.length);
}

function describe({ outcome, userId, earlierIds }: Synced): string {
  const about = `admin sync: ${outcome}`;
  if (outcome === 'refused') {
    return `${about}: ADMIN_EMAIL is the address of user ${userId}, who is no active administrator`;
  }
  const done = `${about} (user ${userId})`;
  if (!earlierIds?.length) return done;
  const earlier = earlierIds.map((id) => `user ${id}`).join(', ');
  return (
    `${done}; administrators before: ${earlier}. If ADMIN_EMAIL was changed, ` +
    '"select identity.set_admin(<id>, false)" takes that from the old account'
  );
}

function causeOf(error: unknown): unknown {
  return databaseProblem(error)?.cause ?? error;
}
