import { connect as connectTcp, type Socket as TcpSocket } from 'node:net';
import t from 'tap';
import { buildApp } from '../../server/app.ts';
import { until as waitFor } from '../worker/support.ts';
import { Client } from './support/client.ts';
import { EventStream, until } from './support/event-stream.ts';
import { connect, Socket } from './support/socket.ts';
import { signIn, startServer, startStage } from './support/stage.ts';

const RECHECK_MS = 300;
const PING_MS = 100;
const PATH = '/api/notifications/stream';
const METRICS_TOKEN = 'a-token-of-sixteen-and-more';
const MEBIBYTE = 1024 * 1024;

t.test('/api/notifications/stream', async (t) => {
  const stage = await startStage(t, { socketTimings: { recheckMs: RECHECK_MS } });
  const { address, owner, member, stranger, database, workspaceId } = stage;
  const bearer = (person: Client) => ({ authorization: `Bearer ${person.token}` });
  const open = (person: Client, headers = {}, query = '', at = address) =>
    EventStream.open(at, { ...bearer(person), ...headers }, PATH + query);
  const from = (lastId: string) => ({ 'last-event-id': lastId });
  const begin = async (title: string) => {
    const client = await database.admin.connect();
    await client.query('begin');
    await client.query("select bellwire.notify($1, $2, 'mention', $3)", [
      owner.id,
      workspaceId,
      title,
    ]);
    return async () => {
      await client.query('commit');
      client.release();
    };
  };
  const tell = async (title: string) => (await begin(title))();
  const flood = (count: number) =>
    database.admin.query(
      `insert into bellwire.notifications (workspace_id, user_id, kind, title)
       select $1, $2, 'mention', 'Flood' from generate_series(1, $3::int)`,
      [workspaceId, owner.id, count],
    );
  const titleOf = async (stream: EventStream) => (await stream.next()).data.notification?.title;

  // It does not listen, so its tail never begins; asked now, because the answer takes five seconds.
  const idle = await buildApp({
    databaseUrl: database.serverUrl,
    appUrl: 'http://localhost:3000',
    logLevel: 'silent',
  });
  t.teardown(() => idle.close());
  const unheard = idle.inject({ url: PATH, headers: bearer(owner) });

  t.test('headers, retry, ready, and each event with the cursor as its id', async (t) => {
    const stream = await open(owner);
    t.equal(stream.status, 200);
    t.match(stream.response.headers, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': String,
      'content-security-policy': String,
    });
    t.equal(stream.response.headers['content-encoding'], undefined);
    const ready = await stream.next();
    t.match(ready, { event: 'ready', data: { type: 'ready', unreadCount: 0, resync: false } });
    t.equal(stream.retry, '2000');
    const { socket } = await connect(address, owner.token);
    await tell('Live');
    const event = await stream.next();
    const frame = await socket.next();
    t.equal(event.event, 'notification');
    t.same(Object.keys(event.data), Object.keys(frame));
    t.same(event.data.notification, frame.notification, 'what the socket has');
    for (const { id, data } of [ready, event]) t.equal(id, data.cursor);

    const id = frame.notification?.id;
    await owner.post(`/api/notifications/${id}/read`);
    t.match(await stream.next(), { event: 'read', data: { id, unreadCount: 0 } });
    await flood(3);
    for (let count = 0; count < 3; count += 1) await stream.next();
    await owner.post('/api/notifications/read-all');
    t.match(await stream.next(), { event: 'read-all', data: { unreadCount: 0 } });
    await flood(501);
    t.match(await stream.next(), { event: 'resync', data: { cursor: String } });
    t.ok(await stream.isQuiet(100));
    stream.close();
    socket.close();
  });

  t.test(
    'who comes back gets what was missed: no gap, no repetition, late commits too',
    async (t) => {
      const first = await open(owner);
      const commitLate = await begin('Begun first, committed last');
      await tell('Before');
      const ids = [(await first.next()).id, (await first.next()).id];
      first.close();
      await tell('Missed 1');
      await tell('Missed 2');
      await commitLate();
      const titles = ['Before', 'Begun first, committed last', 'Missed 1', 'Missed 2'];
      for (const [index, id] of ids.entries()) {
        const again = await open(owner, from(id));
        t.match(await again.next(), { event: 'ready', id, data: { resync: false } });
        const got = [];
        for (let left = titles.length - index; left > 0; left -= 1) got.push(await titleOf(again));
        t.same(got.sort(), titles.slice(index).sort(), `after ready or event ${index}`);
        await tell(`And live ${index}`);
        titles.push(`And live ${index}`);
        t.equal(await titleOf(again), `And live ${index}`);
        t.ok(await again.isQuiet(100), 'each once');
        again.close();
      }
      const byQuery = await open(owner, {}, `?lastEventId=${ids[1]}`);
      const ready = await byQuery.next();
      for (const _ of titles.slice(1)) await byQuery.next();
      t.ok(await byQuery.isQuiet(100));
      byQuery.close();
      const last = await open(owner, from(ready.id), '?lastEventId=bogus');
      t.match((await last.next()).data, { resync: false }, 'the header goes first');
      last.close();
    },
  );

  t.test('around the replay everything comes once, in the replay or live', async (t) => {
    for (let round = 0; round < 4; round += 1) {
      const before = await open(owner);
      const { id } = await before.next();
      before.close();
      const titles = Array.from({ length: 5 }, (_, number) => `Round ${round} number ${number}`);
      const commits = [];
      for (const title of titles) commits.push(await begin(title));
      let opening: Promise<EventStream> | undefined;
      for (const [number, commit] of commits.entries()) {
        if (number === round) opening = open(owner, from(id));
        await commit();
      }
      const stream = await (opening as Promise<EventStream>);
      t.equal((await stream.next()).event, 'ready');
      const got = [];
      for (const _ of titles) got.push(await titleOf(stream));
      t.same(got.sort(), titles);
      t.ok(await stream.isQuiet(50), 'none twice');
      stream.close();
    }
  });

  t.test('a long replay waits for its reader and arrives as a whole', async (t) => {
    const first = await open(owner);
    const { id } = await first.next();
    first.close();
    const count = 400;
    await database.admin.query(
      `insert into bellwire.notifications (workspace_id, user_id, kind, title, body, metadata)
       select $1, $2, 'mention', 'Long ' || i, repeat('x', 2000), jsonb_build_object('text', repeat('y', 5000))
       from generate_series(1, $3::int) as i`,
      [workspaceId, owner.id, count],
    );
    const { socket } = await connect(address, owner.token, id);
    const again = await open(owner, from(id));
    await again.next();
    again.response.pause();
    await tell('Afterwards');
    again.response.resume();
    for (let number = 1; number <= count; number += 1) {
      t.equal(await titleOf(again), `Long ${number}`);
      await socket.next();
    }
    t.equal(await titleOf(again), 'Afterwards');
    t.equal((await socket.next()).notification?.title, 'Afterwards');
    again.close();
    socket.close();
  });

  t.test('an id of something else means reading the inbox; live from there', async (t) => {
    const page = (await owner.get('/api/notifications?limit=1')).pick<string>('nextCursor');
    const bad = [from('bogus'), from(page), from('x'.repeat(5_000)), from('a, b'), from('\u00e9')];
    const queries = ['?lastEventId=%00', '?lastEventId=%F0%9F%9B%9F'];
    const streams = [
      ...bad.map((headers) => open(owner, headers)),
      ...queries.map((query) => open(owner, {}, query)),
    ];
    for (const opening of streams) {
      const stream = await opening;
      t.match(await stream.next(), { event: 'ready', data: { resync: true, cursor: String } });
      await tell('Now');
      t.equal(await titleOf(stream), 'Now');
      stream.close();
    }
    const blank = await open(owner, {}, '?lastEventId=');
    t.match((await blank.next()).data, { resync: false }, 'none is none');
    blank.close();
    t.equal((await owner.get(`${PATH}?lastEventId=a&lastEventId=b`)).status, 400);
  });

  t.test('only for who is signed in, by token or cookie, from a page that may', async (t) => {
    t.equal((await new Client(address).get(PATH)).status, 401);
    t.equal((await new Client(address, 'nope').get(PATH)).status, 401);
    const cookie = `sessionToken=${owner.token}`;
    t.equal(
      (await EventStream.open(address, { cookie, origin: 'http://evil.example' })).status,
      403,
    );
    const own = await EventStream.open(address, { cookie, origin: address });
    t.equal((await own.next()).event, 'ready');
    t.match(own.response.headers, {
      'access-control-allow-origin': address,
      'access-control-allow-credentials': 'true',
    });
    const others = await open(stranger);
    await others.next();
    await tell('Not yours');
    t.equal(await titleOf(own), 'Not yours');
    t.ok(await others.isQuiet(50));
    t.equal((await owner.send('HEAD', PATH)).status, 404, 'there is no HEAD of it');
    own.close();
    others.close();
  });

  t.test('ten connections of one person, sockets and streams together', async (t) => {
    const streams: EventStream[] = [];
    for (let count = 0; count < 6; count += 1) streams.push(await open(stranger));
    const sockets = [];
    for (let count = 0; count < 4; count += 1) sockets.push(await connect(address, stranger.token));
    t.same(
      streams.map(({ status }) => status),
      [200, 200, 200, 200, 200, 200],
      'the tenth comes in as the first did',
    );
    const refuseBoth = async (when: string) => {
      const refused = await stranger.get(PATH);
      t.match([refused.status, refused.body], [429, { error: 'too_many_connections' }], when);
      const eleventh = new Socket(address);
      await eleventh.opened();
      eleventh.send({ type: 'auth', token: stranger.token });
      t.match(await eleventh.ended(), { code: 4004, reason: 'Too many connections' }, when);
    };
    const untilNine = () =>
      until(() => stage.app.sockets.countOf(stranger.id) === 9, 'It is still counted.');
    await refuseBoth('six streams and four sockets');
    const neighbour = await open(member);
    t.equal(neighbour.status, 200, 'another person has room');
    const elsewhere = await startServer(t, database);
    const there = await open(stranger, {}, '', elsewhere.address);
    t.equal(there.status, 200, 'and another process counts its own');
    streams[0]?.close();
    await untilNine();
    sockets.push(await connect(address, stranger.token));
    t.equal(sockets.at(-1)?.ready.type, 'ready', 'a stream left, a socket comes');
    await refuseBoth('five of each');
    sockets[0]?.socket.close();
    await untilNine();
    streams.push(await open(stranger));
    t.equal(streams.at(-1)?.status, 200, 'a socket left, a stream comes');
    await refuseBoth('six streams and four sockets again');
    for (const { socket } of sockets) socket.close();
    for (const stream of [...streams, neighbour, there]) stream.close();
  });

  t.test('sockets and streams are counted apart, opening and closing', async (t) => {
    const server = await startServer(t, database, { metricsToken: METRICS_TOKEN });
    const open = async () => {
      const { text } = await new Client(server.address, METRICS_TOKEN).get('/metrics');
      const counts = text.matchAll(/^bellwire_sockets_open\{kind="(\w+)"\} (\d+)$/gm);
      return Object.fromEntries([...counts].map(([, kind, count]) => [kind, Number(count)]));
    };
    const untilOpen = async (socket: number, stream: number) => {
      await waitFor(`${socket} sockets and ${stream} streams`, async () => {
        const counts = await open();
        return counts.socket === socket && counts.stream === stream;
      });
    };
    t.same(await open(), { socket: 0, stream: 0 });
    const streams = [];
    for (const person of [owner, member]) {
      streams.push(await EventStream.open(server.address, bearer(person)));
    }
    await untilOpen(0, 2);
    const { socket } = await connect(server.address, owner.token);
    const unsigned = new Socket(server.address);
    await unsigned.opened();
    await untilOpen(2, 2);
    t.equal((await new Client(server.address, 'nope').get(PATH)).status, 401);
    t.same(await open(), { socket: 2, stream: 2 }, 'who was refused is not counted');
    unsigned.close();
    streams[0]?.close();
    await untilOpen(1, 1);
    socket.close();
    streams[1]?.close();
    await untilOpen(0, 0);
  });

  t.test('signing out ends the stream of that session and no other', async (t) => {
    const leaving = await signIn(address, owner.email);
    const [gone, stays] = [await open(leaving), await open(owner)];
    for (const stream of [gone, stays]) await stream.next();
    await leaving.post('/api/logout');
    await gone.ended();
    t.ok(gone.response.complete, 'in good order');
    t.equal((await open(leaving)).status, 401, 'and coming back is refused');
    const elsewhere = await startServer(t, database);
    const other = await signIn(address, owner.email);
    const found = await open(other);
    await found.next();
    await new Client(elsewhere.address, other.token).post('/api/logout');
    await found.ended();
    await tell('Still here');
    t.equal(await titleOf(stays), 'Still here');
    stays.close();
  });

  t.test('heartbeats keep a quiet stream', async (t) => {
    const server = await startServer(t, database, { socketTimings: { pingMs: PING_MS } });
    const stream = await open(owner, {}, '', server.address);
    await stream.next();
    await until(() => stream.comments.length >= 3, 'No heartbeat came.');
    t.same(new Set(stream.comments), new Set([':']));
    t.notOk(stream.hasEnded);
    stream.close();
  });

  t.test('who does not read is dropped with little kept, be it a socket or a stream', async (t) => {
    const server = await startServer(t, database);
    const buffered: TcpSocket[] = [];
    server.app.server.on('connection', (socket) => buffered.push(socket));
    const deafStream = await openTcp(server.address, streamRequest());
    const deafSocket = await openTcp(server.address, upgradeRequest());
    deafSocket.write(textFrame({ type: 'auth', token: owner.token }));
    await until(() => server.app.sockets.countOf(owner.id) === 2, 'They did not get in.');
    const lively = await open(owner, {}, '', server.address);
    await lively.next();
    for (const socket of [deafStream, deafSocket]) socket.pause();

    let most = 0;
    for (let sent = 0; sent < 2_000 && server.app.sockets.countOf(owner.id) > 1; sent += 1) {
      server.app.sockets.deliver({ cursor: 'x', events: [bigEvent()] });
      most = Math.max(most, ...buffered.map((socket) => socket.writableLength));
      await until(() => lively.events.length > 0, 'The lively one got nothing.');
      lively.events.length = 0;
    }
    t.equal(server.app.sockets.countOf(owner.id), 1, 'the one that reads is left');
    t.ok(most > MEBIBYTE / 2, 'they were waited for');
    t.ok(most < 1.5 * MEBIBYTE, `at most ${most} bytes waited`);
    t.notOk(lively.hasEnded);
    for (const socket of [deafStream, deafSocket]) socket.destroy();
    lively.close();
  });

  t.test('a little that is never taken is noticed by the heartbeat', async (t) => {
    const server = await startServer(t, database, { socketTimings: { pingMs: PING_MS } });
    const inside: TcpSocket[] = [];
    server.app.server.on('connection', (socket) => inside.push(socket));
    const waiting = () => Math.max(...inside.map((socket) => socket.writableLength));
    const deaf = await openTcp(server.address, streamRequest());
    await until(() => server.app.sockets.countOf(owner.id) === 1, 'It did not get in.');
    deaf.pause();
    // What the kernel takes is not seen from here; one step beyond it, the rest waits in the server.
    while (waiting() === 0) {
      server.app.sockets.deliver({ cursor: 'x', events: [bigEvent()] });
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.ok(waiting() < MEBIBYTE, 'too little to be dropped for');
    await until(() => server.app.sockets.countOf(owner.id) === 0, 'It is still there.');
    deaf.destroy();
  });

  t.test('a server that stops ends its streams, and admits none', async (t) => {
    const server = await startServer(t, database);
    const stream = await open(owner, {}, '', server.address);
    const { id } = await stream.next();
    const deaf = await openTcp(server.address, streamRequest());
    await until(() => server.app.sockets.countOf(owner.id) === 2, 'It did not get in.');
    deaf.pause();
    const startedAt = Date.now();
    await server.app.close();
    t.ok(Date.now() - startedAt < 5_000);
    await stream.ended();
    t.ok(stream.response.complete, 'in good order');
    await tell('In between');
    const elsewhere = await open(owner, from(id));
    await elsewhere.next();
    t.equal(await titleOf(elsewhere), 'In between', 'it goes on at another server');
    elsewhere.close();
    deaf.destroy();
  });

  t.test('without the push connection: 503, and the place is free again', async (t) => {
    const answer = await unheard;
    t.equal(answer.statusCode, 503);
    t.match(answer.json(), { success: false, error: 'unavailable' });
    t.equal(answer.headers['retry-after'], '2');
    t.equal(idle.sockets.countOf(owner.id), 0);
  });

  function bigEvent() {
    return {
      userId: owner.id,
      type: 'notification' as const,
      id: 1,
      xids: [String(Number.MAX_SAFE_INTEGER)],
      unreadCount: 1,
      notification: { id: 1, coalescedCount: 0, body: 'x'.repeat(32 * 1024) },
    };
  }

  function streamRequest(): string {
    return `GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.token}\r\n\r\n`;
  }
});

function upgradeRequest(): string {
  return (
    'GET /notifications-ws HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\nUpgrade: websocket\r\n' +
    'Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n' +
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
  );
}

/** Opens a connection, sends this, and waits for the first bytes of the answer. */
async function openTcp(address: string, request: string): Promise<TcpSocket> {
  const { port } = new URL(address);
  const socket = connectTcp(Number(port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(request);
  await new Promise<void>((resolve) => socket.once('data', () => resolve()));
  return socket;
}

/** A client's text frame of up to 65,535 bytes, masked with nothing. */
function textFrame(frame: object): Buffer {
  const body = Buffer.from(JSON.stringify(frame));
  const head = Buffer.from([0x81, 0xfe, body.length >> 8, body.length & 255, 0, 0, 0, 0]);
  return Buffer.concat([head, body]);
}
