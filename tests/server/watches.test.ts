import t from 'tap';
import { createDocument, startStage } from './support/stage.ts';

t.test('watches', async (t) => {
  const stage = await startStage(t);
  const { owner, member, guest, stranger, anonymous, archiveId } = stage;
  const documentId = await createDocument(owner, archiveId, 'Charts');
  const one = `/api/watches/log/${documentId}`;

  t.test('who creates a document watches it', async (t) => {
    t.same((await owner.get(one)).body, {
      success: true,
      watching: true,
      source: 'auto_create',
      level: 'watching',
    });
    t.match((await owner.get('/api/watches')).body, {
      items: [{ resourceType: 'log', resourceId: String(documentId), resourceName: 'Charts' }],
    });
  });

  t.test('member watches, mutes and stops', async (t) => {
    t.match((await member.get(one)).body, { success: true, watching: false });
    const watched = await member.post('/api/watches', {
      resourceType: 'log',
      resourceId: documentId,
    });
    t.match(watched.body, { success: true, watching: true, source: 'manual', level: 'watching' });
    await owner.put(`/api/documents/${documentId}`, { html: '<p>New edition</p>' });
    t.match((await member.get('/api/notifications')).body, {
      unreadCount: 1,
      items: [{ kind: 'watched_log_update', resourceId: String(documentId) }],
    });

    const muted = await member.post('/api/watches', {
      resourceType: 'log',
      resourceId: String(documentId),
      level: 'ignored',
    });
    t.match(muted.body, { level: 'ignored' });
    await owner.post(`/api/documents/${documentId}/publish`, { title: 'Second edition' });
    t.equal((await member.get('/api/notifications')).pick('unreadCount'), 1, 'muted');

    t.equal((await member.delete(one)).status, 200);
    t.match((await member.get(one)).body, { watching: false });
    t.match((await member.get('/api/watches')).body, { items: [], nextCursor: null });
  });

  t.test('an archive covers its documents', async (t) => {
    await member.post('/api/watches', { resourceType: 'archive', resourceId: String(archiveId) });
    await owner.post(`/api/documents/${documentId}/comments`, { body: 'Look' });
    t.match((await member.get('/api/notifications')).body, {
      items: [{ kind: 'watched_comment' }, {}],
    });
  });

  t.test('lists come in pages', async (t) => {
    await createDocument(owner, archiveId, 'More charts');
    const first = await owner.get('/api/watches?limit=1');
    t.match(first.body, { items: [{ resourceName: 'More charts' }], nextCursor: String });
    const second = await owner.get(`/api/watches?limit=1&cursor=${first.pick('nextCursor')}`);
    t.not(second.pick('items.0.resourceId'), first.pick('items.0.resourceId'));
  });

  t.test('guest and stranger cannot watch what they cannot read', async (t) => {
    for (const person of [guest, stranger]) {
      const answer = await person.post('/api/watches', {
        resourceType: 'log',
        resourceId: documentId,
      });
      t.equal(answer.status, 404);
      t.match((await person.get('/api/watches')).pick<object[]>('items').length, Number);
      t.notOk((await person.get('/api/watches')).text.includes('Charts'));
    }
  });

  t.test('anonymous', async (t) => {
    t.equal((await anonymous.get('/api/watches')).status, 401);
    t.equal((await anonymous.delete(one)).status, 401);
  });
});
