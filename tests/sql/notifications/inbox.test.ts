import t from 'tap';
import { createStage, type Row, refused, type Stage } from '../fixtures.ts';

/** So many notifications for a person, at the given moments (microseconds apart, equal where equal). */
async function fill(stage: Stage, person: number, moments: number[]) {
  await stage.look(
    `insert into bellwire.notifications (workspace_id, user_id, kind, title, created_at)
     select $1, $2, 'mention', 'at ' || moment, '2026-01-01Z'::timestamptz + moment * interval '1 microsecond'
     from unnest($3::integer[]) as moment`,
    [stage.workspaceId, person, moments],
  );
}

const page = (stage: Stage, person: number, cursor: string | null, size?: number, unread = false) =>
  stage.by(person, 'select * from api.list_notifications($1, $2, $3)', [
    cursor,
    size ?? null,
    unread,
  ]);

async function readAll(stage: Stage, person: number, size: number): Promise<Row[]> {
  const all: Row[] = [];
  let cursor: string | null = null;
  for (;;) {
    const rows = await page(stage, person, cursor, size);
    all.push(...rows);
    if (rows.length < size) return all;
    cursor = rows.at(-1)?.cursor as string;
  }
}

const unreadCount = async (stage: Stage, person: number) =>
  (await stage.by(person, 'select api.unread_count() as count'))[0]?.count;

t.test('pages neither skip nor repeat, equal timestamps included', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  const moments = [5, 5, 5, 4, 3, 3, 3, 3, 2, 1, 1];
  await fill(stage, member, moments);
  await fill(stage, colleague, [3, 3]);
  const expected = await stage.look(
    'select id from bellwire.notifications where user_id = $1 order by created_at desc, id desc',
    [member],
  );
  for (const size of [1, 2, 3, 4, 7, 11, 50]) {
    t.strictSame(
      (await readAll(stage, member, size)).map((row) => row.id),
      expected.map((row) => row.id),
      `pages of ${size}`,
    );
  }
});

t.test('what arrives while paging does not disturb the pages', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  await fill(stage, member, [1, 2, 3, 4]);
  const first = await page(stage, member, null, 2);
  await fill(stage, member, [5, 6]);
  const second = await page(stage, member, first[1]?.cursor as string, 2);
  t.strictSame(
    [...first, ...second].map((row) => row.title),
    ['at 4', 'at 3', 'at 2', 'at 1'],
  );
});

t.test('page sizes are clamped', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  await fill(
    stage,
    member,
    Array.from({ length: 150 }, (_, index) => index),
  );
  t.equal((await page(stage, member, null)).length, 30, 'the default');
  t.equal((await page(stage, member, null, 0)).length, 1);
  t.equal((await page(stage, member, null, -5)).length, 1);
  t.equal((await page(stage, member, null, 100000)).length, 101);
});

t.test('a bad cursor', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  await fill(stage, member, [1]);
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  for (const cursor of [
    '',
    'x',
    'nonsense!',
    '2026-01-01',
    encode('1'),
    encode('1:'),
    encode('a:b'),
    encode('-1:5'),
    encode('1:2:3'),
    encode('1:99999999999999999999'),
    encode('999999999999999999:1'),
    `${encode('1:1')}=`,
    `${encode('1:1')} `,
    "' or true --",
    'é'.repeat(8),
    'A'.repeat(65),
    encode(`1:1${'\u0000'}`),
  ]) {
    await refused(
      t,
      page(stage, member, cursor),
      { code: '22023', detail: 'invalid_cursor', hint: /nextCursor/ },
      JSON.stringify(cursor),
    );
  }
});

t.test('an item says all there is to say', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  const comment = await stage.comment(member, stage.documentId, 'Look');
  const [item] = await page(stage, owner, null);
  t.match(item, {
    kind: 'comment_on_my_doc',
    title: 'Mats Member commented on your document “Tides”',
    body: 'Look',
    link_path: `/documents/${stage.documentId}#comment-${comment}`,
    workspace_id: stage.workspaceId,
    resource_type: 'log',
    resource_id: String(stage.documentId),
    metadata: { action: 'comment.create' },
    coalesced_count: 0,
    actor_id: member,
    actor_name: 'Mats Member',
    read_at: null,
  });
});

t.test('unread count, read one, read all', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  await fill(stage, member, [1, 2, 3]);
  await fill(stage, colleague, [1]);
  t.equal(await unreadCount(stage, member), 3);
  const [newest] = await page(stage, member, null);
  const read = 'select api.mark_notification_read($1)';
  await stage.by(member, read, [newest?.id]);
  t.equal(await unreadCount(stage, member), 2);
  const readAt = await stage.value('select read_at from bellwire.notifications where id = $1', [
    newest?.id,
  ]);
  await stage.by(member, read, [newest?.id]);
  t.strictSame(
    await stage.value('select read_at from bellwire.notifications where id = $1', [newest?.id]),
    readAt,
    'reading again changes nothing',
  );
  t.strictSame(
    (await page(stage, member, null, 30, true)).map((row) => row.title),
    ['at 2', 'at 1'],
    'unread only',
  );
  await refused(t, stage.by(colleague, read, [newest?.id]), { code: 'P0002' }, "somebody else's");
  await refused(t, stage.by(member, read, [987654]), { code: 'P0002' }, 'an unknown one');
  await refused(t, stage.byAnonymous(read, [newest?.id]), { code: '42501' }, 'nobody');

  const readEverything = 'select api.mark_all_notifications_read() as count';
  t.strictSame(await stage.by(member, readEverything), [{ count: 2 }]);
  t.strictSame(await stage.by(member, readEverything), [{ count: 0 }]);
  t.equal(await unreadCount(stage, member), 0);
  t.equal(await unreadCount(stage, colleague), 1, "nobody else's");
});

t.test('two read-alls at once count every row once', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  await fill(
    stage,
    member,
    Array.from({ length: 40 }, (_, index) => index),
  );
  const results = await Promise.all(
    [1, 2, 3].map(() => stage.by(member, 'select api.mark_all_notifications_read() as count')),
  );
  t.equal(
    results.reduce((sum, [row]) => sum + (row?.count as number), 0),
    40,
  );
});

t.test('the table itself: own rows, read_at alone', async (t) => {
  const stage = await createStage(t);
  const { member, stranger, owner } = stage.people;
  await fill(stage, member, [1]);
  const own = 'select from bellwire.notifications';
  t.equal((await stage.by(member, own)).length, 1);
  t.equal((await stage.by(owner, own)).length, 0, 'not even the owner of the workspace');
  t.equal((await stage.by(stranger, own)).length, 0);
  await refused(t, stage.byAnonymous(own), { code: '42501' }, 'anonymous');
  await refused(t, stage.byWorker(own), { code: '42501' }, 'worker');
  t.equal((await stage.byOwnerOfTables(own)).length, 0, 'the owner of the table sees nothing');

  const forbidden = { code: '42501' };
  for (const sql of [
    "update bellwire.notifications set title = 'x'",
    `update bellwire.notifications set user_id = ${stranger}`,
    'update bellwire.notifications set deleted_at = now()',
    'update bellwire.notifications set read_at = now(), coalesced_count = 9',
    'update bellwire.notifications set xid = pg_current_xact_id()',
    'delete from bellwire.notifications',
    'truncate bellwire.notifications',
    `insert into bellwire.notifications (workspace_id, user_id, kind, title)
     values (${stage.workspaceId}, ${member}, 'mention', 'forged')`,
    `insert into bellwire.notifications (workspace_id, user_id, kind, title)
     values (${stage.workspaceId}, ${member}, 'mention', 'forged')
     on conflict (id) do update set read_at = now()`,
  ]) {
    await refused(t, stage.by(member, sql), forbidden, sql);
  }
  await stage.by(stranger, 'update bellwire.notifications set read_at = now()');
  t.equal(await unreadCount(stage, member), 1, "a stranger's update finds no row");
  await stage.by(member, 'update bellwire.notifications set read_at = now()');
  t.equal(await unreadCount(stage, member), 0);
});
