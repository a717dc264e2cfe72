import pg from 'pg';
import type { TestDatabase } from '../support/database.ts';

// Ids and counts of these tests are small; numbers read better than strings.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const INT8_ARRAY: number = 1016;
pg.types.setTypeParser(INT8_ARRAY, (text: string) =>
  text.slice(1, -1).split(',').filter(Boolean).map(Number),
);

/** argon2id in form only; nobody signs in with it. */
export const PASSWORD_HASH = `$argon2id$v=19$m=19456,t=2,p=1$${'c2FsdA'.repeat(4)}$${'aGFzaA'.repeat(7)}`;

export type Row = Record<string, unknown>;

export interface Entry {
  action: string;
  actor_id: number | null;
  type: string;
  ref: string;
  metadata: Row;
}

export interface Told {
  id: number;
  user_id: number;
  kind: string;
  title: string;
  body: string | null;
  link_path: string | null;
  scope_id: number | null;
  coalesced_count: number;
  /** By e-mail only: never in the bell. */
  is_hidden: boolean;
}

export interface People {
  /** Owns the workspace and the squad. */
  owner: number;
  /** Admin of the workspace, in no squad. */
  admin: number;
  /** Member of both. */
  member: number;
  /** Member of both, too. */
  colleague: number;
  /** Guest of both. */
  guest: number;
  /** Member of the workspace, in no squad. */
  outsider: number;
  /** Owner of another workspace. */
  stranger: number;
}

/** What the stage has; see stage-template.ts. */
export interface StageIds {
  people: People;
  workspaceId: number;
  squadId: number;
  archiveId: number;
  documentId: number;
  strangerWorkspaceId: number;
}

/** A workspace with a squad, an archive and a document in it, and the people every test has a use for. */
export class Stage implements StageIds {
  readonly database: TestDatabase;
  readonly people: People = {
    owner: 0,
    admin: 0,
    member: 0,
    colleague: 0,
    guest: 0,
    outsider: 0,
    stranger: 0,
  };
  workspaceId = 0;
  squadId = 0;
  archiveId = 0;
  documentId = 0;
  strangerWorkspaceId = 0;

  constructor(database: TestDatabase, ids?: StageIds) {
    this.database = database;
    Object.assign(this, ids);
  }

  /** One statement as a signed-in person. */
  by(person: number, sql: string, values: unknown[] = []): Promise<Row[]> {
    return this.database.asUser(person, async (client) => (await client.query(sql, values)).rows);
  }

  /** One statement as nobody. */
  byAnonymous(sql: string, values: unknown[] = []): Promise<Row[]> {
    return this.database.asAnonymous(async (client) => (await client.query(sql, values)).rows);
  }

  /** One statement as a service token without any right of its own. */
  byService(sql: string, values: unknown[] = []): Promise<Row[]> {
    return this.database.asService({}, async (client) => (await client.query(sql, values)).rows);
  }

  /** One statement as the worker's login. */
  byWorker(sql: string, values: unknown[] = []): Promise<Row[]> {
    return this.database.asWorker(async (client) => (await client.query(sql, values)).rows);
  }

  /** One statement as the server's login. */
  byServer(sql: string, values: unknown[] = []): Promise<Row[]> {
    return this.database.asServer(async (client) => (await client.query(sql, values)).rows);
  }

  /** One statement as a database administrator. */
  byAdministrator(sql: string, values: unknown[] = []): Promise<Row[]> {
    return this.database.asAdministrator(async (client) => (await client.query(sql, values)).rows);
  }

  /** One statement as the owner of the tables. */
  byOwnerOfTables(sql: string, values: unknown[] = []): Promise<Row[]> {
    return this.database.asOwner(async (client) => (await client.query(sql, values)).rows);
  }

  /** As the superuser: to set the stage and to look, never for what is asserted. */
  async look(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.database.admin.query(sql, values)).rows;
  }

  async value<T>(sql: string, values: unknown[] = []): Promise<T> {
    const [row] = await this.look(sql, values);
    if (!row) throw new Error(`no row: ${sql}`);
    return Object.values(row)[0] as T;
  }

  async addPerson(name: string): Promise<number> {
    const [row] = await this.byAdministrator('select identity.create_user($1, $2, $3) as id', [
      name,
      `${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '.')}@example.org`,
      PASSWORD_HASH,
    ]);
    return row?.id as number;
  }

  /** People who are members of workspace and squad. */
  async addMembers(count: number): Promise<number[]> {
    const ids: number[] = [];
    for (let number = 1; number <= count; number += 1)
      ids.push(await this.addPerson(`Crowd ${number}`));
    for (const [table, id] of [
      ['suite.workspace_members (workspace_id', this.workspaceId],
      ['suite.squad_members (squad_id', this.squadId],
    ]) {
      await this.look(`insert into ${table}, user_id) select $1, unnest($2::bigint[])`, [id, ids]);
    }
    return ids;
  }

  async createDocument(person: number, title: string, html = '', parentId?: number) {
    const [row] = await this.by(person, 'select * from api.create_document($1, $2, $3, $4)', [
      this.archiveId,
      title,
      html,
      parentId ?? null,
    ]);
    return row?.id as number;
  }

  save(person: number, documentId: number, html: string): Promise<Row[]> {
    return this.by(person, 'select * from api.save_document($1, $2)', [documentId, html]);
  }

  async comment(person: number, documentId: number, body: string, parentId?: number) {
    const [row] = await this.by(person, 'select * from api.create_comment($1, $2, $3)', [
      documentId,
      body,
      parentId ?? null,
    ]);
    return row?.id as number;
  }

  watch(person: number, type: string, ref: number, level = 'watching'): Promise<Row[]> {
    return this.by(person, 'select * from api.watch($1, $2, $3)', [type, String(ref), level]);
  }

  async watchState(person: number, type: string, ref: number): Promise<Row | undefined> {
    const [row] = await this.by(person, 'select * from api.watch_state($1, $2)', [
      type,
      String(ref),
    ]);
    return row;
  }

  resourceId(type: string, ref: number | string): Promise<number> {
    return this.value('select id from bellwire.resources where type = $1 and ref = $2', [
      type,
      String(ref),
    ]);
  }

  /** The activity entries that this adds. */
  async recorded(change: () => Promise<unknown>): Promise<Entry[]> {
    const before = await this.value('select coalesce(max(id), 0) from bellwire.activity_log');
    await change();
    return (await this.look(
      `select activity.action, activity.actor_id, resource.type, resource.ref, activity.metadata
       from bellwire.activity_log as activity
       join bellwire.resources as resource on resource.id = activity.resource_id
       where activity.id > $1 order by activity.id`,
      [before],
    )) as unknown as Entry[];
  }

  /** The notifications that this adds, by person. */
  async told(change: () => Promise<unknown>): Promise<Told[]> {
    const before = await this.value('select coalesce(max(id), 0) from bellwire.notifications');
    await change();
    return (await this.look(
      `select id, user_id, kind, title, body, link_path, scope_id, coalesced_count,
         deleted_at is not null as is_hidden
       from bellwire.notifications where id > $1 order by user_id, id`,
      [before],
    )) as unknown as Told[];
  }

  /** Lets time pass for the notifications there are. */
  async ageNotifications(seconds: number): Promise<void> {
    await this.look(
      'update bellwire.notifications set created_at = created_at - make_interval(secs => $1)',
      [seconds],
    );
  }

  /** Lets time pass for the activity there is; its guard is off for this alone. */
  async ageActivity(seconds: number): Promise<void> {
    const client = await this.database.admin.connect();
    try {
      await client.query('begin');
      await client.query('set local session_replication_role = replica');
      await client.query(
        'update bellwire.activity_log set created_at = created_at - make_interval(secs => $1)',
        [seconds],
      );
      await client.query('commit');
    } finally {
      client.release();
    }
  }

  /** Changes a figure of the rules for this test database. */
  async set(name: string, value: number): Promise<void> {
    await this.byAdministrator('update bellwire.settings set value = $2 where name = $1', [
      name,
      value,
    ]);
  }

  /** Nothing anybody is told of, watches or has in a queue. */
  async clearMail(): Promise<void> {
    await this.look('delete from bellwire.notifications');
    await this.look('delete from bellwire.fan_out_queue');
  }
}
