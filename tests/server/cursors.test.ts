import t from 'tap';
import type { Client } from './support/client.ts';
import {
  createDocument,
  createWebhook,
  fillTree,
  type Stage,
  startStage,
} from './support/stage.ts';

/** Anything but what a list gave out. Each list has its own form, so some say what another's would. */
const BAD_CURSORS = [
  '',
  'x',
  'null',
  '-1',
  '0',
  '1.5',
  '1e3',
  ' 1',
  "1' or '1'='1",
  '99999999999999999999999999',
  'MTIz',
  Buffer.from('1:').toString('base64url'),
  Buffer.from('-1:1').toString('base64url'),
  `${Buffer.from('1:1').toString('base64url')}=`,
  'A'.repeat(2_000),
  '🛟',
  'a\0b',
];

interface Operation {
  parameters?: { name: string; in: string }[];
}

/** Every route that lists in pages, with the ids of the stage filled in. */
async function listRoutes(
  client: Client,
  stage: Stage,
  documentId: number,
  webhookId: number,
): Promise<string[]> {
  const document = await client.get('/docs/json');
  const paths = document.pick<Record<string, Record<string, Operation>>>('paths');
  const ids: Record<string, number> = {
    workspaceId: stage.workspaceId,
    squadId: stage.squadId,
    archiveId: stage.archiveId,
  };
  return Object.entries(paths)
    .filter(([, { get }]) => get?.parameters?.some((parameter) => parameter.name === 'cursor'))
    .map(([path]) => {
      const id = path.startsWith('/api/webhooks/') ? webhookId : documentId;
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(ids[name] ?? id));
      // Without a workspace they are those to the installation, which only its administrator sees.
      return path === '/api/invitations'
        ? `${filled}?workspaceId=${stage.workspaceId}&`
        : `${filled}?`;
    });
}

t.test('cursors', async (t) => {
  const stage = await startStage(t);
  const { owner, member, anonymous } = stage;
  const { documentId } = await fillTree(owner, stage.archiveId);
  const { webhookId } = await createWebhook(owner, stage.workspaceId);
  await createWebhook(owner, stage.workspaceId);
  // At least two of everything, for a second page.
  for (const title of ['Second', 'Third']) {
    const id = await createDocument(owner, stage.archiveId, title);
    await member.post(`/api/documents/${id}/comments`, { body: 'Noted' });
    await owner.post(`/api/documents/${documentId}/publish`, { title });
    await owner.post(`/api/documents/${documentId}/comments`, { body: title });
    await owner.post(`/api/squads/${stage.squadId}/archives`, { name: title });
    await owner.post(`/api/workspaces/${stage.workspaceId}/squads`, { name: title });
    await owner.post('/api/workspaces', { name: title });
    const email = `${title.toLowerCase()}@example.org`;
    await owner.post('/api/invitations', { email, workspaceId: stage.workspaceId, role: 'member' });
  }
  const routes = await listRoutes(anonymous, stage, documentId, webhookId);
  t.ok(routes.length >= 9, `${routes.length} lists: ${routes.join(', ')}`);

  for (const route of routes) {
    t.test(`${route}: a bad cursor is 400 invalid_cursor`, async (t) => {
      for (const cursor of BAD_CURSORS) {
        const answer = await owner.get(`${route}cursor=${encodeURIComponent(cursor)}`);
        t.equal(answer.status, 400, `${JSON.stringify(cursor.slice(0, 40))} ${answer.text}`);
        t.match(answer.body, { success: false, error: 'invalid_cursor', message: String });
      }
    });

    t.test(`${route}: page by page it is the whole list`, async (t) => {
      const whole = (await owner.get(`${route}limit=50`)).pick<unknown[]>('items');
      const pieces: unknown[] = [];
      let cursor: string | null = null;
      do {
        const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const page = await owner.get(`${route}limit=1${query}`);
        t.equal(page.status, 200);
        pieces.push(...page.pick<unknown[]>('items'));
        cursor = page.pick<string | null>('nextCursor');
      } while (cursor !== null && pieces.length <= whole.length);
      t.ok(whole.length >= 2, `${whole.length} items`);
      t.strictSame(pieces, whole);
    });
  }
});
