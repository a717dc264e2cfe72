import t from 'tap';
import { createStage, type People, type Stage } from '../fixtures.ts';

type Persona = keyof People;

/** Who sees rows of the stage's workspace in a table; everybody not named sees none. */
const READERS: Record<string, Persona[]> = {
  'bellwire.workspaces': ['owner', 'admin', 'member', 'guest', 'outsider'],
  'bellwire.resources': ['owner', 'admin', 'member', 'guest', 'outsider'],
  'bellwire.memberships': ['owner', 'admin', 'member', 'guest', 'outsider'],
  'bellwire.activity_log': ['owner', 'admin', 'member', 'guest'],
  'bellwire.notifications': ['owner', 'member'],
  'bellwire.watches': ['owner', 'member'],
  'bellwire.notification_preferences': ['member'],
  'suite.squads': ['owner', 'admin', 'member', 'guest'],
  'suite.archives': ['owner', 'admin', 'member', 'guest'],
  'suite.logs': ['owner', 'admin', 'member', 'guest'],
  'suite.versions': ['owner', 'admin', 'member', 'guest'],
  'suite.comments': ['owner', 'admin', 'member', 'guest'],
  'suite.squad_invitations': ['outsider'],
  'api.workspaces': ['owner', 'admin', 'member', 'guest', 'outsider'],
  'api.squads': ['owner', 'admin', 'member', 'guest'],
  'api.archives': ['owner', 'admin', 'member', 'guest'],
  'api.documents': ['owner', 'admin', 'member', 'guest'],
  'api.versions': ['owner', 'admin', 'member', 'guest'],
  'api.comments': ['owner', 'admin', 'member', 'guest'],
  'api.watches': ['owner', 'member'],
};

/** Reference rows: the same for everybody who is signed in. */
const FOR_ALL = ['bellwire.resource_types', 'bellwire.notification_kinds'];

/** Everybody sees exactly their own row. */
const OWN_ROW = ['bellwire.users'];

/** No request role reads them at all. */
const CLOSED = [
  'bellwire.action_rules',
  'bellwire.email_outbox',
  'bellwire.fan_out_queue',
  'bellwire.rule_failures',
  'bellwire.settings',
  'bellwire.tracked_tables',
  'bellwire.webhook_deliveries',
  'bellwire.webhook_events',
  'bellwire.webhook_secrets',
  'bellwire.webhook_sequence',
  'bellwire.webhook_subscriptions',
  'bellwire.schema_migrations',
  'bellwire.applied_files',
  'identity.passwords',
  'identity.sessions',
  'suite.squad_members',
  'suite.workspace_members',
];

const PERSONAS: Persona[] = ['owner', 'admin', 'member', 'guest', 'outsider', 'stranger'];

/** Something of everything in the workspace. */
async function fill(stage: Stage) {
  const { owner, member, outsider } = stage.people;
  await stage.comment(member, stage.documentId, 'Noted');
  await stage.by(owner, 'select api.publish_document($1, $2)', [stage.documentId, 'v1']);
  await stage.by(owner, 'select api.invite_to_squad($1, $2)', [stage.squadId, outsider]);
  await stage.look("delete from bellwire.notifications where kind = 'squad_invite'");
  await stage.by(member, 'select api.set_notification_preferences(\'{"mention": {"email": 0}}\')');
}

/** The condition that keeps the stranger's own workspace out of the count. */
async function ofStage(stage: Stage, table: string): Promise<string> {
  const [column] = await stage.look(
    `select attname from pg_attribute where attrelid = $1::regclass
       and attname in ('workspace_id') and not attisdropped`,
    [table],
  );
  if (column) return `workspace_id = ${stage.workspaceId}`;
  if (table.endsWith('.workspaces')) return `id = ${stage.workspaceId}`;
  if (table === 'bellwire.memberships') {
    const scope = await stage.resourceId('workspace', stage.strangerWorkspaceId);
    return `scope_id <> ${scope}`;
  }
  return 'true';
}

t.test('every table and view has its line here', async (t) => {
  const stage = await createStage(t);
  const rows = await stage.look(
    `select oid::regclass::text as name from pg_class
     where relnamespace::regnamespace::text in ('bellwire', 'identity', 'suite', 'api')
       and relkind in ('r', 'p', 'v', 'm') order by 1`,
  );
  t.strictSame(
    rows.map((row) => row.name),
    [...Object.keys(READERS), ...FOR_ALL, ...OWN_ROW, ...CLOSED].sort(),
  );
});

t.test('who reads what', async (t) => {
  const stage = await createStage(t);
  await fill(stage);
  for (const [table, readers] of Object.entries(READERS)) {
    const condition = await ofStage(stage, table);
    const seen: Persona[] = [];
    for (const persona of PERSONAS) {
      const found = await stage.by(
        stage.people[persona],
        `select from ${table} where ${condition}`,
      );
      if (found.length > 0) seen.push(persona);
    }
    t.strictSame(seen, readers, table);
    t.match(
      await stage.byAnonymous(`select from ${table}`).catch((error) => error),
      { code: '42501' },
      `${table}: nobody`,
    );
  }
  for (const table of FOR_ALL) {
    for (const persona of PERSONAS) {
      const found = await stage.by(stage.people[persona], `select from ${table}`);
      t.ok(found.length > 0, `${table}: ${persona}`);
    }
  }
  for (const persona of PERSONAS) {
    t.strictSame(
      await stage.by(stage.people[persona], 'select id from bellwire.users'),
      [{ id: stage.people[persona] }],
      `bellwire.users: ${persona}`,
    );
  }
  for (const table of CLOSED) {
    for (const attempt of [
      () => stage.by(stage.people.owner, `select from ${table}`),
      () => stage.byAnonymous(`select from ${table}`),
      () => stage.byService(`select from ${table}`),
    ]) {
      await t.rejects(attempt(), { code: '42501' }, table);
    }
  }
});

t.test('the owner of the tables is bound by row security, too', async (t) => {
  const stage = await createStage(t);
  await fill(stage);
  const tables = await stage.look(
    `select oid::regclass::text as name from pg_class
     where relnamespace::regnamespace::text in ('bellwire', 'identity', 'suite')
       and relkind = 'r' and relname not in ('schema_migrations', 'applied_files')`,
  );
  for (const { name } of tables) {
    t.strictSame(await stage.byOwnerOfTables(`select from ${name}`), [], String(name));
  }
});

/** What each may do to a document and its archive; the rest is refused or finds no row. */
const CHANGES: [what: string, sql: (stage: Stage) => string, allowed: Persona[]][] = [
  [
    'edit a document',
    (stage) =>
      `update suite.logs set html = html || '.' where id = ${stage.documentId} returning id`,
    ['owner', 'admin', 'member'],
  ],
  [
    'write a document',
    (stage) =>
      `insert into suite.logs (archive_id, title) values (${stage.archiveId}, 'New') returning id`,
    ['owner', 'admin', 'member'],
  ],
  [
    'comment',
    (stage) =>
      `insert into suite.comments (log_id, body) values (${stage.documentId}, 'x') returning id`,
    ['owner', 'admin', 'member', 'guest'],
  ],
  [
    'edit a comment of the member',
    () => "update suite.comments set body = 'mine' where body = 'Noted' returning id",
    ['member'],
  ],
  [
    'rename an archive',
    (stage) =>
      `update suite.archives set name = name || '.' where id = ${stage.archiveId} returning id`,
    ['owner', 'admin', 'member'],
  ],
  [
    'make an archive',
    (stage) =>
      `insert into suite.archives (squad_id, name) values (${stage.squadId}, 'New') returning id`,
    ['owner', 'admin', 'member'],
  ],
  [
    'delete an archive',
    (stage) => `delete from suite.archives where id = ${stage.archiveId} returning id`,
    ['owner', 'admin'],
  ],
  [
    'rename the squad',
    (stage) =>
      `update suite.squads set name = name || '.' where id = ${stage.squadId} returning id`,
    ['owner', 'admin'],
  ],
  [
    'take a document to another squad',
    (stage) => `update suite.logs set squad_id = null where id = ${stage.documentId} returning id`,
    [],
  ],
  [
    'sign as somebody else',
    (stage) =>
      `insert into suite.comments (log_id, body, author_id)
       values (${stage.documentId}, 'x', ${stage.people.owner}) returning id`,
    [],
  ],
  [
    'join a squad uninvited',
    (stage) =>
      `insert into suite.squad_members (squad_id, user_id)
       values (${stage.squadId}, ${stage.people.stranger}) returning 1`,
    [],
  ],
  ['become an administrator', () => 'update bellwire.users set is_admin = true returning id', []],
];

t.test('who changes what', async (t) => {
  const stage = await createStage(t);
  await fill(stage);
  const rolledBack = new Error('rolled back');
  for (const [what, sql, allowed] of CHANGES) {
    const could: Persona[] = [];
    for (const persona of PERSONAS) {
      let count = 0;
      await stage.database
        .asUser(stage.people[persona], async (client) => {
          count = (await client.query(sql(stage))).rowCount ?? 0;
          throw rolledBack;
        })
        .catch((error) => {
          if (error !== rolledBack && error.code !== '42501')
            t.fail(`${what}, ${persona}: ${error.message}`);
        });
      if (count > 0) could.push(persona);
    }
    t.strictSame(could, allowed, what);
    t.match(
      await stage.byAnonymous(sql(stage)).catch((error) => error),
      { code: '42501' },
      `${what}: nobody`,
    );
  }
});

t.test('claims that name nobody read nothing', async (t) => {
  const stage = await createStage(t);
  for (const sub of ['', 'abc', '-1', '1 or true', '1.5', '99999999999999999999', '0', '987654']) {
    t.strictSame(
      await stage.database.asUser(sub, async (client) => {
        const { rows } = await client.query('select id from api.documents');
        return rows;
      }),
      [],
      JSON.stringify(sub),
    );
  }
});
