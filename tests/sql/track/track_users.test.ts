import t from 'tap';
import { createStage, refused, type Stage } from '../fixtures.ts';
import { addActions, createNeighbour } from './dba.ts';

async function setUp(t: Parameters<typeof createStage>[0], key = 'uuid') {
  const stage = await createStage(t);
  const { dba, app } = await createNeighbour(t, stage, 'host');
  await dba(
    `create table host.people (id ${key} primary key, full_name text, mail text, picture text, left_at timestamptz, note text)`,
  );
  return { stage, dba, app };
}

const TRACK = `select bellwire.track_users('host.people', name => 'full_name', email => 'mail',
  avatar_url => 'picture', active => 'left_at is null')`;

const uuid = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`;

function mirrored(stage: Stage) {
  return stage.look(
    `select external_id, name, email, avatar_url, deactivated_at is null as is_active
     from bellwire.users where external_id is not null order by external_id`,
  );
}

function failures(stage: Stage) {
  return stage.look('select rule, sqlstate, message from bellwire.rule_failures');
}

t.test('people of an application are mirrored', async (t) => {
  const { stage, dba, app } = await setUp(t);
  await app(null, 'insert into host.people values ($1, $2, $3, null, now())', [
    uuid(1),
    'Ida Early',
    'ida@host.example',
  ]);
  await dba(TRACK);
  t.match(
    await mirrored(stage),
    [{ external_id: uuid(1), name: 'Ida Early', is_active: false }],
    'who is there, as they are',
  );

  await app(
    null,
    `insert into host.people values ($1, 'Ned New', 'ned@host.example', 'https://host.example/ned.png'), ($2, 'Kim', 'kim@host.example', null)`,
    [uuid(2), uuid(3)],
  );
  t.match((await mirrored(stage))[1], {
    external_id: uuid(2),
    name: 'Ned New',
    email: 'ned@host.example',
    avatar_url: 'https://host.example/ned.png',
    is_active: true,
  });
  const id = await stage.value('select bellwire.user_id($1)', [uuid(2)]);
  t.type(id, 'number');
  t.equal(await stage.value("select bellwire.user_id('nobody')"), null);

  await app(null, "update host.people set full_name = 'Ned Newer', left_at = now() where id = $1", [
    uuid(2),
  ]);
  t.match((await mirrored(stage))[1], { name: 'Ned Newer', is_active: false });
  await app(null, 'update host.people set left_at = null where id = $1', [uuid(2)]);
  t.match((await mirrored(stage))[1], { is_active: true });
  await app(null, 'update host.people set id = $2 where id = $1', [uuid(2), uuid(9)]);
  t.equal(
    await stage.value('select bellwire.user_id($1)', [uuid(9)]),
    id,
    'a key that changes: the same person',
  );
  const before = await stage.value('select xmin::text from bellwire.users where external_id = $1', [
    uuid(9),
  ]);
  await app(null, "update host.people set note = 'x'");
  t.equal(
    await stage.value('select xmin::text from bellwire.users where external_id = $1', [uuid(9)]),
    before,
    'another column writes nothing',
  );

  await app(null, 'delete from host.people where id = $1', [uuid(9)]);
  t.match(
    await stage.look('select name, deactivated_at from bellwire.users where id = $1', [id]),
    [{ name: 'Ned Newer', deactivated_at: Date }],
    'deleted there, deactivated here',
  );
  await app(null, "insert into host.people values ($1, 'Ned Again', 'ned@host.example')", [
    uuid(9),
  ]);
  t.match(await stage.look('select name, deactivated_at from bellwire.users where id = $1', [id]), [
    { name: 'Ned Again', deactivated_at: null },
  ]);
  t.strictSame(await failures(stage), []);

  await dba('truncate host.people');
  t.match(await failures(stage), [{ sqlstate: '01000', message: /people are still active/ }]);
});

t.test('what bellwire.users cannot hold is no reason to leave somebody out', async (t) => {
  const { stage, dba, app } = await setUp(t, 'bigint');
  const { member } = stage.people;
  const taken = await stage.value('select email from bellwire.users where id = $1', [member]);
  await dba(TRACK);
  await app(
    null,
    `insert into host.people values
       (1, 'One', 'same@host.example'), (2, 'Two', 'SAME@host.example'), (3, null, null), (4, '  ', 'no address'),
       (5, repeat('x', 400), 'five@host.example'), (6, 'Six', $1)`,
    [taken],
  );
  const none = /^user-[0-9a-f]{32}@no-address\.invalid$/;
  t.match(await mirrored(stage), [
    { external_id: '1', email: 'same@host.example' },
    { external_id: '2', email: none },
    { external_id: '3', name: '3', email: none },
    { external_id: '4', name: '4', email: none },
    { external_id: '5', name: 'x'.repeat(255) },
    { external_id: '6', email: none },
  ]);
  t.equal(
    await stage.value('select external_id from bellwire.users where id = $1', [member]),
    null,
    'nobody becomes somebody by an address',
  );
  t.match(await failures(stage), [
    {
      rule: 'track_users',
      sqlstate: '23505',
      message: /SAME@host\.example of 2; mats\.member@example\.org of 6/,
    },
  ]);
  await stage.look('delete from bellwire.rule_failures');

  await app(null, "update host.people set mail = 'one@host.example' where id = 1");
  await app(null, "update host.people set full_name = 'Two!' where id = 2");
  t.match(
    (await mirrored(stage))[1],
    { name: 'Two!', email: 'SAME@host.example' },
    'an address that has become free is taken with the next change',
  );

  await app(
    null,
    "update host.people set mail = case id when 1 then 'same@host.example' else 'one@host.example' end where id in (1, 2)",
  );
  t.match(
    await mirrored(stage),
    [{ email: 'same@host.example' }, { email: 'one@host.example' }, {}, {}, {}, {}],
    'two swap theirs',
  );

  await app(null, 'delete from host.people where id = 1');
  await app(null, "insert into host.people values (7, 'Seven', 'same@host.example')");
  t.match(
    (await mirrored(stage)).find((row) => row.external_id === '7'),
    { email: 'same@host.example' },
    'that of somebody who is gone is free',
  );
  t.strictSame(await failures(stage), []);
});

t.test('a table of people that is one of members too: the person comes first', async (t) => {
  const { stage, dba, app } = await setUp(t);
  await dba(
    `select bellwire.track_members('host.people', scope => 'workspace:${stage.workspaceId}', member => 'bellwire.user_id(id::text)')`,
  );
  await dba(TRACK);
  const members = () =>
    stage.look(
      `select person.name from bellwire.memberships as membership
       join bellwire.users as person on person.id = membership.user_id and person.external_id is not null`,
    );
  await app(null, "insert into host.people values ($1, 'Ned', null)", [uuid(1)]);
  t.strictSame(await members(), [{ name: 'Ned' }]);
  await app(null, 'update host.people set id = $1', [uuid(2)]);
  t.strictSame(await members(), [{ name: 'Ned' }]);
  await app(null, 'delete from host.people');
  t.strictSame(await members(), []);
});

t.test('keys of any type, with a prefix where two tables have people', async (t) => {
  const { stage, dba, app } = await setUp(t, 'text');
  await dba(
    "select bellwire.track_users('host.people', id => '''p:'' || id', name => 'full_name', email => 'mail')",
  );
  await dba('create table host.bots (id integer primary key, name text)');
  await dba(
    "select bellwire.track_users('host.bots', id => '''b:'' || id', name => 'name', email => 'null')",
  );
  await app(null, "insert into host.people values ('1', 'Person', 'p@host.example')");
  await app(null, "insert into host.bots values (1, 'Bot')");
  t.match(await mirrored(stage), [
    { external_id: 'b:1', name: 'Bot' },
    { external_id: 'p:1', name: 'Person' },
  ]);
  await refused(
    t,
    dba("select bellwire.track_users('host.bots', name => 'name', email => null)"),
    { code: '22023', hint: /'null'/ },
    'no e-mail',
  );
  await refused(
    t,
    dba("select bellwire.track_users('host.bots', name => 'nope', email => 'null')"),
    { code: '42703' },
    'no such column',
  );
  await dba("select bellwire.untrack('host.bots')");
  await app(null, 'delete from host.bots');
  t.match(await mirrored(stage), [{ is_active: true }, {}], 'no longer followed');
});

t.test(
  'who is acting, owns, belongs and is mentioned, by the key of the application',
  async (t) => {
    const { stage, dba, app } = await setUp(t);
    await addActions(stage);
    await dba(TRACK);
    await dba(
      `create table host.tickets (id uuid primary key default gen_random_uuid(), title text, body text, assignee uuid references host.people);
     create table host.crew (person uuid references host.people primary key)`,
    );
    await app(
      null,
      "insert into host.people select ('00000000-0000-4000-8000-00000000000' || n)::uuid, 'Person ' || n, n || '@host.example' from generate_series(1, 4) as n",
    );
    await dba(
      `select bellwire.track_members('host.crew', scope => 'workspace:${stage.workspaceId}', member => 'bellwire.user_id(person::text)')`,
    );
    await app(null, 'insert into host.crew select id from host.people where id <> $1', [uuid(4)]);
    await dba(
      `select bellwire.track('host.tickets', 'ticket', workspace => '${stage.workspaceId}', title => 'title',
       owner => 'bellwire.user_id(assignee::text)', actions => $1)`,
      [
        JSON.stringify([
          { on: 'insert', action: 'order.open', names: 'bellwire.mentioned_users(new.body, null)' },
          {
            on: 'update',
            of: ['body'],
            action: 'order.close',
            names: 'bellwire.mentioned_users(new.body, old.body)',
          },
        ]),
      ],
    );
    const person = (digit: number) =>
      stage.value<number>('select bellwire.user_id($1)', [uuid(digit)]);
    const as = (claims: object, sql: string) =>
      app(
        null,
        `select set_config('request.jwt.claims', '${JSON.stringify(claims)}', false); ${sql}`,
      );
    const mention = (digit: number) =>
      `<span class="at" data-type="mention" data-id="${uuid(digit)}">@you</span>`;

    let entries: Awaited<ReturnType<typeof stage.recorded>> = [];
    const told = await stage.told(async () => {
      entries = await stage.recorded(() =>
        as(
          { sub: uuid(1), role: 'member' },
          `insert into host.tickets (title, body, assignee) values ('Broken', '${mention(2)} ${mention(4)}', '${uuid(3)}')`,
        ),
      );
    });
    t.match(
      entries,
      [{ action: 'order.open', actor_id: await person(1) }],
      'a subject that is a uuid',
    );
    t.match(
      told,
      [{ user_id: await person(2), kind: 'mention', title: /^Person 1 / }],
      'mentioned; not who belongs to nothing',
    );
    t.equal(told.length, 1);
    t.equal(
      await stage.value("select owner_id from bellwire.resources where type = 'ticket'"),
      await person(3),
    );

    const closed = await stage.told(() =>
      as({ external_id: uuid(2) }, `update host.tickets set body = body || '${mention(1)}'`),
    );
    t.match(
      closed.map((row) => `${row.user_id} ${row.kind}: ${row.title}`).sort(),
      [
        `${await person(3)} comment_on_my_doc: Person 2 closed your document “Broken”`,
        `${await person(1)} mention: Person 2 mentioned you in “Broken”`,
      ],
      'only who is new in the text, and the owner',
    );
    for (const claims of [{ external_id: 'nobody' }, { role: 'x' }, {}]) {
      const [entry] = await stage.recorded(() =>
        as(claims, `update host.tickets set body = body || '.'`),
      );
      t.match(entry, { action: 'order.close', actor_id: null }, JSON.stringify(claims));
    }
    await app(
      null,
      `select set_config('request.jwt.claims', '', false); update host.tickets set body = 'x'`,
    );
    t.strictSame(await failures(stage), []);

    await stage.database.asAdministrator(async (client) => {
      await client.query('select bellwire.act_as_external($1)', [uuid(2)]);
      const { rows } = await client.query('select bellwire.current_user_id() as id');
      t.strictSame(rows, [{ id: await person(2) }], 'an administrator, for the session');
      await client.query('select bellwire.act_as_external(null)');
      t.strictSame((await client.query('select bellwire.current_user_id() as id')).rows, [
        { id: null },
      ]);
    });
    await refused(
      t,
      dba("select bellwire.act_as_external('nobody')"),
      { code: 'P0002', hint: /external_id/ },
      'nobody',
    );
    await refused(
      t,
      app(null, "select bellwire.act_as_external('nobody')"),
      { code: '42501' },
      'not the application',
    );
  },
);
