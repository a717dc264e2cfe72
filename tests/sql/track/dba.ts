import type pg from 'pg';
import type { Test } from 'tap';
import type { Row, Stage } from '../fixtures.ts';

/**
 * An application next to Bellwire: a schema whose owner is an administrator without superuser rights,
 * and a role of the application's own that knows nothing of Bellwire.
 */
export interface Neighbour {
  /** As the schema's owner, who is a bellwire_admin. */
  dba(sql: string, values?: unknown[]): Promise<Row[]>;
  /** As the application, acting for this person. */
  app(person: number | null, sql: string, values?: unknown[]): Promise<Row[]>;
}

export async function createNeighbour(t: Test, stage: Stage, schema: string): Promise<Neighbour> {
  const dbaRole = `${stage.database.name}_dba`;
  const appRole = `${stage.database.name}_app`;
  await stage.look(
    `create role ${dbaRole} login in role bellwire_admin; create role ${appRole} login;
     create schema "${schema}" authorization ${dbaRole};
     grant usage on schema "${schema}" to ${appRole};
     alter default privileges for role ${dbaRole} in schema "${schema}"
       grant select, insert, update, delete on tables to ${appRole}`,
  );
  t.teardown(async () => {
    await stage.look(`drop owned by ${appRole} cascade`);
    await stage.look(`drop owned by ${dbaRole} cascade`);
    await stage.look(`drop role ${dbaRole}, ${appRole}`);
  });
  return {
    dba: (sql, values) => runAs(stage.database.admin, dbaRole, null, sql, values),
    app: (person, sql, values) => runAs(stage.database.admin, appRole, person, sql, values),
  };
}

/** One statement in a session that really is this login's. */
async function runAs(
  pool: pg.Pool,
  role: string,
  person: number | null,
  sql: string,
  values?: unknown[],
): Promise<Row[]> {
  const client = await pool.connect();
  try {
    await client.query(`set session authorization ${role}`);
    if (person !== null) {
      await client.query("select set_config('request.jwt.claims', $1, false)", [
        JSON.stringify({ sub: String(person) }),
      ]);
    }
    return (await client.query(sql, values)).rows;
  } finally {
    client.release(true);
  }
}

/** Actions of the tests' own: rows that an administrator adds. */
export async function addActions(stage: Stage): Promise<void> {
  await stage.byAdministrator(
    `insert into bellwire.action_rules (action, verb, emits, auto_watch, watcher_kind, owner_kind)
     values ('order.open', 'opened', true, 'auto_open', null, null),
       ('order.change', 'changed', false, null, 'watched_log_update', null),
       ('order.close', 'closed', true, null, 'watched_publish', 'comment_on_my_doc'),
       ('order.drop', 'dropped', false, null, null, null)`,
  );
}
