import t from 'tap';
import { createStage } from '../fixtures.ts';
import { missed, send, titles } from './push.ts';

t.test('what a client has missed, and where it is then', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  await send(stage, member, 'before');
  const start = await missed(stage, member, null);
  t.match(start, { unread_count: 1, needs_resync: false, events: [] }, 'without a cursor nothing');
  for (const title of ['a', 'b', 'c', 'd']) await send(stage, member, title);
  await send(stage, colleague, 'other');
  const replay = await missed(stage, member, start.cursor);
  t.match(replay, { unread_count: 5, needs_resync: false });
  t.strictSame(titles(replay.events), ['a', 'b', 'c', 'd']);
  t.equal(replay.events.at(-1)?.cursor, replay.cursor);
  for (const [index, left] of [['b', 'c', 'd'], ['c', 'd'], ['d'], []].entries()) {
    const again = await missed(stage, member, replay.events[index]?.cursor ?? null);
    t.strictSame(titles(again.events), left, `broken after ${index + 1}`);
  }
  t.strictSame((await missed(stage, member, replay.cursor)).events, []);
  t.match(await missed(stage, member, start.cursor, 4), { needs_resync: false });
  t.match(await missed(stage, member, start.cursor, 3), { needs_resync: true, events: [] });
});

t.test('a broken replay loses neither late commits nor what came meanwhile', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const start = await missed(stage, member, null);
  let broken: string | null = null;
  await stage.database.asAdministrator(async (slow) => {
    const call = "select bellwire.notify($1, $2, 'mention', $3)";
    await slow.query(call, [member, stage.workspaceId, 'late']);
    for (const title of ['a', 'b']) await send(stage, member, title);
    const replay = await missed(stage, member, start.cursor);
    t.strictSame(titles(replay.events), ['a', 'b']);
    broken = replay.events[0]?.cursor ?? null;
    await send(stage, member, 'c');
    const again = await missed(stage, member, broken);
    t.strictSame(titles(again.events), ['b', 'c']);
    // Broken between the two looks this one reaches over.
    t.strictSame(titles((await missed(stage, member, again.events[0]?.cursor ?? null)).events), [
      'c',
    ]);
  });
  t.strictSame(titles((await missed(stage, member, broken)).events), ['b', 'late', 'c']);
});

t.test('read elsewhere, counted again and lost access while away', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague } = stage.people;
  await stage.comment(member, stage.documentId, 'one');
  await send(stage, owner, 'to read');
  await stage.watch(colleague, 'log', stage.documentId);
  const away = await missed(stage, owner, null);
  const colleagueAway = await missed(stage, colleague, null);
  await stage.comment(member, stage.documentId, 'two');
  await stage.by(
    owner,
    'select api.mark_notification_read(id) from api.list_notifications() where title = $1',
    ['to read'],
  );
  t.match((await missed(stage, owner, away.cursor)).events, [
    { type: 'notification', unreadCount: 1, notification: { coalescedCount: 1 } },
    { type: 'read', unreadCount: 1, notification: { title: 'to read' } },
  ]);
  t.equal((await missed(stage, colleague, colleagueAway.cursor)).events.length, 1);
  await stage.by(owner, 'select api.remove_squad_member($1, $2)', [stage.squadId, colleague]);
  t.strictSame((await missed(stage, colleague, colleagueAway.cursor)).events, []);
});

t.test('a cursor is bounded, however many transactions run', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const running = Array.from({ length: 100 }, (_, index) => 1_000_001 + index * 2);
  const encode = (snapshot: string) =>
    stage.value<string>('select bellwire.encode_push_cursor($1::pg_snapshot)', [snapshot]);
  const decode = async (cursor: string) =>
    (await stage.look('select * from bellwire.decode_push_cursor($1)', [cursor]))[0];
  const short = `5:9:${[5, 7].join(',')}`;
  t.match(await decode(await encode(short)), { base: short, reached: short, after_id: null });
  const long = await encode(`1000001:1000300:${running.join(',')}`);
  t.ok(long.length < 500, `${long.length} characters`);
  t.equal(await decode(long), undefined, 'these transactions are still to come here');
  const kept = Buffer.from(long, 'base64url').toString();
  t.equal(kept, `1000001:${running[32]}:${running.slice(0, 32).join(',')}`, 'cut where it is safe');
  for (const cursor of [
    '',
    'nonsense',
    'MTI',
    '%00',
    'x'.repeat(3_000),
    `${long}.${long}`,
    'AAAA',
  ]) {
    t.match(
      await missed(stage, member, cursor),
      { needs_resync: true, events: [] },
      cursor.slice(0, 9),
    );
  }
  const [page] = await stage.look('select bellwire.encode_cursor(now(), 7) as cursor');
  t.match(await missed(stage, member, page?.cursor as string), { needs_resync: true });
});
