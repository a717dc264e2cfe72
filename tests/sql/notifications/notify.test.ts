import t from 'tap';
import { createStage, type Row, refused, type Stage } from '../fixtures.ts';

interface Message {
  to?: number | null;
  workspace?: number | null;
  kind?: string | null;
  title?: string | null;
  body?: string | null;
  link?: string | null;
  type?: string | null;
  ref?: string | null;
  key?: string | null;
}

const CALL = `select id, created from bellwire.notify($1, $2, $3, $4, body => $5, link_path => $6,
  resource_type => $7, resource_ref => $8, source_key => $9)`;

function values(stage: Stage, message: Message): unknown[] {
  const given = {
    to: stage.people.member,
    workspace: stage.workspaceId,
    kind: 'mention',
    title: 'Hello',
    body: null,
    link: null,
    type: null,
    ref: null,
    key: null,
    ...message,
  };
  const { to, workspace, kind, title, body, link, type, ref, key } = given;
  return [to, workspace, kind, title, body, link, type, ref, key];
}

/** As an administrator, on behalf of this person. */
async function notify(stage: Stage, message: Message = {}, actor?: number): Promise<Row> {
  return stage.database.asAdministrator(async (client) => {
    if (actor) {
      await client.query("select set_config('request.jwt.claims', $1, true)", [
        JSON.stringify({ sub: String(actor) }),
      ]);
    }
    return (await client.query(CALL, values(stage, message))).rows[0];
  });
}

const NOT_TOLD = { id: null, created: false };

const stored = async (stage: Stage, id: unknown) =>
  (await stage.look('select * from bellwire.notifications where id = $1', [id]))[0];

t.test('one recipient, one row', async (t) => {
  const stage = await createStage(t);
  const { member, owner } = stage.people;
  const { id, created } = await notify(stage, { body: 'World', link: '/here?x=1#y' }, owner);
  t.equal(created, true);
  t.match(await stored(stage, id), {
    user_id: member,
    workspace_id: stage.workspaceId,
    scope_id: null,
    actor_id: owner,
    kind: 'mention',
    title: 'Hello',
    body: 'World',
    link_path: '/here?x=1#y',
    coalesced_count: 0,
    read_at: null,
    deleted_at: null,
  });
});

t.test('who is not told', async (t) => {
  const stage = await createStage(t);
  const { member, colleague, outsider, stranger, admin } = stage.people;
  const about = { type: 'log', ref: String(stage.documentId) };
  t.strictSame(await notify(stage, { to: member }, member), NOT_TOLD, 'oneself');
  t.match(await notify(stage, { to: member }), { created: true }, 'the system is nobody');
  t.strictSame(await notify(stage, { to: stranger }), NOT_TOLD, 'not of the workspace');
  t.strictSame(await notify(stage, { to: 987654 }), NOT_TOLD, 'not there at all');
  t.strictSame(await notify(stage, { workspace: 987654 }), NOT_TOLD, 'no such workspace');
  t.strictSame(await notify(stage, { to: outsider, ...about }), NOT_TOLD, 'cannot read the squad');
  t.match(await notify(stage, { to: outsider }), { created: true }, 'without a scope they can');
  t.match(await notify(stage, { to: admin, ...about }), { created: true }, 'an admin reads all');
  await stage.look('update bellwire.users set deactivated_at = now() where id = $1', [colleague]);
  t.strictSame(await notify(stage, { to: colleague }), NOT_TOLD, 'the deactivated');
});

t.test('what is missing or out of bounds', async (t) => {
  const stage = await createStage(t);
  const bad: [string, Message, RegExp?][] = [
    ['no recipient', { to: null }],
    ['no workspace', { workspace: null }],
    ['no title', { title: null }],
    ['an empty title', { title: '  \n ' }],
    ['a title of tags', { title: '<b></b><script>' }],
    ['no kind', { kind: null }, /notification_kinds/],
    ['an unknown kind', { kind: 'gossip' }, /notification_kinds/],
    ['an address', { link: 'https://evil.example/' }],
    ['a scheme-relative link', { link: '//evil.example' }],
    ['a backslash', { link: '/\\evil.example' }],
    ['white space', { link: '/a b' }],
    ['a line break', { link: '/a\n' }],
    ['a relative link', { link: 'here' }],
    ['an empty link', { link: '' }],
    ['a script', { link: 'javascript:alert(1)' }],
    ['501 characters', { link: `/${'x'.repeat(500)}` }],
  ];
  for (const [what, message, hint] of bad) {
    await refused(t, notify(stage, message), { code: '22023', ...(hint ? { hint } : {}) }, what);
  }
  t.match(await notify(stage, { link: `/${'x'.repeat(499)}` }), { created: true }, '500 fit');
  await refused(
    t,
    notify(stage, { type: 'log', ref: '987654' }),
    { code: 'P0002' },
    'a resource that is not there',
  );
  await refused(
    t,
    notify(stage, {
      workspace: stage.strangerWorkspaceId,
      to: stage.people.stranger,
      type: 'log',
      ref: String(stage.documentId),
    }),
    { code: 'P0002' },
    "another workspace's resource",
  );
  t.equal(await stage.value('select count(*) from bellwire.notifications'), 1, 'nothing written');
});

t.test('no tag comes together from what is left of others', async (t) => {
  const stage = await createStage(t);
  for (const [given, stored] of [
    ['<<b>script>alert(1)<<b>/script>', 'script>alert(1)/script>'],
    ['<scr<script>ipt>', 'ipt>'],
    ['open <img src=x', 'open img src=x'],
    ['3 < 4 and <5', '3 < 4 and <5'],
  ]) {
    const { rows } = await stage.database.admin.query(
      'select bellwire.plain_text($1, 255) as text',
      [given],
    );
    t.equal(rows[0].text, stored);
  }
});

t.test('title and body are plain text, cut at 255 and 2000', async (t) => {
  const stage = await createStage(t);
  const { id } = await notify(stage, {
    title: `<b onclick="x">Bold</b>\u0007 1 < 2 & 3 > 2 <script>alert(1)</script><img src=x>${'x'.repeat(300)}`,
    body: `<p>One</p>\n\n<p>Two</p><!-- hidden -->${'😀'.repeat(2100)}`,
  });
  const row = await stored(stage, id);
  const title = row?.title as string;
  const body = row?.body as string;
  t.match(title, /^Bold 1 < 2 & 3 > 2 alert\(1\) ?x+$/);
  t.equal([...title].length, 255);
  t.match(body, /^One Two 😀+$/u);
  t.equal([...body].length, 2000, 'code points, no surrogate pair split');
});

t.test('a source key makes a retry a no-op', async (t) => {
  const stage = await createStage(t);
  const { member, colleague, stranger } = stage.people;
  const first = await notify(stage, { key: 'job-7' });
  t.equal(first.created, true);
  await stage.ageNotifications(7 * 86400);
  t.strictSame(
    await notify(stage, { key: 'job-7', title: 'Other', kind: 'watched_publish' }),
    { id: first.id, created: false },
    'the first id, however late',
  );
  t.match(await stored(stage, first.id), { title: 'Hello', coalesced_count: 0 }, 'and no count');
  t.match(await notify(stage, { key: 'job-8' }), { created: true }, 'another key');
  t.match(
    await notify(stage, { key: 'job-7', to: colleague }),
    { created: true },
    'another person',
  );
  t.match(
    await notify(stage, { key: 'job-7', to: stranger, workspace: stage.strangerWorkspaceId }),
    { created: true },
    'another workspace',
  );
  t.match(await notify(stage, {}), { created: true }, 'without a key: always new');
  t.equal(
    await stage.value('select count(*) from bellwire.notifications where user_id = $1', [member]),
    3,
  );
});

t.test('a key that was counted into another notification is a no-op, too', async (t) => {
  const stage = await createStage(t);
  const about = { type: 'log', ref: String(stage.documentId) };
  const first = await notify(stage, { ...about, key: 'one' });
  t.strictSame(await notify(stage, { ...about, key: 'two' }), { id: first.id, created: false });
  t.match(await stored(stage, first.id), { coalesced_count: 1 });
  for (const later of [0, 3600]) {
    await stage.ageNotifications(later);
    t.strictSame(await notify(stage, { ...about, key: 'two' }), { id: first.id, created: false });
  }
  t.match(await stored(stage, first.id), { coalesced_count: 1 }, 'its retry counts no more');
  t.match(await notify(stage, { ...about, key: 'three' }), { created: true }, 'another key does');
});

t.test('two calls with one key at once are one notification', async (t) => {
  const stage = await createStage(t);
  const results = await Promise.all(
    Array.from({ length: 6 }, () => notify(stage, { key: 'once' })),
  );
  t.equal(new Set(results.map((row) => row.id)).size, 1);
  t.equal(results.filter((row) => row.created).length, 1);
});

t.test('within 60 seconds the row that is there counts up', async (t) => {
  const stage = await createStage(t);
  const { colleague } = stage.people;
  const about = { type: 'log', ref: String(stage.documentId) };
  const first = await notify(stage, about);
  for (const actor of [stage.people.owner, colleague]) {
    t.strictSame(await notify(stage, about, actor), { id: first.id, created: false });
  }
  t.match(await stored(stage, first.id), { coalesced_count: 2, actor_id: null }, 'its text stays');

  t.match(await notify(stage, { ...about, to: colleague }), { created: true }, 'another person');
  t.match(
    await notify(stage, { ...about, kind: 'watched_publish' }),
    { created: true },
    'another kind',
  );
  t.match(
    await notify(stage, { type: 'archive', ref: String(stage.archiveId) }),
    { created: true },
    'another resource',
  );
  t.match(await notify(stage), { created: true }, 'without a resource');
  t.match(await notify(stage), { created: true }, 'never coalesced');

  await stage.ageNotifications(58);
  t.match(await notify(stage, about), { id: first.id }, 'at 59 seconds');
  await stage.ageNotifications(3);
  t.match(await notify(stage, about), { created: true }, 'after 60 seconds');
  t.match(await stored(stage, first.id), { coalesced_count: 3 });
});

t.test('several calls at once within one window are one row', async (t) => {
  const stage = await createStage(t);
  const about = { type: 'log', ref: String(stage.documentId) };
  await Promise.all(Array.from({ length: 6 }, () => notify(stage, about)));
  t.strictSame(
    await stage.look('select coalesced_count from bellwire.notifications where user_id = $1', [
      stage.people.member,
    ]),
    [{ coalesced_count: 5 }],
  );
});

t.test('who may call it', async (t) => {
  const stage = await createStage(t);
  const given = values(stage, {});
  const forbidden = { code: '42501' };
  await refused(t, stage.by(stage.people.owner, CALL, given), forbidden, 'not a person');
  await refused(t, stage.byAnonymous(CALL, given), forbidden, 'not nobody');
  await refused(t, stage.byWorker(CALL, given), forbidden, 'not the worker');
  await refused(t, stage.byServer(CALL, given), forbidden, 'not the server');
});
