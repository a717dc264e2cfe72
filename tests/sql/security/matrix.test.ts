import t from 'tap';
import { createStage, type People, type Stage } from '../fixtures.ts';
import { blocks, expectedLines, expectedOf, functionLines, relationLines } from './expectations.ts';
import { relationsOf } from './measure.ts';
import { RULES } from './rules.ts';
import { callAs, strangersCalls } from './strangers.ts';
import { createTwoTenants } from './two-tenants.ts';

type Persona = keyof People;

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

/** What is in one list and not in the other; in both directions nothing when all is as expected. */
function difference(expected: string[], found: string[]) {
  return {
    unexpected: found.filter((line) => !expected.includes(line)),
    missing: expected.filter((line) => !found.includes(line)),
  };
}

const NO_DIFFERENCE = { unexpected: [], missing: [] };

t.test('every table and view is as access.txt says, for everybody', async (t) => {
  const stage = await createTwoTenants(t);
  for (const { name, isTable, tenants } of await relationsOf(stage)) {
    if (!isTable) continue;
    const found = new Set(tenants.values());
    const isEverybodys = found.size === 1 && found.has(null);
    t.ok(
      isEverybodys || (found.has(stage.workspaceId) && found.has(stage.strangerWorkspaceId)),
      `${name}: there are rows of both tenants, so that "own" is not "all"`,
    );
  }
  const found = await relationLines(stage);
  t.strictSame(difference(blocks(expectedLines('relations')), blocks(found)), NO_DIFFERENCE);
});

t.test('every function is as access.txt says, for everybody', async (t) => {
  const stage = await createTwoTenants(t);
  const expected = expectedLines('functions').map((line) => line.split(' | ')[0] ?? '');
  t.strictSame(difference(expected, await functionLines(stage)), NO_DIFFERENCE);
});

/** Words that are in the stage's workspace and nowhere else; the deactivated person's own name is not among them. */
const WORDS = /Harbour|Crew|Notes|Tides|Noted|Olga|Ada|Mats|Gina|Otto/;

t.test('what a stranger and a deactivated person get from every function of the API', async (t) => {
  const stage = await createTwoTenants(t);
  const { stranger, colleague } = stage.people;
  const calls = await strangersCalls(stage);
  const expected = expectedLines('functions').filter((line) => line.startsWith('api.'));
  t.strictSame(
    expected.map((line) => line.split('(')[0]),
    Object.keys(calls).sort(),
    'each function has its call',
  );
  for (const line of expected) {
    const [name = ''] = line.split('(');
    const found: string[] = [];
    for (const [persona, person] of [
      ['stranger', stranger],
      ['deactivated', colleague],
    ] as const) {
      const { outcome, text, isTouched } = await callAs(stage, person, name, calls[name] ?? []);
      // What is changed in this workspace by one of its members can only be theirs.
      const isOwn = isTouched && persona === 'deactivated';
      found.push(`${persona}: ${outcome}${isOwn ? ', changed' : ''}`);
      t.notMatch(text, WORDS, `${name}: nothing of it is told to the ${persona}`);
      t.notOk(isTouched && !isOwn, `${name}: nothing of it is changed by the ${persona}`);
    }
    t.strictSame(found, line.split(' | ').slice(1), name);
  }
  const { text } = await callAs(stage, stranger, 'api.me', []);
  t.match(text, /Stan Stranger/, 'they do get what is theirs');
});

/** Each is of one relation, so that all can be there at once. */
const LEAKS: [what: string, relation: string, sabotage: string, sign: RegExp][] = [
  [
    'a policy lets everybody who is signed in read',
    'suite.logs',
    'create policy leak on suite.logs for select to authenticated using (true)',
    /guest.*: select all/,
  ],
  [
    'a policy lets people write in another workspace',
    'suite.comments',
    'create policy leak on suite.comments for insert to authenticated with check (true)',
    /guest.*: select own, insert all/,
  ],
  [
    'a request role may delete from a table of the engine',
    'bellwire.activity_log',
    `grant delete on bellwire.activity_log to authenticated;
     create policy leak on bellwire.activity_log for delete to authenticated
       using (scope_id = any (array(select bellwire.my_scopes())))`,
    /guest.*: select own, delete own/,
  ],
  [
    'a column more may be changed',
    'bellwire.notifications',
    'grant update (title) on bellwire.notifications to authenticated',
    /update part \(read_at title\)/,
  ],
  [
    'everybody is granted a table',
    'bellwire.settings',
    'grant select on bellwire.settings to public',
    /owner.*: select none/,
  ],
  [
    'a table does not force row security',
    'bellwire.tracked_tables',
    'alter table bellwire.tracked_tables no force row level security',
    /table-owner: select all/,
  ],
  [
    'a view runs with the rights of its owner',
    'api.archives',
    `alter view api.archives set (security_invoker = false);
     alter view api.archives owner to bellwire_definer`,
    /guest.*stranger.*: select all/,
  ],
];

t.test('a leak is noticed', async (t) => {
  const stage = await createTwoTenants(t);
  const relations = LEAKS.map(([, relation]) => relation);
  t.strictSame(
    blocks(await relationLines(stage, relations)).sort(),
    blocks(expectedOf(relations)).sort(),
  );
  for (const [, , sabotage] of LEAKS) await stage.look(sabotage);
  for (const [what, relation, , sign] of LEAKS) {
    const { unexpected } = difference(
      expectedOf([relation]),
      await relationLines(stage, [relation]),
    );
    t.match(unexpected.join('\n'), sign, what);
  }
  await stage.look('create table bellwire.forgotten (id bigint primary key)');
  t.strictSame(await relationLines(stage, ['bellwire.forgotten']), [
    'bellwire.forgotten',
    '  nobody',
  ]);
  t.strictSame(expectedOf(['bellwire.forgotten']), [], 'a table has no lines');
  await stage.look('drop view bellwire.admin_unread');
  t.strictSame(await relationLines(stage, ['bellwire.admin_unread']), []);
  t.not(expectedOf(['bellwire.admin_unread']).length, 0, 'lines have no view');
});

/** With the rule of the catalog that it breaks and, for functions, the line that is not in the file. */
const MISTAKES: [what: string, sabotage: string, rule: RegExp, line?: RegExp][] = [
  [
    'a function without a search path, and without a line',
    `create function bellwire.careless() returns bigint language sql security definer as 'select count(*) from bellwire.users';
     revoke all on function bellwire.careless() from public;
     alter function bellwire.careless() owner to bellwire_definer`,
    /definer function has an empty search path/,
    /^bellwire\.careless\(\): -$/m,
  ],
  [
    'a function for everybody',
    'grant execute on function bellwire.purge_workspace(bigint) to public',
    /no function is for everybody/,
    /^bellwire\.purge_workspace\(bigint\): anon authenticated .*table-owner$/m,
  ],
  [
    'a definer function of a superuser',
    'alter function bellwire.notify(bigint, bigint, text, text, text, text, text, text, text, jsonb) owner to current_user',
    /definer function belongs to bellwire_definer/,
    /^bellwire\.notify\(.* OWNED BY/m,
  ],
  [
    'a policy for everybody',
    'create policy leak on bellwire.users for select to public using (true)',
    /each names its roles/,
  ],
  [
    'a table for everybody',
    'grant select on bellwire.users to public',
    /no table is for everybody/,
  ],
  [
    'a table without row security',
    'alter table bellwire.users no force row level security',
    /enabled and forced/,
  ],
  [
    'a view with the rights of its owner',
    'alter view api.documents reset (security_invoker)',
    /rights of who asks/,
  ],
  [
    'a right to write',
    'grant insert on bellwire.watches to authenticated',
    /write no table of the engine/,
  ],
  [
    'a table without a file',
    'create table bellwire.forgotten (id bigint primary key)',
    /its file of policies/,
  ],
  [
    'a column without a comment',
    'comment on column bellwire.users.name is null',
    /every column of a table/,
  ],
  [
    'an index without a comment',
    'comment on index bellwire.users_email_key is null',
    /every index/,
  ],
  ['a type without a comment', 'comment on type bellwire.member_entry is null', /every type/],
  ['a schema without a comment', 'comment on schema api is null', /every schema/],
  [
    'a function without a comment',
    'comment on function api.me() is null',
    /every function has a comment/,
  ],
];

t.test('a mistake is noticed', async (t) => {
  const stage = await createStage(t);
  const broken = async (name: RegExp) => {
    const [, query] = RULES.find(([rule]) => name.test(rule)) ?? [];
    if (!query) throw new Error(`There is no rule ${name}.`);
    return (await stage.look(query)).length;
  };
  for (const [what, , rule] of MISTAKES) t.equal(await broken(rule), 0, `not yet: ${what}`);
  for (const [, sabotage] of MISTAKES) await stage.look(sabotage);
  const expected = expectedLines('functions').map((line) => line.split(' | ')[0] ?? '');
  const { unexpected } = difference(expected, await functionLines(stage));
  for (const [what, , rule, line] of MISTAKES) {
    t.not(await broken(rule), 0, what);
    if (line) t.match(unexpected.join('\n'), line, what);
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
