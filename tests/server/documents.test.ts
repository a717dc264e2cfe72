import t from 'tap';
import { createDocument, startStage } from './support/stage.ts';

t.test('documents', async (t) => {
  const stage = await startStage(t);
  const { owner, member, guest, stranger, anonymous, archiveId, squadId } = stage;
  const inArchive = `/api/archives/${archiveId}/documents`;

  t.test('member takes a document through its life', async (t) => {
    const created = await member.post(inArchive, { title: 'Pilotage ⚓', html: '<p>One</p>' });
    t.equal(created.status, 201);
    const id = created.pick<number>('document.id');
    t.match(created.body, {
      success: true,
      document: {
        archiveId,
        squadId,
        parentId: null,
        title: 'Pilotage ⚓',
        html: '<p>One</p>',
        createdBy: member.id,
        createdAt: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
      },
    });
    const path = `/api/documents/${id}`;
    t.match((await member.get(path)).body, { document: { id, html: '<p>One</p>' } });

    const saved = await member.put(path, { html: '<p>Two</p>\n\t' });
    t.match(saved.body, { document: { html: '<p>Two</p>\n\t', updatedBy: member.id } });
    t.match((await member.put(`${path}/title`, { title: 'Tides' })).body, {
      document: { title: 'Tides' },
    });

    const parentId = await createDocument(member, archiveId, 'Parent');
    t.match((await member.put(`${path}/parent`, { parentId })).body, { document: { parentId } });
    const circle = await member.put(`/api/documents/${parentId}/parent`, { parentId: id });
    t.equal(circle.status, 400, 'no circles');
    t.match((await member.put(`${path}/parent`, { parentId: null })).body, {
      document: { parentId: null },
    });

    const published = await member.post(`${path}/publish`, { title: 'v1' });
    t.equal(published.status, 201);
    const versionId = published.pick<number>('version.id');
    t.match(published.body, { version: { documentId: id, title: 'v1', createdBy: member.id } });
    await member.put(path, { html: '<p>Three</p>' });
    t.match((await member.post(`${path}/restore`, { versionId })).body, {
      document: { html: '<p>Two</p>\n\t' },
    });
    t.match((await member.get(`${path}/versions`)).body, { items: [{ id: versionId }] });
    t.equal((await member.delete(`/api/versions/${versionId}`)).status, 403, 'a lead may');
    t.equal((await owner.delete(`/api/versions/${versionId}`)).status, 200);
    t.match((await member.get(`${path}/versions`)).body, { items: [], nextCursor: null });
    t.equal((await member.post(`${path}/restore`, { versionId })).status, 404);

    t.equal((await member.delete(path)).status, 200);
    t.equal((await member.get(path)).status, 404);
    t.equal((await member.put(path, { html: '' })).status, 404);
  });

  t.test('lists leave the text out and come in pages', async (t) => {
    const archive = await owner.post(`/api/squads/${squadId}/archives`, { name: 'Paged' });
    const paged = archive.pick<number>('archive.id');
    for (let count = 0; count < 5; count += 1) await createDocument(owner, paged, `No ${count}`);
    const titles: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query = cursor ? `?limit=2&cursor=${cursor}` : '?limit=2';
      const answer = await owner.get(`/api/archives/${paged}/documents${query}`);
      const items = answer.pick<{ title: string; html?: string }[]>('items');
      t.ok(items.every((item) => item.html === undefined));
      titles.push(...items.map((item) => item.title));
      cursor = answer.pick<string | null>('nextCursor');
    }
    t.same(titles, ['No 0', 'No 1', 'No 2', 'No 3', 'No 4']);
    const most = await owner.get(`/api/archives/${paged}/documents?limit=99999999999999999999`);
    t.equal(most.pick<unknown[]>('items').length, 5, 'a limit out of bounds is clamped');
  });

  t.test('the limits of a title are in code points, and inclusive', async (t) => {
    const longest = '🛟'.repeat(255);
    const created = await member.post(inArchive, { title: longest });
    t.equal(created.status, 201);
    t.equal(created.pick('document.title'), longest);
    t.equal((await member.post(inArchive, { title: `${longest}x` })).status, 400);
    t.equal((await member.post(inArchive, { title: 'a'.repeat(255) })).status, 201);
  });

  t.test('the longest text is accepted, one more is not', async (t) => {
    const id = await createDocument(member, archiveId, 'Long');
    t.equal(
      (await member.put(`/api/documents/${id}`, { html: 'x'.repeat(1_000_000) })).status,
      200,
    );
    t.equal(
      (await member.put(`/api/documents/${id}`, { html: 'x'.repeat(1_000_001) })).status,
      400,
    );
  });

  t.test('guest of the workspace and stranger cannot tell it exists', async (t) => {
    const id = await createDocument(owner, archiveId, 'Private');
    for (const person of [guest, stranger]) {
      t.equal((await person.get(`/api/documents/${id}`)).status, 404);
      t.equal((await person.put(`/api/documents/${id}`, { html: 'mine' })).status, 404);
      t.equal((await person.delete(`/api/documents/${id}`)).status, 404);
      t.equal((await person.get(inArchive)).status, 404);
      t.equal((await person.post(inArchive, { title: 'mine' })).status, 404);
    }
    t.match((await owner.get(`/api/documents/${id}`)).body, { document: { title: 'Private' } });
  });

  t.test('a parent from another archive is refused', async (t) => {
    const answer = await member.post(inArchive, {
      title: 'Child',
      parentId: stage.foreign.documentId,
    });
    t.ok(answer.status === 404 || answer.status === 400, String(answer.status));
  });

  t.test('anonymous', async (t) => {
    t.equal((await anonymous.get(inArchive)).status, 401);
    t.equal((await anonymous.post(inArchive, { title: 'x' })).status, 401);
  });
});
