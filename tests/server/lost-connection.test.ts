import t from 'tap';
import { connect } from './support/socket.ts';
import { createDocument, startStage } from './support/stage.ts';

t.test('a lost database connection', async (t) => {
  const stage = await startStage(t);
  const { owner, member, archiveId, database, address } = stage;
  const documentId = await createDocument(owner, archiveId, 'Storm');
  const cut = async () => {
    const { rowCount } = await database.admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'bellwire-server'`,
    );
    return rowCount ?? 0;
  };

  t.test('the next requests work', async (t) => {
    t.ok((await cut()) > 0);
    for (let count = 0; count < 5; count += 1) {
      const answer = await owner.get(`/api/documents/${documentId}`);
      t.equal(answer.status, 200, answer.text.slice(0, 200));
    }
  });

  t.test('requests under way fail cleanly or succeed, and nothing is half-written', async (t) => {
    let isOver = false;
    const statuses = new Map<number, number>();
    const write = async () => {
      while (!isOver) {
        const answer = await owner.post(`/api/documents/${documentId}/comments`, { body: 'Gust' });
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        if (answer.status !== 201) {
          t.equal(answer.status, 503, answer.text);
          t.match(answer.body, { success: false, error: 'unavailable', message: String });
          t.ok(answer.headers.get('retry-after'));
        }
      }
    };
    const writers = [write(), write(), write(), write()];
    for (let count = 0; count < 8; count += 1) {
      await new Promise((resolve) => setTimeout(resolve, 80));
      await cut();
    }
    isOver = true;
    await Promise.all(writers);
    t.comment(`answers by status: ${JSON.stringify([...statuses])}`);
    t.ok((statuses.get(201) ?? 0) > 0);

    // A commit whose answer was lost may have happened, so there may be more rows than answers.
    const { rows } = await database.admin.query<{ comments: number; told: number }>(
      `select (select count(*)::int from suite.comments where log_id = $1) as comments,
              (select count(*)::int from bellwire.activity_log where action = 'comment.create') as told`,
      [documentId],
    );
    const comments = rows[0]?.comments ?? 0;
    t.ok(comments >= (statuses.get(201) ?? 0), 'every 201 is there');
    t.ok((rows[0]?.told ?? 0) >= comments, 'each with its activity');
  });

  t.test('live push comes back by itself and brings what was missed', async (t) => {
    t.setTimeout(30_000);
    const { socket } = await connect(address, owner.token);
    await cut();
    await member.post(`/api/documents/${documentId}/comments`, { body: 'After the storm' });
    const frame = await socket.next(10_000);
    t.match(frame, { type: 'notification' });
    socket.close();
  });
});
