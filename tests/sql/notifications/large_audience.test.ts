import t from 'tap';
import { createStage, refused, type Stage } from '../fixtures.ts';

const queued = (stage: Stage) => stage.value<number>('select count(*) from bellwire.fan_out_queue');

const drain = async (stage: Stage, chunks = 1) => {
  const [row] = await stage.byWorker('select bellwire.drain_fan_out($1) as done', [chunks]);
  return row?.done as number;
};

async function drainAll(stage: Stage): Promise<number> {
  let total = 0;
  for (let done = await drain(stage); done > 0; done = await drain(stage)) {
    total += done;
    if (total > 1000) throw new Error('the queue does not get empty');
  }
  return total;
}

/** Five members who watch the document, besides its owner; a limit of three. */
async function setUp(t: Parameters<typeof createStage>[0]) {
  const stage = await createStage(t);
  await stage.set('sync_fanout_limit', 3);
  await stage.set('fanout_chunk', 2);
  const crowd = await stage.addMembers(5);
  for (const person of crowd) await stage.watch(person, 'log', stage.documentId);
  return { stage, crowd };
}

const rows = (stage: Stage) =>
  stage.look(
    'select user_id, kind, coalesced_count from bellwire.notifications order by user_id, id',
  );

t.test('up to the limit people are told at once, above it by the worker', async (t) => {
  const stage = await createStage(t);
  await stage.set('sync_fanout_limit', 3);
  const [first, second, third] = await stage.addMembers(3);
  const { owner, member } = stage.people;
  for (const person of [first, second])
    await stage.watch(person as number, 'log', stage.documentId);
  const sync = await stage.told(() => stage.save(member, stage.documentId, 'one'));
  t.equal(sync.length, 3, 'owner and two: three');
  t.equal(await queued(stage), 0);

  await stage.watch(third as number, 'log', stage.documentId);
  await stage.by(member, 'select api.unwatch($1, $2)', ['log', String(stage.documentId)]);
  await stage.ageActivity(301);
  await stage.ageNotifications(61);
  const later = await stage.told(() => stage.save(member, stage.documentId, 'two'));
  t.strictSame(later, []);
  t.equal(await queued(stage), 1);
  const told = await stage.told(() => drainAll(stage));
  t.strictSame(
    told.map((row) => row.user_id),
    [owner, first, second, third],
    'the same result',
  );
});

t.test('chunks tell everybody exactly once', async (t) => {
  const { stage, crowd } = await setUp(t);
  const { owner, member } = stage.people;
  await stage.save(member, stage.documentId, 'new');
  t.strictSame(await rows(stage), []);
  t.equal(await drain(stage), 1);
  t.equal((await rows(stage)).length, 2, 'two people a chunk');
  t.equal(await queued(stage), 1, 'the rest waits');
  await drainAll(stage);
  t.strictSame(
    (await rows(stage)).map((row) => [row.user_id, row.coalesced_count]),
    [owner, ...crowd].map((person) => [person, 0]),
  );
  t.equal(await queued(stage), 0);
  t.equal(await drain(stage), 0);
});

t.test('a worker that is killed in the middle of a chunk tells nobody twice', async (t) => {
  const { stage, crowd } = await setUp(t);
  await stage.save(stage.people.member, stage.documentId, 'new');
  await drain(stage);
  await t.rejects(
    stage.database.asWorker(async (client) => {
      await client.query('select bellwire.drain_fan_out(10)');
      await client.query('select bellwire.drain_fan_out(10)');
      throw new Error('killed');
    }),
    /killed/,
  );
  t.equal((await rows(stage)).length, 2, 'its work is gone with it');
  await drainAll(stage);
  t.strictSame(
    (await rows(stage)).map((row) => [row.user_id, row.coalesced_count]),
    [stage.people.owner, ...crowd].map((person) => [person, 0]),
  );
});

t.test('two workers at once tell nobody twice', async (t) => {
  const { stage, crowd } = await setUp(t);
  await stage.set('fanout_chunk', 1);
  const other = await stage.createDocument(stage.people.owner, 'Other');
  for (const person of crowd) await stage.watch(person, 'log', other);
  await stage.save(stage.people.member, stage.documentId, 'new');
  await stage.save(stage.people.member, other, 'new');
  t.equal(await queued(stage), 2);
  await Promise.all([drainAll(stage), drainAll(stage), drainAll(stage)]);
  await drainAll(stage);
  t.strictSame(
    (await rows(stage)).map((row) => [row.user_id, row.coalesced_count]),
    [stage.people.owner, ...crowd].flatMap((person) => [
      [person, 0],
      [person, 0],
    ]),
  );
});

t.test('a mention of a queued event comes first, a mute holds, who left is not told', async (t) => {
  const { stage, crowd } = await setUp(t);
  const { owner, member } = stage.people;
  const [mentioned, muted, gone] = crowd as [number, number, number];
  await stage.watch(muted, 'log', stage.documentId, 'ignored');
  const body = [mentioned, muted, gone, member]
    .map((id) => `<span data-type="mention" data-id="${id}">@x</span>`)
    .join('');
  await stage.comment(member, stage.documentId, body);
  t.equal(await queued(stage), 1);
  await stage.by(owner, 'select api.remove_squad_member($1, $2)', [stage.squadId, gone]);
  await drainAll(stage);
  t.strictSame(
    (await rows(stage)).map((row) => [row.user_id, row.kind]),
    [
      [owner, 'comment_on_my_doc'],
      [mentioned, 'mention'],
      ...crowd.slice(3).map((person) => [person, 'watched_comment']),
    ],
  );
});

t.test('a statement that records very much goes to the queue', async (t) => {
  const stage = await createStage(t);
  await stage.set('sync_fanout_events', 2);
  const { owner, member } = stage.people;
  const ids: number[] = [];
  for (const title of ['A', 'B', 'C']) ids.push(await stage.createDocument(owner, title));
  const update = 'update suite.logs set html = $2 where id = any ($1)';
  await stage.by(member, update, [ids.slice(0, 2), 'x']);
  t.equal((await rows(stage)).length, 2, 'two at once');
  await stage.ageNotifications(61);
  await stage.ageActivity(301);
  await stage.by(member, update, [ids, 'y']);
  t.equal(await queued(stage), 3, 'three by the worker');
  t.equal((await rows(stage)).length, 2);
  await drainAll(stage);
  t.equal((await rows(stage)).length, 5);
});

t.test('of a bulk change only what somebody else watches is left to the worker', async (t) => {
  const stage = await createStage(t);
  await stage.set('sync_fanout_events', 1);
  const { member, guest } = stage.people;
  const ids: number[] = [];
  for (const title of ['A', 'B', 'C']) ids.push(await stage.createDocument(member, title));
  const update = 'update suite.logs set html = $2 where id = any ($1)';
  await stage.by(member, update, [ids, 'x']);
  t.equal(await queued(stage), 0, 'the member watches them alone');
  for (const id of ids.slice(0, 2)) await stage.watch(guest, 'log', id);
  await stage.ageActivity(301);
  await stage.by(member, update, [ids, 'y']);
  t.equal(await queued(stage), 2);
  await drainAll(stage);
  t.equal((await rows(stage)).length, 2);
});

t.test('a transaction that keeps its snapshot leaves its people to the worker', async (t) => {
  const stage = await createStage(t);
  await stage.watch(stage.people.guest, 'log', stage.documentId);
  const client = await stage.database.admin.connect();
  t.teardown(() => client.release());
  for (const [level, waiting] of [
    ['repeatable read', 1],
    ['read committed', 0],
  ] as const) {
    await client.query(`begin isolation level ${level}`);
    await client.query('insert into suite.comments (log_id, body, author_id) values ($1, $2, $3)', [
      stage.documentId,
      'x',
      stage.people.member,
    ]);
    await client.query('commit');
    t.equal(await queued(stage), waiting, level);
    await drainAll(stage);
    await stage.ageNotifications(61);
  }
});

t.test('a window somebody else is writing makes nobody wait', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague, guest } = stage.people;
  await stage.watch(guest, 'log', stage.documentId);
  const other = await stage.createDocument(owner, 'Other');
  await stage.database.asUser(member, async (client) => {
    await client.query('select api.create_comment($1, $2)', [stage.documentId, 'one']);
    await stage.database.asUser(colleague, async (second) => {
      await second.query("set local lock_timeout = '2s'");
      await second.query('select api.create_comment($1, $2)', [stage.documentId, 'two']);
      await second.query('select api.create_comment($1, $2)', [other, 'elsewhere']);
    });
    t.equal(await queued(stage), 1, 'the contended event waits for the worker, the other does not');
  });
  await drainAll(stage);
  t.strictSame(
    (await rows(stage)).filter((row) => row.user_id === guest),
    [{ user_id: guest, kind: 'watched_comment', coalesced_count: 1 }],
    'one row, counted up',
  );
  t.strictSame(
    (await rows(stage)).filter((row) => row.user_id === member),
    [{ user_id: member, kind: 'watched_comment', coalesced_count: 0 }],
    'the first commenter watches by now and hears of the second',
  );
});

t.test('a reader who is marking the row at this moment makes nobody wait', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  await stage.comment(member, stage.documentId, 'one');
  await stage.database.asUser(owner, async (reader) => {
    await reader.query('select api.mark_all_notifications_read()');
    await t.resolves(
      stage.database.asUser(member, async (client) => {
        await client.query("set local lock_timeout = '2s'");
        await client.query('select api.create_comment($1, $2)', [stage.documentId, 'two']);
      }),
    );
  });
  t.equal((await rows(stage)).length, 1, 'still one row');
  t.strictSame(await stage.byAdministrator('select from bellwire.rule_failures'), []);
});

t.test('many comments at once within one window are one row a person', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague, guest } = stage.people;
  const authors = [member, colleague, guest, member, colleague, guest, member, colleague];
  await Promise.all(authors.map((person) => stage.comment(person, stage.documentId, 'x')));
  await drainAll(stage);
  t.strictSame(
    (await rows(stage)).filter((row) => row.user_id === owner),
    [{ user_id: owner, kind: 'comment_on_my_doc', coalesced_count: authors.length - 1 }],
  );
});

t.test('several events of one statement within one window are one row a person', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  await stage.by(
    member,
    "insert into suite.comments (log_id, body) select $1, 'x' from generate_series(1, 3)",
    [stage.documentId],
  );
  t.strictSame(await rows(stage), [
    { user_id: owner, kind: 'comment_on_my_doc', coalesced_count: 2 },
  ]);
});

t.test('an event that cannot be told is noted and leaves the queue', async (t) => {
  const { stage } = await setUp(t);
  await stage.save(stage.people.member, stage.documentId, 'new');
  await stage.look(
    'alter table bellwire.notifications add constraint broken check (false) not valid',
  );
  t.equal(await drain(stage), 1);
  t.equal(await queued(stage), 0);
  t.match(await stage.byAdministrator('select rule, sqlstate from bellwire.rule_failures'), [
    { rule: 'drain_fan_out', sqlstate: '23514' },
  ]);
});

t.test('only the worker drains, nobody reads the queue', async (t) => {
  const stage = await createStage(t);
  const { owner } = stage.people;
  const forbidden = { code: '42501' };
  await refused(t, stage.by(owner, 'select bellwire.drain_fan_out(1)'), forbidden, 'a person');
  await refused(t, stage.byServer('select bellwire.drain_fan_out(1)'), forbidden, 'the server');
  await refused(t, stage.by(owner, 'select from bellwire.fan_out_queue'), forbidden, 'reading');
  await refused(t, stage.byWorker('select from bellwire.fan_out_queue'), forbidden, 'the worker');
});
