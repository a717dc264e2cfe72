import t from 'tap';
import { createStage, refused, type Stage } from '../fixtures.ts';

interface Event {
  userId: number;
  type: string;
  id: number;
  unreadCount: number;
  notification?: Record<string, unknown>;
}

/** A server that looks again and again. */
class Tail {
  snapshot: string | null = null;
  readonly stage: Stage;

  constructor(stage: Stage) {
    this.stage = stage;
  }

  async look(): Promise<Event[]> {
    const [row] = await this.stage.byServer('select * from bellwire.push_tail($1)', [
      this.snapshot,
    ]);
    this.snapshot = row?.snapshot as string;
    return row?.events as Event[];
  }
}

const send = (stage: Stage, person: number, title = 'Hello') =>
  stage.byAdministrator("select bellwire.notify($1, $2, 'mention', $3)", [
    person,
    stage.workspaceId,
    title,
  ]);

t.test('what was written since the last look, once', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  await send(stage, member, 'before');
  const tail = new Tail(stage);
  t.strictSame(await tail.look(), [], 'the first look starts at now');
  t.strictSame(await tail.look(), []);
  const comment = await stage.comment(member, stage.documentId, 'Look');
  const events = await tail.look();
  t.match(events, [
    {
      userId: owner,
      type: 'notification',
      unreadCount: 1,
      notification: {
        kind: 'comment_on_my_doc',
        linkPath: `/documents/${stage.documentId}#comment-${comment}`,
        resourceType: 'log',
        resourceId: String(stage.documentId),
        workspaceId: stage.workspaceId,
        coalescedCount: 0,
        readAt: null,
        actor: { id: member, name: 'Mats Member' },
      },
    },
  ]);
  t.equal(events[0]?.notification?.id, events[0]?.id);
  t.strictSame(await tail.look(), [], 'never twice');
});

t.test('a transaction that commits late is not missed', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const tail = new Tail(stage);
  await tail.look();
  const seen: string[] = [];
  const note = async () => {
    for (const event of await tail.look()) seen.push(event.notification?.title as string);
  };
  await stage.database.asAdministrator(async (slow) => {
    const call = "select bellwire.notify($1, $2, 'mention', $3)";
    await slow.query(call, [member, stage.workspaceId, 'early id, late commit']);
    await send(stage, member, 'committed in between');
    await note();
    t.strictSame(seen, ['committed in between'], 'what is not committed is not seen');
    await note();
    await slow.query(call, [member, stage.workspaceId, 'second of the slow one']);
  });
  await send(stage, member, 'afterwards');
  await note();
  await note();
  t.strictSame(seen.sort(), [
    'afterwards',
    'committed in between',
    'early id, late commit',
    'second of the slow one',
  ]);
});

t.test('what is rolled back is never seen', async (t) => {
  const stage = await createStage(t);
  const tail = new Tail(stage);
  await tail.look();
  await t.rejects(
    stage.database.asAdministrator(async (client) => {
      await client.query("select bellwire.notify($1, $2, 'mention', 'x')", [
        stage.people.member,
        stage.workspaceId,
      ]);
      throw new Error('rolled back');
    }),
  );
  t.strictSame(await tail.look(), []);
});

t.test('many writers at once: everything, once', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const tail = new Tail(stage);
  await tail.look();
  const titles = Array.from({ length: 60 }, (_, index) => `n${index}`);
  const seen: string[] = [];
  let writing = true;
  const reader = (async () => {
    for (let last = false; !last; ) {
      last = !writing;
      for (const event of await tail.look()) seen.push(event.notification?.title as string);
    }
  })();
  await Promise.all(titles.map((title) => send(stage, member, title)));
  writing = false;
  await reader;
  t.strictSame(seen.sort(), titles.sort());
});

t.test('two servers each see it once', async (t) => {
  const stage = await createStage(t);
  const tails = [new Tail(stage), new Tail(stage)];
  for (const tail of tails) await tail.look();
  await send(stage, stage.people.member);
  for (const tail of tails) t.equal((await tail.look()).length, 1);
  for (const tail of tails) t.equal((await tail.look()).length, 0);
});

t.test('counting up and reading are news too', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  await stage.comment(member, stage.documentId, 'one');
  const tail = new Tail(stage);
  await tail.look();
  await stage.comment(member, stage.documentId, 'two');
  const [counted] = await tail.look();
  t.match(counted, { userId: owner, type: 'notification', notification: { coalescedCount: 1 } });

  await stage.by(owner, 'select api.mark_notification_read($1)', [counted?.id]);
  t.strictSame(await tail.look(), [
    { userId: owner, type: 'read', id: counted?.id, unreadCount: 0 },
  ]);
  await stage.by(owner, 'select api.mark_notification_read($1)', [counted?.id]);
  t.strictSame(await tail.look(), [], 'reading again is no news');

  await send(stage, owner);
  await send(stage, owner);
  t.match(await tail.look(), [{ unreadCount: 2 }, { unreadCount: 2 }], 'the badge at the look');
  await stage.by(owner, 'select api.mark_all_notifications_read()');
  t.match(await tail.look(), [
    { type: 'read', unreadCount: 0 },
    { type: 'read', unreadCount: 0 },
  ]);
});

t.test('who lost access and what is by mail only are left out', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague } = stage.people;
  await stage.watch(colleague, 'log', stage.documentId);
  await stage.by(
    owner,
    'select api.set_notification_preferences(\'{"comment_on_my_doc": {"in_app": 0}}\')',
  );
  const tail = new Tail(stage);
  await tail.look();
  await stage.comment(member, stage.documentId, 'x');
  await stage.by(owner, 'select api.remove_squad_member($1, $2)', [stage.squadId, colleague]);
  t.strictSame(await tail.look(), []);
});

t.test('what a client has missed, oldest first', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  for (const title of ['a', 'b', 'c', 'd']) await send(stage, member, title);
  await send(stage, colleague, 'other');
  const rows = await stage.by(member, 'select title, cursor from api.list_notifications()');
  const at = (title: string) => rows.find((row) => row.title === title)?.cursor;
  const missed = async (cursor: unknown, count = 10) =>
    (
      await stage.byServer('select * from bellwire.missed_notifications($1, $2, $3)', [
        member,
        cursor,
        count,
      ])
    ).map((row) => (row.notification as { title: string }).title);
  t.strictSame(await missed(at('b')), ['c', 'd']);
  t.strictSame(await missed(at('a'), 2), ['b', 'c']);
  t.strictSame(await missed(at('d')), []);
  await refused(
    t,
    stage.byServer("select bellwire.missed_notifications($1, 'nonsense', 10)", [member]),
    { code: '22023', detail: 'invalid_cursor' },
    'a bad cursor',
  );
});

t.test("the tail is the server's alone", async (t) => {
  const stage = await createStage(t);
  const forbidden = { code: '42501' };
  const call = 'select bellwire.push_tail(null)';
  await refused(t, stage.by(stage.people.owner, call), forbidden, 'a person');
  await refused(t, stage.byAnonymous(call), forbidden, 'nobody');
  await refused(t, stage.byWorker(call), forbidden, 'the worker');
  await refused(
    t,
    stage.byServer("select bellwire.push_tail('x')"),
    { code: '22P02' },
    'no snapshot',
  );
});
