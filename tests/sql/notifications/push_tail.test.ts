import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { createStage, refused, type Stage } from '../fixtures.ts';
import { MOST, missed, send, Tail, titles } from './push.ts';

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

t.test(
  'many writers, each committing when it pleases or not at all: everything, once',
  async (t) => {
    const stage = await createStage(t);
    const { member } = stage.people;
    const writers = 6;
    const transactions = 25;
    const longestPauseMs = 8;
    const expected: string[] = [];
    const write = async (writer: number) => {
      for (let number = 0; number < transactions; number += 1) {
        const mine = [0, 1].map((part) => `w${writer} t${number} p${part}`);
        const isRolledBack = Math.random() < 0.3;
        await stage.database
          .asAdministrator(async (client) => {
            for (const title of mine) {
              await client.query("select bellwire.notify($1, $2, 'mention', $3)", [
                member,
                stage.workspaceId,
                title,
              ]);
              await pause(Math.random() * longestPauseMs);
            }
            if (isRolledBack) throw new Error('rolled back');
            expected.push(...mine);
          })
          .catch((error) => {
            if (error.message !== 'rolled back') throw error;
          });
      }
    };
    // Two servers that look in their own rhythm, and a client that is away between any two looks.
    const tails = [new Tail(stage), new Tail(stage, [member])];
    const seen: string[][] = [[], []];
    const away: string[] = [];
    let cursor = (await missed(stage, member, null)).cursor;
    for (const tail of tails) await tail.look();
    let isWriting = true;
    const follow = async (look: () => Promise<void>) => {
      for (let isLast = false; !isLast; ) {
        isLast = !isWriting;
        await look();
      }
    };
    const readers = [
      ...tails.map((tail, index) =>
        follow(async () => {
          seen[index]?.push(...titles(await tail.look()));
        }),
      ),
      follow(async () => {
        const replay = await missed(stage, member, cursor);
        // As if the socket broke in the middle of the replay, one time of three.
        const broken =
          Math.random() < 0.3 ? Math.floor(Math.random() * replay.events.length) : undefined;
        const sent = replay.events.slice(0, broken);
        away.push(...titles(sent));
        cursor = broken === undefined ? replay.cursor : (sent.at(-1)?.cursor ?? cursor);
      }),
    ];
    await Promise.all(Array.from({ length: writers }, (_, index) => write(index)));
    isWriting = false;
    await Promise.all(readers);
    away.push(...titles((await missed(stage, member, cursor)).events));
    expected.sort();
    t.ok(expected.length > writers * transactions * 0.8, `${expected.length} were written`);
    for (const found of [...seen, away]) t.strictSame(found.sort(), expected);
  },
);

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
  t.match(await tail.look(), [
    {
      userId: owner,
      type: 'read',
      id: counted?.id,
      unreadCount: 0,
      notification: { id: counted?.id, readAt: String },
    },
  ]);
  await stage.by(owner, 'select api.mark_notification_read($1)', [counted?.id]);
  t.strictSame(await tail.look(), [], 'reading again is no news');

  await send(stage, owner);
  await send(stage, owner);
  t.match(await tail.look(), [{ unreadCount: 2 }, { unreadCount: 2 }], 'the badge at the look');
  await stage.by(owner, 'select api.mark_all_notifications_read()');
  t.match(await tail.look(), [
    { userId: owner, type: 'read-all', unreadCount: 0, notification: null },
  ]);
});

const fill = (stage: Stage, person: number, count: number) =>
  stage.look(
    `insert into bellwire.notifications (workspace_id, user_id, kind, title)
     select $1, $2, 'mention', 'n' || i from generate_series(1, $3::int) as i`,
    [stage.workspaceId, person, count],
  );

t.test('ten thousand read at once are one event', async (t) => {
  const stage = await createStage(t);
  const { member, owner } = stage.people;
  await fill(stage, member, 10_000);
  await fill(stage, owner, 2);
  const tail = new Tail(stage);
  await tail.look();
  await stage.by(member, 'select api.mark_all_notifications_read()');
  await stage.by(
    owner,
    'select api.mark_notification_read(id) from api.list_notifications(null, 1, false)',
  );
  t.match(await tail.look(), [
    { userId: owner, type: 'read', unreadCount: 1 },
    { userId: member, type: 'read-all', unreadCount: 0 },
  ]);
});

t.test('many read while one more comes: never read-all, as that one is unread', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  await fill(stage, member, 3);
  const tail = new Tail(stage);
  await tail.look();
  await stage.by(member, 'select api.mark_all_notifications_read()');
  await send(stage, member);
  const events = await tail.look();
  t.strictSame(
    events.map(({ type, unreadCount }) => [type, unreadCount]),
    [
      ['read', 1],
      ['read', 1],
      ['read', 1],
      ['notification', 1],
    ],
  );
  await fill(stage, member, MOST + 1);
  t.match(await tail.look(), [{ type: 'resync', unreadCount: MOST + 2, notification: null }]);
  await fill(stage, member, MOST);
  t.equal((await tail.look()).length, MOST, 'that many are sent one by one');
});

t.test('a look is for the listeners, and says when there was news for others', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  const tail = new Tail(stage, [member]);
  await tail.look();
  t.notOk(tail.isNews);
  await send(stage, colleague);
  t.strictSame(await tail.look(), []);
  t.ok(tail.isNews);
  await send(stage, colleague);
  await send(stage, member, 'mine');
  t.strictSame(titles(await tail.look()), ['mine']);
  t.strictSame(await tail.look(), []);
  t.notOk(tail.isNews);
});

t.test('rows of a restored dump, with transactions still to come, are no news', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const start = await missed(stage, member, null);
  await send(stage, member);
  await stage.look("update bellwire.notifications set xid = '900000000000'");
  const tail = new Tail(stage);
  await tail.look();
  t.strictSame(await tail.look(), []);
  t.strictSame((await missed(stage, member, start.cursor)).events, []);
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

t.test('whether somebody may read is asked once per scope, not for every row', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const ROWS = 7;
  const client = await stage.database.admin.connect();
  t.teardown(() => client.release());
  const start = await client.query('select pg_current_snapshot() as snapshot');
  for (let row = 0; row < ROWS; row++) {
    await stage.look('select bellwire.notify($1, $2, $3, $4)', [
      member,
      stage.workspaceId,
      'mention',
      `Row ${row}`,
    ]);
  }
  await client.query("begin; set local track_functions = 'all'");
  const { rows: looks } = await client.query('select events from bellwire.push_tail($1)', [
    start.rows[0].snapshot,
  ]);
  const { rows: asked } = await client.query(`
    select pg_stat_get_xact_function_calls('bellwire.can_read(bigint,bigint,bigint)'::regprocedure) as count`);
  await client.query('rollback');
  t.match(looks[0].events, Array(ROWS).fill({ userId: member, unreadCount: ROWS }));
  t.equal(Number(asked[0].count), 2, 'for the events, and for the unread count');
});

t.test("the tail is the server's alone", async (t) => {
  const stage = await createStage(t);
  const forbidden = { code: '42501' };
  const call = 'select bellwire.push_tail(null)';
  const replay = 'select bellwire.missed_notifications(1, null, 1)';
  await refused(t, stage.by(stage.people.owner, call), forbidden, 'a person');
  await refused(t, stage.byAnonymous(call), forbidden, 'nobody');
  await refused(t, stage.byWorker(call), forbidden, 'the worker');
  await refused(t, stage.by(stage.people.owner, replay), forbidden, 'a person');
  await refused(t, stage.byWorker(replay), forbidden, 'the worker');
  await refused(
    t,
    stage.byServer("select bellwire.push_tail('x')"),
    { code: '22P02' },
    'no snapshot',
  );
});
