import { validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { deliveryHeaders } from '../../../worker/webhooks/signature.ts';
import { createStage, refused, type Stage } from '../fixtures.ts';
import { emit, sequence, subscribe, Worker } from './webhooks.ts';

const numbered = (stage: Stage) =>
  stage.look(
    `select sequence, convert_from(body, 'UTF8')::jsonb -> 'data' ->> 'title' as title
     from bellwire.webhook_events where sequence is not null order by sequence`,
  );

const rename = 'select api.rename_document($1, $2)';

t.test('numbers follow the order of commit, without gaps', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  await subscribe(stage);
  const other = await stage.createDocument(member, 'Other');
  await stage.database.asUser(member, async (slow) => {
    await slow.query(rename, [stage.documentId, 'lower id, commits last']);
    await stage.by(colleague, rename, [other, 'higher id, commits first']);
    t.equal(await sequence(stage), 1);
    await t.rejects(
      stage.database.asUser(colleague, async (lost) => {
        await lost.query(rename, [other, 'never']);
        throw new Error('rolled back');
      }),
    );
    t.equal(await sequence(stage), 0);
  });
  t.equal(await sequence(stage), 1);
  await emit(stage, ['third']);
  t.strictSame(await numbered(stage), [
    { sequence: 1, title: 'higher id, commits first' },
    { sequence: 2, title: 'lower id, commits last' },
    { sequence: 3, title: 'third' },
  ]);
  t.equal(await sequence(stage), 0, 'nothing is numbered twice');
});

t.test('in batches, and a sequencer that dies leaves no gap', async (t) => {
  const stage = await createStage(t);
  await subscribe(stage);
  for (const title of ['a', 'b', 'c', 'd', 'e']) {
    await stage.by(stage.people.member, rename, [stage.documentId, title]);
  }
  t.equal(await sequence(stage, 2), 2);
  await t.rejects(
    stage.database.asWorker(async (client) => {
      await client.query('select bellwire.sequence_webhooks(2)');
      throw new Error('killed');
    }),
    /killed/,
  );
  t.equal(await sequence(stage, 2), 2);
  t.equal(await sequence(stage, 2), 1);
  t.strictSame(
    (await numbered(stage)).map((row) => [row.sequence, row.title]),
    [
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
      [4, 'd'],
      [5, 'e'],
    ],
  );
});

t.test('one sequencer at a time; the second leaves at once', async (t) => {
  const stage = await createStage(t);
  await subscribe(stage);
  await stage.by(stage.people.member, rename, [stage.documentId, 'One']);
  await stage.database.asWorker(async (first) => {
    await first.query('select bellwire.sequence_webhooks(10)');
    await stage.database.asWorker(async (second) => {
      await second.query("set local lock_timeout = '2s'");
      const { rows } = await second.query('select bellwire.sequence_webhooks(10) as count');
      t.strictSame(rows, [{ count: 0 }]);
    });
  });
  t.equal((await numbered(stage)).length, 1);
});

t.test('many writers, many sequencers: 1 to n', async (t) => {
  const stage = await createStage(t);
  await subscribe(stage);
  const ids: number[] = [];
  for (let count = 0; count < 8; count += 1) {
    ids.push(await stage.createDocument(stage.people.owner, `d${count}`));
  }
  const writes = ids.flatMap((id) =>
    ['x', 'y', 'z'].map((title) => stage.by(stage.people.member, rename, [id, `${title}${id}`])),
  );
  await Promise.all([...writes, sequence(stage, 3), sequence(stage, 3), sequence(stage, 3)]);
  while ((await sequence(stage, 5)) > 0);
  t.strictSame(
    (await numbered(stage)).map((row) => row.sequence),
    Array.from({ length: 24 }, (_, index) => index + 1),
  );
});

t.test('a sequencer whose connection is cut midway: no gap, nothing twice', async (t) => {
  const stage = await createStage(t);
  await subscribe(stage);
  for (const title of ['a', 'b', 'c']) {
    await stage.by(stage.people.member, rename, [stage.documentId, title]);
  }
  const doomed = new pg.Client({ connectionString: stage.database.workerUrl });
  doomed.on('error', () => {});
  await doomed.connect();
  // It waits for this row when it has numbered the events and stored their bodies.
  const holder = await stage.database.admin.connect();
  try {
    await holder.query('begin');
    await holder.query('update bellwire.webhook_sequence set last_sequence = last_sequence');
    const cut = t.rejects(doomed.query('select bellwire.sequence_webhooks(10)'), { code: '57P01' });
    const find = `select pid from pg_stat_activity
        where wait_event_type = 'Lock' and query ~ 'sequence_webhooks' and datname = current_database()`;
    let pid: unknown;
    while (pid === undefined) pid = (await stage.look(find))[0]?.pid;
    t.equal(await sequence(stage), 0, 'a second one does not wait for it');
    await stage.look('select pg_terminate_backend($1)', [pid]);
    await cut;
    await holder.query('rollback');
  } finally {
    holder.release();
  }
  t.strictSame(await numbered(stage), [], 'nothing of it stayed');
  // Its lock goes a moment after its connection.
  let count = 0;
  while (count === 0) count = await sequence(stage);
  t.equal(count, 3);
  t.strictSame(await numbered(stage), [
    { sequence: 1, title: 'a' },
    { sequence: 2, title: 'b' },
    { sequence: 3, title: 'c' },
  ]);
  t.equal(await stage.value('select last_sequence from bellwire.webhook_sequence'), 3);
});

async function envelopeOf(stage: Stage): Promise<{ text: string; bytes: number; value: never }> {
  await sequence(stage);
  const body = await stage.value<Buffer>(
    'select body from bellwire.webhook_events order by sequence desc limit 1',
  );
  const text = body.toString('utf8');
  return { text, bytes: body.length, value: JSON.parse(text) as never };
}

t.test('the envelope, version 1', async (t) => {
  const stage = await createStage(t);
  await subscribe(stage);
  const { member } = stage.people;
  await stage.by(member, rename, [stage.documentId, 'Currents']);
  const { value, text } = await envelopeOf(stage);
  t.match(value, {
    id: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    type: 'log.rename',
    version: 1,
    sequence: 1,
    occurred_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
    workspace_id: stage.workspaceId,
    squad_id: stage.squadId,
    actor: { id: member, name: 'Mats Member' },
    data: {
      log_id: stage.documentId,
      archive_id: stage.archiveId,
      parent_id: null,
      title: 'Currents',
      previous: 'Tides',
    },
  });
  t.strictSame(Object.keys(value), [
    'id',
    'type',
    'version',
    'sequence',
    'occurred_at',
    'workspace_id',
    'squad_id',
    'actor',
    'data',
  ]);
  t.notMatch(text, /secret|@example/, 'no secret, no address');

  await stage.look("update suite.logs set title = 'By the system' where id = $1", [
    stage.documentId,
  ]);
  t.match((await envelopeOf(stage)).value, { actor: null, sequence: 2 });
});

t.test('the bytes are written once', async (t) => {
  const stage = await createStage(t);
  await subscribe(stage);
  await emit(stage, ['One']);
  const before = await stage.value<Buffer>('select body from bellwire.webhook_events');
  await stage.look("update bellwire.users set name = 'Somebody else'");
  await emit(stage, ['Two']);
  const claim = await new Worker(stage).claimOne();
  t.strictSame(claim.body, before);
});

t.test('at most 4 KiB, whatever the texts; no surrogate pair is split', async (t) => {
  const stage = await createStage(t);
  await subscribe(stage);
  const { member } = stage.people;
  const hostile: [string, string][] = [
    ['emoji', '😀'],
    ['quotes', '"'],
    ['backslashes', '\\'],
    ['control characters', '\u0001'],
    ['line separators', '\u2028'],
    ['markup', '<'],
  ];
  for (const [what, piece] of hostile) {
    await stage.look('update bellwire.users set name = $2 where id = $1', [
      member,
      piece.repeat(255),
    ]);
    for (const round of [0, 1]) {
      const name = piece.repeat(254) + String(round);
      await stage.by(member, rename, [stage.documentId, name]);
      const { bytes, value } = await envelopeOf(stage);
      const { data, actor } = value as {
        data: { title: string };
        actor: { name: string };
      };
      t.ok(bytes <= 4096, `${what}: ${bytes} bytes`);
      t.equal(data.title, name, `${what}: all 255 of the title`);
      t.equal(actor.name, piece.repeat(32), `${what}: 32 of the name`);
    }
  }
  t.strictSame(await stage.byAdministrator('select from bellwire.rule_failures'), []);
});

t.test("data of one's own that does not fit is left out, its ids stay", async (t) => {
  const stage = await createStage(t);
  await subscribe(stage);
  await stage.byAdministrator(
    "insert into bellwire.action_rules (action, verb, emits) values ('log.audit', 'audited', true)",
  );
  const metadata: Record<string, unknown> = { ticket_id: '77', other_id: 'abc' };
  for (let index = 0; index < 20; index += 1) metadata[`note${index}`] = '😀'.repeat(80);
  await stage.byAdministrator("select bellwire.log_activity('log.audit', 'log', $1, $2)", [
    String(stage.documentId),
    metadata,
  ]);
  const { bytes, value } = await envelopeOf(stage);
  t.ok(bytes <= 4096);
  t.strictSame((value as { data: unknown }).data, {
    log_id: stage.documentId,
    ticket_id: 77,
    truncated: true,
  });

  const ids = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [`number_${index}_id`, index]),
  );
  await stage.byAdministrator("select bellwire.log_activity('log.audit', 'log', $1, $2)", [
    String(stage.documentId),
    ids,
  ]);
  const { value: second } = await envelopeOf(stage);
  t.strictSame((second as { data: unknown }).data, { truncated: true }, 'nor do too many ids');
});

t.test(
  'whatever the texts, the bytes are a valid envelope, and the signature is theirs',
  async (t) => {
    const stage = await createStage(t);
    await subscribe(stage);
    const { member } = stage.people;
    const piece = fc.oneof(
      fc.constantFrom(
        '\n',
        '\r\n',
        '\u202e',
        '\u2028',
        '\ud83d\ude00',
        '\ud800',
        '\udc00',
        '"',
        '\\',
        '\u0001',
        '\0',
        'é',
      ),
      fc.string({ unit: 'binary', maxLength: 20 }),
    );
    const text = fc.array(piece, { minLength: 1, maxLength: 300 }).map((pieces) => pieces.join(''));
    // Postgres stores no NUL, and the driver makes of half a surrogate pair what UTF-8 has for it.
    const stored = (value: string, points: number) =>
      Array.from(Buffer.from(value.replaceAll('\0', '')).toString())
        .slice(0, points)
        .join('');
    let round = 0;
    await fc.assert(
      fc.asyncProperty(text, text, async (title, name) => {
        round += 1;
        const given = `${round}${stored(title, 200)}`;
        await stage.look('update bellwire.users set name = $2 where id = $1', [
          member,
          `N${stored(name, 99)}`,
        ]);
        await stage.by(member, rename, [stage.documentId, given]);
        const { text: body, bytes, value } = await envelopeOf(stage);
        const { data, actor, type } = value as {
          data: { title: string };
          actor: { name: string };
          type: string;
        };
        const [kept] = await stage.look('select title from suite.logs where id = $1', [
          stage.documentId,
        ]);
        const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
        const headers = deliveryHeaders(
          {
            eventId: '00000000-0000-4000-8000-000000000000',
            eventType: `${type}${title}`,
            position: 1,
            body: Buffer.from(body),
            secrets: [secret],
          },
          'Codex',
          Date.now(),
        );
        for (const [key, header] of Object.entries(headers)) validateHeaderValue(key, header);
        new Webhook(secret).verify(body, headers);
        return (
          bytes <= 4096 &&
          data.title === kept?.title &&
          Array.from(data.title).length <= 255 &&
          actor.name ===
            Array.from(`N${stored(name, 99)}`)
              .slice(0, 32)
              .join('') &&
          !/\p{Surrogate}/u.test(body)
        );
      }),
      { numRuns: 40 },
    );
  },
);

t.test('a NUL is refused before there is an event', async (t) => {
  const stage = await createStage(t);
  await subscribe(stage);
  const { member } = stage.people;
  await t.rejects(stage.by(member, rename, [stage.documentId, 'a\0b']), { code: '22021' });
  await t.rejects(
    stage.byAdministrator("select bellwire.log_activity('log.rename', 'log', $1, $2)", [
      String(stage.documentId),
      '{"title": "a\\u0000b"}',
    ]),
    { code: '22P05' },
  );
  t.equal(await sequence(stage), 0);
});

t.test('the worker alone sequences', async (t) => {
  const stage = await createStage(t);
  const call = 'select bellwire.sequence_webhooks(1)';
  const forbidden = { code: '42501' };
  await refused(t, stage.by(stage.people.owner, call), forbidden, 'a person');
  await refused(t, stage.byServer(call), forbidden, 'the server');
  await refused(t, stage.byAdministrator(call), forbidden, 'an administrator');
  await refused(t, stage.byWorker('select from bellwire.webhook_events'), forbidden, 'reading');
});
