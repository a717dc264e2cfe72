import t from 'tap';
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
