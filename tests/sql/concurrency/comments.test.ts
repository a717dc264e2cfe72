import t from 'tap';
import { createStage, type Row, type Stage } from '../fixtures.ts';
import {
  drainAll,
  hold,
  queued,
  refusals,
  ruleFailures,
  untilBlocked,
  withoutWaiting,
} from './parallel.ts';

const ROUNDS = 6;
const COMMENT = 'select from api.create_comment($1, $2)';

/** Person, kind and count of every row about a document. */
function rowsOf(stage: Stage, documentId: number): Promise<Row[]> {
  return stage.look(
    `select notification.user_id, notification.kind, notification.coalesced_count
     from bellwire.notifications as notification
     join bellwire.resources as resource on resource.id = notification.resource_id
     where resource.type = 'log' and resource.ref = $1
     order by notification.user_id, notification.id`,
    [String(documentId)],
  );
}

/** A document of the owner's that everybody of the squad watches by hand. */
async function watched(stage: Stage): Promise<{ id: number; people: number[] }> {
  const { owner, member, colleague, guest } = stage.people;
  const people = [owner, member, colleague, guest];
  const id = await stage.createDocument(owner, 'Watched');
  for (const person of people) await stage.watch(person, 'log', id);
  return { id, people };
}

t.test('comments at once: one row a watcher, counting all the others', async (t) => {
  const stage = await createStage(t);
  for (let round = 0; round < ROUNDS; round += 1) {
    const { id, people } = await watched(stage);
    const authors = Array.from({ length: 14 }, (_, index) => people[index % 4] as number);
    await Promise.all(authors.map((person) => withoutWaiting(stage, person, COMMENT, [id, 'x'])));
    await drainAll(stage, 10);
    const byOthers = (person: number) => authors.filter((author) => author !== person).length;
    t.strictSame(
      await rowsOf(stage, id),
      people.map((person, index) => ({
        user_id: person,
        kind: index === 0 ? 'comment_on_my_doc' : 'watched_comment',
        coalesced_count: byOthers(person) - 1,
      })),
    );
  }
  t.strictSame(await ruleFailures(stage), [], 'nobody gave up waiting behind the scenes');
});

t.test('no writer waits for one whose transaction is open', async (t) => {
  const stage = await createStage(t);
  const { id, people } = await watched(stage);
  const [owner, member, colleague, guest] = people as [number, number, number, number];
  const held = await hold(stage, member);
  await held.query(COMMENT, [id, 'held']);
  await withoutWaiting(stage, colleague, COMMENT, [id, 'free']);
  await withoutWaiting(stage, guest, COMMENT, [id, 'free']);
  await withoutWaiting(stage, owner, "select from api.publish_document($1, 'v')", [id]);
  await withoutWaiting(stage, owner, 'select from api.mark_all_notifications_read()');
  t.equal(await queued(stage), 3, 'what is in the held window is left to the worker');
  await held.end('commit');
  await drainAll(stage, 10);
  t.strictSame(await rowsOf(stage, id), [
    { user_id: owner, kind: 'comment_on_my_doc', coalesced_count: 2 },
    { user_id: member, kind: 'watched_comment', coalesced_count: 1 },
    { user_id: member, kind: 'watched_publish', coalesced_count: 0 },
    { user_id: colleague, kind: 'watched_comment', coalesced_count: 1 },
    { user_id: colleague, kind: 'watched_publish', coalesced_count: 0 },
    { user_id: guest, kind: 'watched_comment', coalesced_count: 1 },
    { user_id: guest, kind: 'watched_publish', coalesced_count: 0 },
  ]);
  t.strictSame(await ruleFailures(stage), []);
});

t.test('a comment that is undone tells nobody, and what it made wait is told', async (t) => {
  const stage = await createStage(t);
  const { id, people } = await watched(stage);
  const [owner, member, colleague, guest] = people as [number, number, number, number];
  const held = await hold(stage, member);
  await held.query(COMMENT, [id, 'held']);
  await withoutWaiting(stage, colleague, COMMENT, [id, 'free']);
  await held.end('rollback');
  await drainAll(stage);
  t.strictSame(await rowsOf(stage, id), [
    { user_id: owner, kind: 'comment_on_my_doc', coalesced_count: 0 },
    { user_id: member, kind: 'watched_comment', coalesced_count: 0 },
    { user_id: guest, kind: 'watched_comment', coalesced_count: 0 },
  ]);
});

t.test('two saves of one person at once are one entry', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  for (const how of ['commit', 'rollback'] as const) {
    const id = await stage.createDocument(stage.people.owner, 'Saved');
    const entries = await stage.recorded(async () => {
      const held = await hold(stage, member);
      await held.query("select from api.save_document($1, 'first')", [id]);
      const others = [stage.save(member, id, 'second'), stage.save(colleague, id, 'third')];
      await untilBlocked(stage, 2);
      await held.end(how);
      await Promise.all(others);
    });
    t.strictSame(
      entries.map((entry) => `${entry.action} ${entry.actor_id}`).sort(),
      [`log.update ${member}`, `log.update ${colleague}`].sort(),
      `the first one's ${how}: one of each person`,
    );
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const id = await stage.createDocument(stage.people.owner, 'Saved');
    const entries = await stage.recorded(() =>
      Promise.all([1, 2, 3, 4, 5].map((number) => stage.save(member, id, `<p>${number}</p>`))),
    );
    t.match(entries, [{ action: 'log.update', actor_id: member }]);
    t.equal(entries.length, 1);
  }
});

t.test('a document is deleted while it is commented on', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague } = stage.people;
  const DELETE = 'select from api.delete_document($1)';

  t.test('the deletion first: the comment is refused, and nothing of it stays', async (t) => {
    const { id } = await watched(stage);
    const held = await hold(stage, owner);
    await held.query(DELETE, [id]);
    const comment = Promise.allSettled([stage.comment(member, id, 'Too late')]);
    await untilBlocked(stage);
    await held.end('commit');
    t.match(refusals(await comment), [/^(23503|P0002)$/]);
    t.equal(await stage.value('select count(*) from suite.comments where log_id = $1', [id]), 0);
    t.strictSame(await rowsOf(stage, id), []);
  });

  t.test('the comment first: both happened', async (t) => {
    const { id } = await watched(stage);
    const entries = await stage.recorded(async () => {
      const held = await hold(stage, member);
      await held.query(COMMENT, [id, 'In time']);
      const deletion = stage.by(owner, DELETE, [id]);
      await untilBlocked(stage);
      await held.end('commit');
      await deletion;
    });
    t.strictSame(
      entries.map((entry) => entry.action),
      ['comment.create', 'log.delete'],
    );
    t.equal(await stage.value('select count(*) from suite.comments where log_id = $1', [id]), 0);
  });

  t.test('many at once: each succeeds or is refused, none of them half', async (t) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = await watched(stage);
      let results: PromiseSettledResult<unknown>[] = [];
      const entries = await stage.recorded(async () => {
        results = await Promise.allSettled([
          ...[member, colleague, member].map((person) => stage.comment(person, id, 'x')),
          stage.by(owner, DELETE, [id]),
          ...[colleague, member, colleague].map((person) => stage.comment(person, id, 'x')),
        ]);
      });
      const refused = refusals(results);
      t.ok(
        // By the key, as not there, or by row security where it went between look and insert.
        refused.every((code) => ['23503', 'P0002', '42501'].includes(String(code))),
        `refused: ${refused}`,
      );
      const said = entries.map((entry) => entry.action);
      t.equal(said.filter((action) => action === 'log.delete').length, 1);
      t.equal(said.filter((action) => action === 'comment.create').length, 6 - refused.length);
    }
    await drainAll(stage, 10);
    t.equal(await queued(stage), 0);
    t.strictSame(await ruleFailures(stage), []);
  });
});
