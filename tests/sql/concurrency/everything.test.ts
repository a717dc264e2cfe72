import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { createStage, type Stage } from '../fixtures.ts';
import { holdsForAll } from '../properties/property.ts';
import { drain, drainAll, ruleFailures } from './parallel.ts';

const RUNS = 6;
const MAX_STEPS = 120;
/** So many do something at a time. */
const LANES = 7;
const DOCUMENTS = 3;

/** Members who may do all of it, and what they do. The owner of the documents only listens. */
const ACTORS = 3;
const document = fc.nat({ max: DOCUMENTS - 1 });
const step = fc.record({
  do: fc.constantFrom(
    'comment',
    'comment',
    'save',
    'publish',
    'rename',
    'move',
    'saveAll',
    'watch',
    'mute',
    'unwatch',
    'read',
    'create',
    'drain',
  ),
  actor: fc.nat({ max: ACTORS - 1 }),
  document,
  other: document,
});
type Step = ReturnType<typeof step.generate>['value'];

t.test('everything at once: no deadlock, no failed rule, and all of it adds up', async (t) => {
  const stage = await createStage(t);
  const { owner, admin, member, colleague } = stage.people;
  const actors = [admin, member, colleague];
  let comments = 0;
  await holdsForAll(step, { runs: RUNS, maxSteps: MAX_STEPS }, async (sequence) => {
    await stage.clearMail();
    const documents: number[] = [];
    for (let index = 0; index < DOCUMENTS; index += 1)
      documents.push(await stage.createDocument(owner, `Document ${index}`));
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      for (const [index, one] of sequence.entries())
        if (index % LANES === lane) await perform(stage, actors, documents, one, index);
    });
    await Promise.all(lanes);
    await drainAll(stage, 10);
    for (const [index, id] of documents.entries()) {
      const count = sequence.filter((one) => one.do === 'comment' && one.document === index).length;
      await checkDocument(stage, id, count);
      comments += count;
    }
    assert.deepEqual(await ruleFailures(stage), []);
    assert.deepEqual(await unregistered(stage), []);
  });
  t.ok(comments > 0, `${comments} comments`);
});

/**
 * Locked in one order: two statements that take rows in any order block each other without us. Locked and written in one
 * statement they do so, too: the lock is on the newest version of a row, and the writing begins at the one it saw.
 */
function saveAll(
  stage: Stage,
  person: number,
  documents: number[],
  text: string,
): Promise<unknown> {
  return stage.database.asUser(person, async (client) => {
    await client.query('select from suite.logs where id = any ($1) order by id for no key update', [
      documents,
    ]);
    await client.query('update suite.logs set html = $2 where id = any ($1)', [documents, text]);
  });
}

async function perform(
  stage: Stage,
  actors: number[],
  documents: number[],
  one: Step,
  number: number,
): Promise<unknown> {
  const by = actors[one.actor] as number;
  const id = documents[one.document] as number;
  const other = documents[one.other] as number;
  const text = `<p>${number}</p>`;
  switch (one.do) {
    case 'comment':
      return stage.comment(by, id, text);
    case 'save':
      return stage.save(by, id, text);
    case 'saveAll':
      return saveAll(stage, by, documents, text);
    case 'publish':
      return stage.by(by, 'select from api.publish_document($1, $2)', [id, text]);
    case 'rename':
      return stage.by(by, 'select from api.rename_document($1, $2)', [id, text]);
    case 'move':
      // A circle is refused; whether it would be one depends on who comes first.
      return stage
        .by(by, 'select from api.move_document($1, $2)', [id, other])
        .catch((error: Error & { detail?: string }) => {
          if (error.detail !== 'bad_parent') throw error;
        });
    case 'watch':
      return stage.watch(by, 'log', id);
    case 'mute':
      return stage.watch(by, 'log', id, 'ignored');
    case 'unwatch':
      return stage.by(by, "select from api.unwatch('log', $1)", [String(id)]);
    case 'read':
      return stage.by(by, 'select from api.mark_all_notifications_read()');
    case 'create':
      return stage.createDocument(by, text, '', id);
    case 'drain':
      return drain(stage, 3);
  }
}

async function checkDocument(stage: Stage, id: number, comments: number): Promise<void> {
  const { owner } = stage.people;
  const rows = await stage.look(
    `select notification.user_id, notification.kind, count(*) as count,
       sum(1 + notification.coalesced_count)::int as told
     from bellwire.notifications as notification
     join bellwire.resources as resource on resource.id = notification.resource_id
     where resource.type = 'log' and resource.ref = $1 group by 1, 2`,
    [String(id)],
  );
  assert.ok(
    rows.every((row) => row.count === 1),
    'one row a person and kind within a minute',
  );
  const owners = rows.find((row) => row.user_id === owner && row.kind === 'comment_on_my_doc');
  assert.equal(owners?.told ?? 0, comments, 'the owner was told of every comment');

  const entries = await stage.look(
    `select activity.action, activity.actor_id, count(*) as count
     from bellwire.activity_log as activity
     join bellwire.resources as resource on resource.id = activity.resource_id
     left join bellwire.resources as parent on parent.id = resource.parent_id
     where resource.type = 'log' and resource.ref = $1 or parent.type = 'log' and parent.ref = $1
     group by 1, 2`,
    [String(id)],
  );
  const total = (action: string) =>
    entries.reduce((sum, row) => sum + (row.action === action ? (row.count as number) : 0), 0);
  assert.equal(total('comment.create'), comments, 'every comment is an entry');
  assert.ok(
    entries.every((row) => row.action !== 'log.update' || row.count === 1),
    'saves of one person are one entry',
  );
}

/** Rows of the suite that the registry does not know as they are. */
function unregistered(stage: Stage) {
  return stage.look(
    `select log.id from suite.logs as log
     left join bellwire.resources as resource
       on resource.type = 'log' and resource.ref = log.id::text and resource.deleted_at is null
     where resource.title is distinct from log.title
     union all
     select comment.id from suite.comments as comment
     left join bellwire.resources as resource
       on resource.type = 'comment' and resource.ref = comment.id::text and resource.deleted_at is null
     where resource.id is null`,
  );
}
