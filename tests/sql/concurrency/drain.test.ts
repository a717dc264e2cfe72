import pg from 'pg';
import t from 'tap';
import { createStage, type Row, type Stage } from '../fixtures.ts';
import { drainAll, hold, queued, ruleFailures } from './parallel.ts';

const CROWD = 40;
const CHUNK = 4;
const DOCUMENTS = 3;

/** Three events of an audience far above what is told at once, in the queue. */
async function setUp(t: Parameters<typeof createStage>[0]) {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  await stage.set('sync_fanout_limit', 1);
  await stage.set('fanout_chunk', CHUNK);
  const crowd = await stage.addMembers(CROWD);
  const documents: number[] = [];
  for (let number = 1; number <= DOCUMENTS; number += 1)
    documents.push(await stage.createDocument(owner, `Crowded ${number}`));
  await stage.look(
    `insert into bellwire.watches (resource_id, user_id, source)
     select resource.id, person, 'manual' from bellwire.resources as resource
     cross join unnest($2::bigint[]) as person
     where resource.type = 'log' and resource.ref = any ($1)`,
    [documents.map(String), crowd],
  );
  for (const id of documents) await stage.comment(member, id, 'x');
  return { stage, documents, crowd };
}

/** How often each person was told of each document, as lists of who was told so often. */
async function told(stage: Stage, documents: number[]): Promise<Row[]> {
  return stage.look(
    `select resource.ref::bigint as document, notification.coalesced_count as more, count(*) as people,
       count(distinct notification.user_id) as persons
     from bellwire.notifications as notification
     join bellwire.resources as resource on resource.id = notification.resource_id
     where resource.type = 'log' and resource.ref = any ($1)
     group by 1, 2 order by 1, 2`,
    [documents.map(String)],
  );
}

const everybodyOnce = (documents: number[]) =>
  documents.map((document) => ({
    document,
    more: 0,
    // The owner, too.
    people: CROWD + 1,
    persons: CROWD + 1,
  }));

/** A worker's connection, which can be killed as the machine would. */
async function openWorker(stage: Stage) {
  const client = new pg.Client({ connectionString: stage.database.workerUrl });
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query('select pg_backend_pid() as pid');
  return {
    client,
    kill: () => stage.look('select pg_terminate_backend($1, 5000)', [rows[0].pid]),
  };
}

t.test(
  'a worker that is killed in the middle of a chunk forgets nobody and repeats nobody',
  async (t) => {
    const { stage, documents } = await setUp(t);
    t.equal(await queued(stage), DOCUMENTS);
    const worker = await openWorker(stage);
    await worker.client.query('select bellwire.drain_fan_out(2)');
    const before = await stage.value('select count(*) from bellwire.notifications');
    t.equal(before, 2 * CHUNK, 'two chunks are told for good');
    await worker.client.query('begin');
    await worker.client.query('select bellwire.drain_fan_out(10)');
    await worker.kill();
    t.equal(await stage.value('select count(*) from bellwire.notifications'), before);
    t.equal(await queued(stage), DOCUMENTS, 'all three wait for whoever comes next');
    await drainAll(stage, 2);
    t.strictSame(await told(stage, documents), everybodyOnce(documents));
  },
);

t.test('a worker passes by what another one holds, and what that one leaves is done', async (t) => {
  const { stage, documents } = await setUp(t);
  const first = await openWorker(stage);
  await first.client.query('begin');
  await first.client.query('select bellwire.drain_fan_out(1)');
  const second = await openWorker(stage);
  await second.client.query("set lock_timeout = '2s'");
  for (let done = 1; done > 0; ) {
    const { rows } = await second.client.query('select bellwire.drain_fan_out(10) as done');
    done = rows[0].done;
  }
  t.equal(await queued(stage), 1, 'the one that is held');
  await first.kill();
  await second.client.end();
  await drainAll(stage);
  t.strictSame(await told(stage, documents), everybodyOnce(documents));
});

t.test('three workers at once, killed again and again: everybody once', async (t) => {
  const { stage, documents } = await setUp(t);
  let kills = 0;
  const work = async (chunks: number) => {
    while ((await queued(stage)) > 0) {
      const worker = await openWorker(stage);
      const batch = worker.client.query('select bellwire.drain_fan_out($1)', [chunks]).then(
        () => true,
        () => false,
      );
      kills += 1;
      // Every other one, at whatever point it has got to.
      if (kills % 2 === 0) await worker.kill();
      await batch;
      await worker.client.end().catch(() => {});
    }
  };
  await Promise.all([work(1), work(3), work(10)]);
  t.ok(kills > 4, `${kills} workers`);
  t.equal(await queued(stage), 0);
  t.strictSame(await told(stage, documents), everybodyOnce(documents));
  t.strictSame(await ruleFailures(stage), []);
});

t.test('a worker meets writers and readers: nobody waits, the counts are right', async (t) => {
  const { stage, documents, crowd } = await setUp(t);
  const { colleague } = stage.people;
  const [id] = documents as [number];
  const reader = crowd[0] as number;
  const results = await Promise.allSettled([
    drainAll(stage, 2),
    drainAll(stage, 3),
    ...Array.from({ length: 5 }, () => stage.comment(colleague, id, 'more')),
    stage.by(reader, 'select api.mark_all_notifications_read()'),
  ]);
  t.strictSame(
    results.filter((result) => result.status === 'rejected'),
    [],
  );
  await drainAll(stage, 10);
  t.strictSame(await ruleFailures(stage), []);
  const more = await stage.look(
    `select notification.coalesced_count as more, count(*) as people
     from bellwire.notifications as notification
     join bellwire.resources as resource on resource.id = notification.resource_id
     where resource.ref = $1 and resource.type = 'log' and notification.user_id = any ($2)
       and notification.user_id <> $3 group by 1`,
    [String(id), crowd, reader],
  );
  t.strictSame(more, [{ more: 5, people: CROWD - 1 }], 'each of the crowd heard of all six');
});

t.test('an event that is undone was never in the queue', async (t) => {
  const { stage, documents } = await setUp(t);
  await drainAll(stage, 10);
  const held = await hold(stage, stage.people.colleague);
  await held.query("select from api.create_comment($1, 'x')", [documents[0]]);
  await drainAll(stage, 10);
  await held.end('rollback');
  await drainAll(stage, 10);
  t.strictSame(await told(stage, documents), everybodyOnce(documents));
});
