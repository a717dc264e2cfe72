import t from 'tap';
import { createDocument, startStage } from './support/stage.ts';

interface Item {
  id: number;
  kind: string;
  title: string;
  readAt: string | null;
}

t.test('the inbox', async (t) => {
  const stage = await startStage(t);
  const { owner, member, stranger, anonymous, archiveId, database } = stage;
  const list = (query = '') => owner.get(`/api/notifications${query}`);

  t.test('begins empty', async (t) => {
    const answer = await list();
    t.equal(answer.status, 200);
    t.equal(answer.headers.get('cache-control'), 'no-store');
    t.same(answer.body, { success: true, items: [], unreadCount: 0, nextCursor: null });
  });

  t.test('a comment on a document of mine arrives with its actor', async (t) => {
    const documentId = await createDocument(owner, archiveId, 'Moorings');
    await member.post(`/api/documents/${documentId}/comments`, { body: 'Nice <b>work</b>' });
    const answer = await list();
    t.match(answer.body, {
      unreadCount: 1,
      items: [
        {
          id: Number,
          kind: 'comment_on_my_doc',
          title: /Mats Member commented on your document “Moorings”/,
          workspaceId: stage.workspaceId,
          resourceType: String,
          resourceId: String,
          coalescedCount: 0,
          actor: { id: member.id, name: 'Mats Member' },
          createdAt: /Z$/,
          readAt: null,
        },
      ],
    });
    t.equal((await owner.get('/api/notifications/unread-count')).pick('unreadCount'), 1);
    t.equal((await owner.get('/api/me')).pick('user.unreadCount'), 1);
    t.same((await member.get('/api/notifications')).pick('items'), [], 'not to the actor');
  });

  t.test('reading one', async (t) => {
    const id = (await list()).pick<number>('items.0.id');
    const answer = await owner.post(`/api/notifications/${id}/read`);
    t.equal(answer.status, 204);
    t.equal(answer.text, '');
    t.equal((await owner.post(`/api/notifications/${id}/read`)).status, 204, 'twice is fine');
    t.match((await list()).body, { unreadCount: 0, items: [{ id, readAt: /Z$/ }] });
    t.same((await list('?unread=true')).pick('items'), []);
    t.equal((await stranger.post(`/api/notifications/${id}/read`)).status, 404, 'not the stranger');
    t.equal((await owner.post('/api/notifications/999999999/read')).status, 404);
  });

  t.test('pages lose and repeat nothing', async (t) => {
    for (let count = 0; count < 7; count += 1) {
      const documentId = await createDocument(owner, archiveId, `Page ${count}`);
      await member.post(`/api/documents/${documentId}/comments`, { body: 'x' });
    }
    const seen: number[] = [];
    let cursor: string | null = null;
    do {
      const answer = await list(`?limit=3${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`);
      seen.push(...answer.pick<Item[]>('items').map((item) => item.id));
      cursor = answer.pick<string | null>('nextCursor');
    } while (cursor !== null);
    t.equal(seen.length, 8);
    t.equal(new Set(seen).size, 8);
    t.same(
      seen,
      [...seen].sort((left, right) => right - left),
      'newest first',
    );
    t.equal((await list('?limit=0')).pick<Item[]>('items').length, 1, 'clamped up');
  });

  t.test('a cursor that is none', async (t) => {
    for (const bad of ['x', '%00', 'MTIz', `${'a'.repeat(3000)}`, '%F0%9F%9B%9F', '-1', "'--"]) {
      const answer = await list(`?cursor=${bad}`);
      t.equal(answer.status, 400, bad.slice(0, 20));
      if (bad !== '%00') t.equal(answer.pick('error'), 'invalid_cursor', bad.slice(0, 20));
    }
  });

  t.test('reading all', async (t) => {
    const answer = await owner.post('/api/notifications/read-all');
    t.same(answer.body, { success: true, updated: 7 });
    t.same((await owner.post('/api/notifications/read-all')).body, { success: true, updated: 0 });
    t.equal((await list()).pick('unreadCount'), 0);
  });

  t.test('preferences: the bell can be turned off for a kind', async (t) => {
    const before = await owner.get('/api/notification-preferences');
    t.match(before.body, {
      success: true,
      items: [{ kind: String, description: String, inApp: true, email: Boolean }],
    });
    const changed = await owner.put('/api/notification-preferences', {
      preferences: {
        comment_on_my_doc: { inApp: false, email: false },
        mention: { email: false },
        nonsense: { email: true },
      },
    });
    const kinds = changed.pick<{ kind: string; inApp: boolean; email: boolean }[]>('items');
    t.match(
      kinds.find((item) => item.kind === 'comment_on_my_doc'),
      { inApp: false, email: false },
    );
    t.match(
      kinds.find((item) => item.kind === 'mention'),
      { inApp: true, email: false },
    );
    t.notOk(kinds.some((item) => item.kind === 'nonsense'));
    const documentId = await createDocument(owner, archiveId, 'Quiet');
    await member.post(`/api/documents/${documentId}/comments`, { body: 'x' });
    t.equal((await list()).pick('unreadCount'), 0);
    t.equal(
      (await owner.put('/api/notification-preferences', { preferences: { mention: { email: 1 } } }))
        .status,
      400,
    );
    const others = await member.get('/api/notification-preferences');
    t.ok(others.pick<{ inApp: boolean }[]>('items').every((item) => item.inApp));
  });

  t.test('unsubscribe: a GET only asks, a POST without a sign-in does it', async (t) => {
    const documentId = await createDocument(member, archiveId, 'Letters');
    await owner.post(`/api/documents/${documentId}/comments`, { body: 'By mail, too' });
    const { rows } = await database.admin.query<{ unsubscribe_token: string }>(
      `select o.unsubscribe_token from bellwire.email_outbox o
         join bellwire.notifications n on n.id = o.notification_id where n.user_id = $1`,
      [member.id],
    );
    const path = `/api/unsubscribe/${rows[0]?.unsubscribe_token}`;
    const wantsEmail = async () =>
      (await member.get('/api/notification-preferences'))
        .pick<{ kind: string; email: boolean }[]>('items')
        .find((item) => item.kind === 'comment_on_my_doc')?.email;

    const asked = await anonymous.get(path);
    t.equal(asked.status, 200);
    t.match(asked.headers.get('content-type'), /text\/html/);
    t.match(asked.text, /<form method="post"/);
    t.equal(await wantsEmail(), true);

    const done = await anonymous.post(path, undefined, {
      raw: 'List-Unsubscribe=One-Click',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: 'https://mail.example.com',
      },
    });
    t.equal(done.status, 200);
    t.match(done.body, { success: true, kind: 'comment_on_my_doc', email: member.email });
    t.equal(await wantsEmail(), false);
    const page = await anonymous.post(path, undefined, { headers: { accept: 'text/html' } });
    t.equal(page.status, 200, 'again is fine');
    t.match(page.text, /<h1>Done<\/h1>/);
    const unknown = '/api/unsubscribe/00000000-0000-4000-8000-000000000000';
    t.equal((await anonymous.post(unknown)).status, 404);
    t.equal((await anonymous.post('/api/unsubscribe/x')).status, 400);
  });

  t.test('anonymous', async (t) => {
    for (const path of ['/api/notifications', '/api/notifications/unread-count']) {
      t.equal((await anonymous.get(path)).status, 401);
    }
    t.equal((await anonymous.post('/api/notifications/read-all')).status, 401);
  });
});
