import { spawn } from 'node:child_process';
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { connect, type Frame, type Socket } from '../server/support/socket.ts';
import { createDocument, startStage } from '../server/support/stage.ts';
import { blocks, readPage, section, tableRows } from './markdown.ts';

const PAGE = readPage('docs/live-push.md');

interface State {
  items: Map<number, { id: number; readAt: string | null }>;
  unreadCount: number;
  cursor: string;
}

t.test('frames have the fields of the table, and the snippet keeps a list with them', async (t) => {
  const documented = new Map(
    tableRows(section(PAGE, 'Frames')).map(([type = '', fields = '']) => [
      type.replaceAll('`', ''),
      [...fields.matchAll(/`(\w+)`/g)].map((match) => match[1]).sort(),
    ]),
  );
  const [snippet] = blocks(section(PAGE, 'Keep a list'), 'js');
  const folder = t.testdir({ 'list.mjs': snippet ?? '' });
  const { applyFrame } = await import(`${folder}/list.mjs`);
  const { address, owner, member, archiveId, workspaceId, database } = await startStage(t);
  const state: State = { items: new Map(), unreadCount: -1, cursor: '' };
  const seen = new Set<string>();
  const handle = (frame: Frame): boolean => {
    seen.add(frame.type);
    t.same(Object.keys(frame).sort(), documented.get(frame.type), frame.type);
    return applyFrame(state, frame);
  };
  const agrees = async () => {
    const inbox = await owner.get('/api/notifications');
    t.equal(state.unreadCount, inbox.pick('unreadCount'));
    const items = inbox.pick<{ id: number; readAt: string | null }[]>('items');
    t.same(
      items.map(({ id, readAt }) => [id, readAt !== null]).sort(),
      [...state.items.values()].map(({ id, readAt }) => [id, readAt !== null]).sort(),
    );
  };
  const next = async (socket: Socket) => handle(await socket.next());
  const tell = async (title: string) => {
    const documentId = await createDocument(owner, archiveId, title);
    await member.post(`/api/documents/${documentId}/comments`, { body: 'Ahoy' });
  };

  const first = await connect(address, owner.token);
  t.notOk(handle(first.ready));
  for (const title of ['One', 'Two', 'Three']) {
    await tell(title);
    t.notOk(await next(first.socket));
  }
  await agrees();
  const [id] = state.items.keys();
  await owner.post(`/api/notifications/${id}/read`);
  await next(first.socket);
  await agrees();
  first.socket.close();
  await tell('Away');
  const second = await connect(address, owner.token, state.cursor);
  handle(second.ready);
  await next(second.socket);
  await agrees();
  await owner.post('/api/notifications/read-all');
  await next(second.socket);
  await agrees();
  await database.admin.query(
    `insert into bellwire.notifications (workspace_id, user_id, kind, title)
     select $1, $2, 'mention', 'Flood' from generate_series(1, 501)`,
    [workspaceId, owner.id],
  );
  t.ok(await next(second.socket), 'the inbox has to be read again');
  t.same([...seen].sort(), [...documented.keys()].sort(), 'each was seen');
  second.socket.close();
});

const FLAG = '--experimental-eventsource';
const DRIVER = `
const state = { items: new Map(), unreadCount: -1, cursor: '' };
const readInbox = () => console.log(JSON.stringify('read the inbox'));
const show = () => console.log(JSON.stringify({ ...state, items: [...state.items.values()].map(({ title }) => title) }));
const source = follow(state, process.argv[2], { readInbox, show });
setInterval(() => {
  if (source.readyState === EventSource.CLOSED) {
    console.log(JSON.stringify('closed'));
    process.exit();
  }
}, 50);
`;

/** Signs everything in that passes, as a browser's cookie would, and can break what is open. */
async function startProxy(t: Test, target: string, token: string | undefined) {
  const open = new Set<ServerResponse>();
  const server = createServer((incoming, response) => {
    open.add(response);
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    const onward = request(`${target}${incoming.url}`, { headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => {});
    onward.end();
    response.on('close', () => {
      open.delete(response);
      onward.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const breakAll = () => {
    for (const response of open) response.destroy();
  };
  t.teardown(() => {
    breakAll();
    server.close();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, breakAll };
}

t.test(
  'the snippet for EventSource follows, comes back where it was, and stays away when signed out',
  { skip: !process.allowedNodeEnvironmentFlags.has(FLAG) && 'this Node has no EventSource' },
  async (t) => {
    const snippets = ['Keep a list', 'Server-sent events'].map(
      (title) => blocks(section(PAGE, title), 'js')[0],
    );
    const folder = t.testdir({ 'follow.mjs': [...snippets, DRIVER].join('\n') });
    const { address, owner, workspaceId, database } = await startStage(t);
    const tell = (title: string) =>
      database.admin.query(`select bellwire.notify($1, $2, 'mention', $3)`, [
        owner.id,
        workspaceId,
        title,
      ]);
    const proxy = await startProxy(t, address, owner.token);
    const url = `${proxy.address}/api/notifications/stream`;
    const child = spawn(process.execPath, [FLAG, '--no-warnings', `${folder}/follow.mjs`, url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => child.kill());
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value ?? 'null');

    t.match(await next(), { items: [], unreadCount: 0 });
    await tell('Live');
    t.match(await next(), { items: ['Live'], unreadCount: 1, cursor: String });
    proxy.breakAll();
    await tell('Missed');
    t.match(await next(), { items: ['Live'], unreadCount: 2 }, 'ready again');
    t.match(await next(), { items: ['Live', 'Missed'], unreadCount: 2 });
    await owner.post('/api/notifications/read-all');
    t.match(await next(), { items: ['Live', 'Missed'], unreadCount: 0 });
    await owner.post('/api/logout');
    t.equal(await next(), 'closed', 'refused with 401 it does not try again');
  },
);
