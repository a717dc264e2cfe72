import t from 'tap';
import { createDocument, startStage } from './support/stage.ts';

t.test('comments', async (t) => {
  const stage = await startStage(t);
  const { owner, member, guest, stranger, anonymous, archiveId } = stage;
  const documentId = await createDocument(owner, archiveId, 'Soundings');
  const path = `/api/documents/${documentId}/comments`;

  t.test('member writes, edits, resolves, reopens and deletes', async (t) => {
    const created = await member.post(path, { body: 'Shallow\nhere' });
    t.equal(created.status, 201);
    const id = created.pick<number>('comment.id');
    t.match(created.body, {
      comment: {
        documentId,
        parentId: null,
        body: 'Shallow\nhere',
        authorId: member.id,
        resolvedAt: null,
      },
    });
    const reply = await owner.post(path, { body: 'Thanks', parentId: id });
    t.match(reply.body, { comment: { parentId: id, authorId: owner.id } });
    t.match((await member.put(`/api/comments/${id}`, { body: 'Deep' })).body, {
      comment: { body: 'Deep' },
    });
    t.match((await member.get(path)).body, { items: [{ id }, { parentId: id }], nextCursor: null });
    t.match((await owner.post(`/api/comments/${id}/resolve`)).body, {
      comment: { resolvedAt: String },
    });
    t.match((await owner.post(`/api/comments/${id}/reopen`)).body, {
      comment: { resolvedAt: null },
    });
    t.equal((await member.delete(`/api/comments/${id}`)).status, 200);
    t.match((await member.get(path)).body, { items: [] });
    t.equal((await member.put(`/api/comments/${id}`, { body: 'x' })).status, 404);
  });

  t.test('a comment belongs to whoever wrote it', async (t) => {
    const id = (await owner.post(path, { body: 'Mine' })).pick<number>('comment.id');
    t.equal((await member.put(`/api/comments/${id}`, { body: 'Yours' })).status, 403);
    t.equal((await member.delete(`/api/comments/${id}`)).status, 403);
  });

  t.test('a reply must be under a comment of the same document', async (t) => {
    const other = await createDocument(owner, archiveId, 'Other');
    const elsewhere = await owner.post(`/api/documents/${other}/comments`, { body: 'There' });
    const answer = await owner.post(path, {
      body: 'Here',
      parentId: elsewhere.pick<number>('comment.id'),
    });
    t.ok([400, 404, 409].includes(answer.status), String(answer.status));
  });

  t.test('guest and stranger', async (t) => {
    const id = (await owner.post(path, { body: 'Hidden' })).pick<number>('comment.id');
    for (const person of [guest, stranger]) {
      t.equal((await person.get(path)).status, 404);
      t.equal((await person.post(path, { body: 'x' })).status, 404);
      t.equal((await person.put(`/api/comments/${id}`, { body: 'x' })).status, 404);
      t.equal((await person.post(`/api/comments/${id}/resolve`)).status, 404);
      t.equal((await person.delete(`/api/comments/${id}`)).status, 404);
    }
  });

  t.test('anonymous', async (t) => {
    t.equal((await anonymous.post(path, { body: 'x' })).status, 401);
  });
});
