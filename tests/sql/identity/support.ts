import { randomBytes } from 'node:crypto';
import type { Row, Stage } from '../fixtures.ts';

/** What is stored of a token that nobody has. */
export function newDigest(): string {
  return randomBytes(32).toString('hex');
}

/** argon2id in form only; each another one. */
export function newHash(): string {
  return `$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$${randomBytes(24).toString('base64url')}`;
}

export async function openSession(stage: Stage, person: number): Promise<string> {
  const digest = newDigest();
  await stage.byServer('select identity.open_session($1, $2, $3, null, null)', [
    person,
    digest,
    'local',
  ]);
  return digest;
}

/** The sessions of a person, as far as they are of interest. */
export function sessionsOf(stage: Stage, person: number): Promise<Row[]> {
  return stage.look(
    'select token_digest, rotated_from from identity.sessions where user_id = $1 order by id',
    [person],
  );
}

export function changePassword(
  stage: Stage,
  caller: string,
  hash = newHash(),
  replacement = newDigest(),
): Promise<Row[]> {
  return stage.byServer('select * from identity.change_credentials($1, $2, null, $3)', [
    caller,
    replacement,
    hash,
  ]);
}

export function changeEmail(stage: Stage, caller: string, email: string): Promise<Row[]> {
  return stage.byServer('select * from identity.change_credentials($1, $2, $3, null)', [
    caller,
    newDigest(),
    email,
  ]);
}

export function hashOf(stage: Stage, person: number): Promise<string> {
  return stage.value('select password_hash from identity.passwords where user_id = $1', [person]);
}

/** A transaction of the server that is open until it is ended. */
export async function holdServer(stage: Stage) {
  const client = await stage.database.admin.connect();
  await client.query('begin; set local role bellwire_server');
  return {
    query: async (sql: string, values: unknown[] = []): Promise<Row[]> =>
      (await client.query(sql, values)).rows,
    async end(how: 'commit' | 'rollback'): Promise<void> {
      await client.query(how);
      client.release();
    },
  };
}

/** Lets the deadline of a row pass. */
export async function expire(stage: Stage, table: string): Promise<void> {
  await stage.look(`update ${table} set expires_at = now() - interval '1 second'`);
}
