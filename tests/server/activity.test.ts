import t from 'tap';
import { createDocument, startStage } from './support/stage.ts';

interface Entry {
  id: number;
  action: string;
}

t.test('the activity feed', async (t) => {
  const stage = await startStage(t);
  const { owner, member, guest, stranger, anonymous, archiveId, workspaceId } = stage;
  const documentId = await createDocument(owner, archiveId, 'Wrecks');
  await owner.put(`/api/documents/${documentId}/title`, { title: 'Wrecks and rocks' });
  await member.post(`/api/documents/${documentId}/comments`, { body: 'Mind the rocks' });
  const actions = (entries: Entry[]) => entries.map((entry) => entry.action);

  t.test('member reads what happened, newest first', async (t) => {
    const answer = await member.get(`/api/activity?workspaceId=${workspaceId}`);
    t.equal(answer.status, 200);
    t.match(actions(answer.pick('items')).slice(0, 3), [
      'comment.create',
      'log.rename',
      'log.create',
    ]);
    t.match(answer.body, {
      success: true,
      items: [
        {
          id: Number,
          action: 'comment.create',
          actor: { id: member.id, name: 'Mats Member' },
          workspaceId,
          resourceType: 'comment',
          resourceId: String,
          metadata: Object,
          occurredAt: /Z$/,
        },
      ],
    });
  });

  t.test('filters by resource', async (t) => {
    const answer = await member.get(`/api/activity?resourceType=log&resourceId=${documentId}`);
    t.ok(actions(answer.pick('items')).includes('log.rename'));
    t.notOk(actions(answer.pick('items')).includes('archive.create'));
    t.equal((await member.get('/api/activity?resourceId=1')).status, 400, 'needs the type');
  });

  t.test('pages lose and repeat nothing', async (t) => {
    const all = (await owner.get('/api/activity?limit=50')).pick<Entry[]>('items');
    t.equal(
      new Set(all.map((entry) => entry.id)).size,
      all.length,
      'an owner of all scopes sees each once',
    );
    const seen: number[] = [];
    let query = '?limit=2';
    for (;;) {
      const answer = await owner.get(`/api/activity${query}`);
      seen.push(...answer.pick<Entry[]>('items').map((entry) => entry.id));
      const cursor = answer.pick<string | null>('nextCursor');
      if (cursor === null) break;
      query = `?limit=2&cursor=${encodeURIComponent(cursor)}`;
    }
    t.same(
      seen,
      all.map((entry) => entry.id),
    );
    const bad = await owner.get('/api/activity?cursor=nonsense');
    t.equal(bad.status, 400);
    t.equal(bad.pick('error'), 'invalid_cursor');
  });

  t.test('guest and stranger see nothing of it', async (t) => {
    for (const person of [guest, stranger]) {
      t.notMatch((await person.get('/api/activity')).text, /Wrecks/);
      t.notMatch((await person.get(`/api/activity?workspaceId=${workspaceId}`)).text, /Wrecks/);
    }
  });

  t.test('anonymous', async (t) => {
    t.equal((await anonymous.get('/api/activity')).status, 401);
  });
});
