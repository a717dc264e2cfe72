import t from 'tap';
import { WebSocket } from 'ws';
import { Connection } from '../../server/sockets/connection.ts';
import { TIMINGS } from '../../server/sockets/plugin.ts';
import { Client } from './support/client.ts';
import { connect, Socket } from './support/socket.ts';
import { createDocument, signIn, startServer, startStage } from './support/stage.ts';

const AUTH_TIMEOUT_MS = 300;
const RECHECK_MS = 300;
const PING_MS = 200;

t.test('/notifications-ws', async (t) => {
  const stage = await startStage(t, {
    socketTimings: { authTimeoutMs: AUTH_TIMEOUT_MS, recheckMs: RECHECK_MS },
  });
  const { address, owner, member, stranger, archiveId, database } = stage;
  const comment = async (title: string) => {
    const documentId = await createDocument(owner, archiveId, title);
    await member.post(`/api/documents/${documentId}/comments`, { body: 'Ahoy' });
  };
  const outcome = async (frame: object | string, cookie?: string) => {
    const socket = new Socket(address, { cookie });
    await socket.opened();
    socket.send(frame);
    return socket.ended();
  };

  t.test('an Origin of another host, or none, is refused with 403', async (t) => {
    t.equal(await new Socket(address, { origin: null }).opened(), 403);
    t.equal(await new Socket(address, { origin: 'http://evil.example' }).opened(), 403);
    t.equal(await new Socket(address, { origin: 'null' }).opened(), 403);
    t.equal(await new Socket(address, { origin: 'http://sub.127.0.0.1.nip.io' }).opened(), 403);
    const headers = { 'x-forwarded-host': 'evil.example' };
    t.equal(await new Socket(address, { origin: 'http://evil.example', headers }).opened(), 403);
    for (const origin of [address, 'http://localhost:3000', 'https://LOCALHOST:3000']) {
      const socket = new Socket(address, { origin });
      t.equal(await socket.opened(), 'open', origin);
      socket.close();
    }
  });

  t.test('an upgrade elsewhere is answered and ended', async (t) => {
    for (const [path, status] of [
      ['/nothing', 404],
      ['/healthz', 'closed'],
    ] as const) {
      const ws = new WebSocket(`${address.replace('http', 'ws')}${path}`, { origin: address });
      const result = await new Promise((resolve) => {
        ws.on('unexpected-response', (_request, response) => resolve(response.statusCode));
        ws.on('close', () => resolve('closed'));
        ws.on('error', () => {});
      });
      t.equal(result, status, path);
      ws.terminate();
    }
    t.equal((await owner.get('/notifications-ws')).status, 426);
  });

  t.test('4001: no auth frame in time', async (t) => {
    t.same(TIMINGS, { authTimeoutMs: 5_000, pingMs: 30_000, recheckMs: 60_000 }, 'as documented');
    const socket = new Socket(address);
    await socket.opened();
    t.equal((await socket.ended()).code, 4001);
  });

  t.test('4002: a malformed first frame', async (t) => {
    t.equal((await outcome('not json')).code, 4002);
    t.equal((await outcome('[]')).code, 4002);
    t.equal((await outcome({ type: 'hello' })).code, 4002);
    t.equal((await outcome({ type: 'auth' })).code, 4002);
    t.equal((await outcome({ type: 'auth', token: 7 })).code, 4002);
    t.equal((await outcome({ type: 'auth', token: 'x'.repeat(600) })).code, 4002);
    const binary = new Socket(address);
    await binary.opened();
    binary.ws.send(Buffer.from(JSON.stringify({ type: 'auth', token: owner.token })));
    t.equal((await binary.ended()).code, 4002);
  });

  t.test('1009: a frame beyond 16 KiB', async (t) => {
    t.equal((await outcome('x'.repeat(17 * 1024))).code, 1009);
  });

  t.test('4003: a token that is none', async (t) => {
    t.equal((await outcome({ type: 'auth', token: 'nope' })).code, 4003);
    t.equal((await outcome({ type: 'auth', token: '\u0000' })).code, 4003);
  });

  t.test('the cookie of the upgrade stands in for the token', async (t) => {
    const socket = new Socket(address, { cookie: `sessionToken=${owner.token}` });
    await socket.opened();
    socket.send({ type: 'auth' });
    t.equal((await socket.next()).type, 'ready');
    socket.close();
  });

  t.test('4004: the eleventh socket of one person', async (t) => {
    const open = [];
    for (let count = 0; count < 10; count += 1) open.push(await connect(address, stranger.token));
    t.equal((await outcome({ type: 'auth', token: stranger.token })).code, 4004);
    const other = await connect(address, owner.token);
    t.equal(other.ready.type, 'ready', 'another person has room');
    open[0]?.socket.close();
    await open[0]?.socket.closed;
    const again = await connect(address, stranger.token);
    t.equal(again.ready.type, 'ready', 'one left, one comes');
    for (const { socket } of [...open, other, again]) socket.close();
  });

  t.test('a notification arrives live, once, and only to its person', async (t) => {
    const tabs = [await connect(address, owner.token), await connect(address, owner.token)];
    const other = await connect(address, stranger.token);
    const before = tabs[0]?.ready.unreadCount ?? 0;
    const startedAt = Date.now();
    await comment('Live');
    for (const { socket } of tabs) {
      const frame = await socket.next();
      t.match(frame, {
        type: 'notification',
        unreadCount: before + 1,
        notification: { id: Number, kind: 'comment_on_my_doc', actor: { id: member.id } },
      });
    }
    t.comment(`live after ${Date.now() - startedAt} ms`);
    t.ok(await tabs[0]?.socket.isQuiet(1_500), 'once, polling included');
    t.same(other.socket.frames, []);
    for (const { socket } of [...tabs, other]) socket.close();
  });

  t.test('the pushed item is the item of the inbox', async (t) => {
    const { socket } = await connect(address, owner.token);
    await comment('Same');
    const frame = await socket.next();
    const listed = (await owner.get('/api/notifications?limit=1')).pick<object>('items.0');
    t.same(Object.keys(frame.notification ?? {}).sort(), Object.keys(listed).sort());
    socket.close();
  });

  t.test('reading in one tab is told to the others', async (t) => {
    const { socket, ready } = await connect(address, owner.token);
    const id = (await owner.get('/api/notifications?unread=true')).pick<number>('items.0.id');
    await owner.post(`/api/notifications/${id}/read`);
    const frame = await socket.next();
    t.match(frame, {
      type: 'read',
      id,
      unreadCount: (ready.unreadCount ?? 0) - 1,
      cursor: String,
      notification: { id },
    });
    socket.close();
  });

  t.test('reading everything is one frame, in each tab', async (t) => {
    const count = 10_000;
    await database.admin.query(
      `insert into bellwire.notifications (workspace_id, user_id, kind, title)
       select $1, $2, 'mention', 'Pile' from generate_series(1, $3::int)`,
      [stage.workspaceId, owner.id, count],
    );
    const tabs = [await connect(address, owner.token), await connect(address, owner.token)];
    const answer = await owner.post('/api/notifications/read-all');
    t.ok(answer.pick<number>('updated') >= count);
    for (const { socket } of tabs) {
      const { cursor, ...frame } = await socket.next();
      t.same(frame, { type: 'read-all', unreadCount: 0 });
      t.type(cursor, 'string');
    }
    for (const { socket } of tabs) {
      t.ok(await socket.isQuiet(300), 'and nothing more');
      socket.close();
    }
  });

  t.test('what was missed is replayed after ready, in order, once', async (t) => {
    const first = await connect(address, owner.token);
    t.match(first.ready, { cursor: String, resync: false });
    const cursor = first.ready.cursor ?? undefined;
    first.socket.close();
    await first.socket.closed;
    await comment('Missed 1');
    await comment('Missed 2');
    const second = await connect(address, owner.token, cursor);
    t.match(second.ready, { resync: false, cursor }, 'still there before the replay');
    const frames = [await second.socket.next(), await second.socket.next()];
    t.match(frames[0]?.notification?.title, /Missed 1/);
    t.match(frames[1]?.notification?.title, /Missed 2/);
    await comment('Live again');
    frames.push(await second.socket.next());
    t.match(frames[2]?.notification?.title, /Live again/);
    t.ok(await second.socket.isQuiet(500));
    second.socket.close();
    for (const [index, left] of [2, 1, 0].entries()) {
      const again = await connect(address, owner.token, frames[index]?.cursor ?? undefined);
      for (let count = 0; count < left; count += 1) await again.socket.next();
      t.ok(await again.socket.isQuiet(100), `after frame ${index + 1} there are ${left}`);
      again.socket.close();
    }
  });

  /** Tells the owner in a transaction that commits when the test says so. */
  const tellSlowly = async (title: string) => {
    const client = await database.admin.connect();
    await client.query('begin');
    await client.query("select bellwire.notify($1, $2, 'mention', $3)", [
      owner.id,
      stage.workspaceId,
      title,
    ]);
    return async (end: 'commit' | 'rollback' = 'commit') => {
      await client.query(end);
      client.release();
    };
  };
  const tell = async (title: string) => (await tellSlowly(title))();
  const titleOf = async (socket: Socket) => (await socket.next()).notification?.title;

  t.test('what was committed late is not lost to a client that was away', async (t) => {
    const commitLate = await tellSlowly('Begun first, committed last');
    const first = await connect(address, owner.token);
    await tell('In between');
    const frame = await first.socket.next();
    t.match(frame.notification, { title: 'In between' });
    first.socket.close();
    await first.socket.closed;
    await commitLate();
    const second = await connect(address, owner.token, frame.cursor ?? undefined);
    t.equal(await titleOf(second.socket), 'Begun first, committed last');
    await tell('After');
    t.equal(await titleOf(second.socket), 'After');
    t.ok(await second.socket.isQuiet(300), 'each once');
    second.socket.close();
  });

  t.test('what is committed around the replay comes once, in the replay or live', async (t) => {
    const elsewhere = await startServer(t, database);
    for (let round = 0; round < 6; round += 1) {
      const { socket: before, ready } = await connect(address, owner.token);
      before.close();
      await before.closed;
      const titles = Array.from({ length: 6 }, (_, number) => `Round ${round} number ${number}`);
      const commits = [];
      for (const title of titles) commits.push(await tellSlowly(title));
      const sockets = [new Socket(address), new Socket(elsewhere.address)];
      for (const socket of sockets) await socket.opened();
      // The hand-over runs while these commit one by one; in each round at another place.
      for (const [number, commit] of commits.entries()) {
        if (number === round) {
          for (const socket of sockets) {
            socket.send({ type: 'auth', token: owner.token, cursor: ready.cursor });
          }
        }
        await commit();
      }
      for (const socket of sockets) {
        t.equal((await socket.next()).type, 'ready');
        const got = [];
        for (const _ of titles) got.push(await titleOf(socket));
        t.same(got.sort(), [...titles].sort());
      }
      for (const socket of sockets) {
        t.ok(await socket.isQuiet(50), 'none twice');
        socket.close();
      }
    }
  });

  t.test('several in one look: each frame has the cursor to go on from', async (t) => {
    const { socket } = await connect(address, owner.token);
    const commits = [];
    for (const title of ['One', 'Two', 'Three']) commits.push(await tellSlowly(title));
    const late = await tellSlowly('Late');
    await database.admin.query(
      `insert into bellwire.notifications (workspace_id, user_id, kind, title)
       select $1, $2, 'mention', 'Row ' || i from generate_series(1, 3) as i`,
      [stage.workspaceId, owner.id],
    );
    for (const commit of commits) await commit();
    const frames = [];
    for (let count = 0; count < 6; count += 1) frames.push(await socket.next());
    socket.close();
    await late();
    for (const [index, frame] of frames.entries()) {
      const again = await connect(address, owner.token, frame.cursor ?? undefined);
      const got = [];
      for (let left = frames.length - index; left > 0; left -= 1) {
        got.push(await titleOf(again.socket));
      }
      const rest = frames.slice(index + 1).map((next) => next.notification?.title);
      t.same(got.sort(), [...rest, 'Late'].sort(), `after frame ${index + 1}`);
      t.ok(await again.socket.isQuiet(50));
      again.socket.close();
    }
  });

  t.test('what was read in another tab while away', async (t) => {
    await tell('To be read');
    const first = await connect(address, owner.token);
    first.socket.close();
    await first.socket.closed;
    const id = (await owner.get('/api/notifications?limit=1')).pick<number>('items.0.id');
    await owner.post(`/api/notifications/${id}/read`);
    const second = await connect(address, owner.token, first.ready.cursor ?? undefined);
    const unreadCount = (first.ready.unreadCount ?? 0) - 1;
    t.match(second.ready, { unreadCount });
    t.match(await second.socket.next(), { type: 'read', id, unreadCount });
    t.ok(await second.socket.isQuiet(100));
    second.socket.close();
  });

  t.test('who missed too much, or has a cursor of something else, reads the inbox', async (t) => {
    const first = await connect(address, owner.token);
    await database.admin.query(
      `insert into bellwire.notifications (workspace_id, user_id, kind, title)
       select $1, $2, 'mention', 'Flood' from generate_series(1, 501)`,
      [stage.workspaceId, owner.id],
    );
    t.match(await first.socket.next(), { type: 'resync' }, 'so does who is there');
    first.socket.close();
    await first.socket.closed;
    const page = (await owner.get('/api/notifications?limit=1')).pick<string>('nextCursor');
    const other = ['bogus', '', 'MTI', '%00', '\u0000', '\ud800', 'x'.repeat(300)];
    const cursors = [first.ready.cursor ?? '', page, ...other];
    for (const cursor of cursors) {
      const { socket, ready } = await connect(address, owner.token, cursor);
      t.match(ready, { resync: true, cursor: String }, cursor.slice(0, 9));
      await tell('Now');
      t.equal(await titleOf(socket), 'Now', 'no replay, and live from here on');
      const again = await connect(address, owner.token, ready.cursor ?? undefined);
      t.match(again.ready, { resync: false });
      t.equal(await titleOf(again.socket), 'Now', 'its new cursor is good');
      socket.close();
      again.socket.close();
    }
    const { socket } = await connect(address, owner.token);
    await database.admin.query(
      `insert into bellwire.notifications (workspace_id, user_id, kind, title)
       select $1, $2, 'mention', 'Flood' from generate_series(1, 501)`,
      [stage.workspaceId, owner.id],
    );
    t.match(await socket.next(), { type: 'resync', cursor: String }, 'live, too');
    socket.close();
  });

  t.test('an inbox that was empty can be resumed', async (t) => {
    const first = await connect(address, member.token);
    t.equal(first.ready.unreadCount, 0);
    first.socket.close();
    await first.socket.closed;
    const documentId = await createDocument(member, archiveId, 'First of all');
    await owner.post(`/api/documents/${documentId}/comments`, { body: 'Ahoy' });
    const second = await connect(address, member.token, first.ready.cursor ?? undefined);
    t.match((await second.socket.next()).notification?.title, /First of all/);
    second.socket.close();
  });

  t.test('4002: a cursor that no server gave', async (t) => {
    for (const cursor of [7, {}, 'x'.repeat(5_000)]) {
      t.equal((await outcome({ type: 'auth', token: owner.token, cursor })).code, 4002);
    }
  });

  t.test('4004: logout closes the sockets of that session and no other', async (t) => {
    const leaving = await signIn(address, owner.email);
    const gone = await connect(address, leaving.token);
    const stays = await connect(address, owner.token);
    await leaving.post('/api/logout');
    t.equal((await gone.socket.ended()).code, 4004);
    await comment('Still here');
    t.equal((await stays.socket.next()).type, 'notification');
    stays.socket.close();
  });

  t.test('4004: a session that ended elsewhere is found by the re-check', async (t) => {
    const leaving = await signIn(address, owner.email);
    const { socket } = await connect(address, leaving.token);
    const elsewhere = await startServer(t, database);
    await new Client(elsewhere.address, leaving.token).post('/api/logout');
    t.equal((await socket.ended()).code, 4004);
  });

  t.test('a re-check looks at every session, also of more than one query takes', async (t) => {
    const live = 1_000;
    const digestOf = (number: number) => number.toString(16).padStart(64, '0');
    await database.admin.query(
      `insert into identity.sessions (token_digest, user_id, provider, expires_at)
       select lpad(to_hex(n), 64, '0'), $1, 'local', now() + interval '1 hour'
         from generate_series(1, $2::int) as n`,
      [member.id, live],
    );
    const ended: number[] = [];
    const connections: Connection[] = [];
    for (let number = 1; number <= live + 1; number += 1) {
      const end = () => void ended.push(number);
      const channel = { kind: 'socket' as const, send: async () => {}, ping() {}, drop() {}, end };
      const connection = new Connection(channel, -number, digestOf(number));
      connections.push(connection);
      stage.app.sockets.add(connection);
    }
    const deadline = Date.now() + 10_000;
    while (ended.length === 0 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    t.equal(ended[0], live + 1, 'the last one, whose session is none');
    t.same(new Set(ended).size, 1, 'and no other');
    for (const connection of connections) stage.app.sockets.remove(connection);
    await database.admin.query("delete from identity.sessions where token_digest like '0000%'");
  });

  t.test('a re-check that fails closes nobody, and the next one is made', async (t) => {
    const leaving = await signIn(address, owner.email);
    const gone = await connect(address, leaving.token);
    const stays = await connect(address, owner.token);
    const [found] = (
      await database.admin.query<{ source: string }>(
        "select pg_get_functiondef('identity.live_sessions'::regproc) as source",
      )
    ).rows;
    // A sequence counts what is rolled back, too.
    await database.admin.query(
      `create sequence public.failed_passes;
       grant usage on sequence public.failed_passes to public;
       create or replace function identity.live_sessions(token_digests text[]) returns setof text
       language plpgsql security definer set search_path = '' as $$
       begin
         perform nextval('public.failed_passes');
         raise exception 'not now';
       end $$`,
    );
    const elsewhere = await startServer(t, database);
    await new Client(elsewhere.address, leaving.token).post('/api/logout');
    const failures = async () => {
      const { rows } = await database.admin.query(
        'select case when is_called then last_value else 0 end::int as count from public.failed_passes',
      );
      return rows[0].count;
    };
    while ((await failures()) < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    for (const { socket } of [gone, stays]) t.equal(socket.ws.readyState, WebSocket.OPEN);
    await database.admin.query(found?.source ?? '');
    t.equal((await gone.socket.ended()).code, 4004);
    t.equal(stays.socket.ws.readyState, WebSocket.OPEN);
    stays.socket.close();
  });

  t.test('a client that does not answer pings is dropped', async (t) => {
    const server = await startServer(t, database, { socketTimings: { pingMs: PING_MS } });
    const deaf = new Socket(server.address, { autoPong: false });
    await deaf.opened();
    deaf.send({ type: 'auth', token: owner.token });
    await deaf.next();
    const lively = await connect(server.address, owner.token);
    t.equal((await deaf.ended()).code, 1006);
    t.ok(await lively.socket.isQuiet(PING_MS * 2));
    t.equal(lively.socket.ws.readyState, WebSocket.OPEN);
    lively.socket.close();
  });

  t.test('a client that does not read is dropped', async (t) => {
    const slow = await connect(address, owner.token);
    const lively = await connect(address, owner.token);
    slow.socket.ws.pause();
    const event = {
      userId: owner.id,
      type: 'notification' as const,
      id: 1,
      xids: [String(Number.MAX_SAFE_INTEGER)],
      unreadCount: 1,
      notification: { id: 1, coalescedCount: 0, body: 'x'.repeat(64 * 1024) },
    };
    for (let count = 0; count < 1_000 && slow.socket.ws.readyState === WebSocket.OPEN; count += 1) {
      stage.app.sockets.deliver({ cursor: 'x', events: [event] });
      await new Promise((resolve) => setImmediate(resolve));
    }
    slow.socket.ws.resume();
    t.equal((await slow.socket.ended()).code, 1006);
    t.equal(lively.socket.ws.readyState, WebSocket.OPEN);
    lively.socket.close();
  });

  t.test('two servers on one database both push', async (t) => {
    const second = await startServer(t, database);
    const here = await connect(address, owner.token);
    const there = await connect(second.address, owner.token);
    await comment('Everywhere');
    t.match((await here.socket.next()).notification?.title, /Everywhere/);
    t.match((await there.socket.next()).notification?.title, /Everywhere/);
    here.socket.close();
    there.socket.close();
  });

  t.test('who lost access is told nothing, live or replayed', async (t) => {
    const away = await connect(address, member.token);
    const { socket } = await connect(address, member.token);
    const commit = await (async () => {
      const client = await database.admin.connect();
      await client.query('begin');
      await client.query(
        `insert into bellwire.notifications (workspace_id, scope_id, user_id, kind, title)
         select $1, id, $2, 'mention', 'Secret' from bellwire.resources
         where type = 'squad' and ref = $3`,
        [stage.workspaceId, member.id, String(stage.squadId)],
      );
      return async () => {
        await client.query('commit');
        client.release();
      };
    })();
    await owner.delete(`/api/squads/${stage.squadId}/members/${member.id}`);
    await commit();
    t.ok(await socket.isQuiet(300));
    const again = await connect(address, member.token, away.ready.cursor ?? undefined);
    t.ok(await again.socket.isQuiet(100));
    await owner.post(`/api/squads/${stage.squadId}/members`, { userId: member.id, role: 'member' });
    for (const tab of [away.socket, socket, again.socket]) tab.close();
  });

  t.test('1001: the server stops', async (t) => {
    const server = await startServer(t, database);
    const waiting = new Socket(server.address);
    await waiting.opened();
    const { socket } = await connect(server.address, owner.token);
    await server.app.close();
    t.equal((await socket.ended()).code, 1001);
    t.equal((await waiting.ended()).code, 1001, 'signed in or not');
  });
});
