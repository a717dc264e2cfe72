import t from 'tap';
import { createStage, type Row, refused, type Stage } from '../fixtures.ts';

const claim = (stage: Stage, count = 10) =>
  stage.byWorker('select * from bellwire.claim_emails($1)', [count]);

async function finish(stage: Stage, mail: Row | undefined, result: string | null, error?: string) {
  const [row] = await stage.byWorker('select bellwire.finish_email($1, $2, $3, $4) as state', [
    mail?.id,
    mail?.attempt,
    result,
    error ?? null,
  ]);
  return row?.state;
}

const outbox = async (stage: Stage) =>
  await stage.look(
    'select state, attempts, error, sent_at, retry_at from bellwire.email_outbox order by id',
  );

const notify = (stage: Stage, person: number, title = 'Hello') =>
  stage.byAdministrator("select bellwire.notify($1, $2, 'mention', $3)", [
    person,
    stage.workspaceId,
    title,
  ]);

/** Lets time pass for the outbox. */
const age = (stage: Stage, seconds: number) =>
  stage.look(
    `update bellwire.email_outbox set claimed_at = claimed_at - make_interval(secs => $1),
       retry_at = retry_at - make_interval(secs => $1)`,
    [seconds],
  );

t.test('a claim says all a mail needs and adds one attempt', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  const comment = await stage.comment(member, stage.documentId, 'Look <b>here</b>');
  const mails = await claim(stage);
  t.match(mails, [
    {
      attempt: 1,
      to_address: 'olga.owner@example.org',
      to_name: 'Olga Owner',
      kind: 'comment_on_my_doc',
      kind_description: 'Somebody commented on a document of yours',
      subject: 'Mats Member commented on your document “Tides”',
      body: 'Look here',
      link_path: `/documents/${stage.documentId}#comment-${comment}`,
      workspace_name: 'Harbour',
      unsubscribe_token: /^[0-9a-f-]{36}$/,
    },
  ]);
  t.match(await outbox(stage), [{ state: 'sending', attempts: 1 }]);
  t.strictSame(await claim(stage), [], 'not while it is being sent');
  t.equal(await finish(stage, mails[0], 'sent'), 'sent');
  t.match(await outbox(stage), [{ state: 'sent', attempts: 1, error: null }]);
  t.not((await outbox(stage))[0]?.sent_at, null);
  t.strictSame(await claim(stage), []);
  t.equal(
    await stage.value('select count(*) from bellwire.notifications where user_id = $1', [owner]),
    1,
  );
});

t.test('up to so many, oldest first, two workers never the same', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  for (const title of ['a', 'b', 'c', 'd', 'e', 'f']) await notify(stage, member, title);
  const subjects = (mails: Row[]) => mails.map((mail) => mail.subject).sort();
  t.strictSame(subjects(await claim(stage, 2)), ['a', 'b']);
  await stage.database.asWorker(async (first) => {
    const held = (await first.query('select * from bellwire.claim_emails(2)')).rows;
    t.strictSame(subjects(held), ['c', 'd']);
    t.strictSame(subjects(await claim(stage, 10)), ['e', 'f'], 'without waiting for the first');
  });
});

t.test('what must not be mailed any more is skipped, with the reason', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague, guest, admin } = stage.people;
  for (const person of [member, colleague, guest, admin]) await notify(stage, person);
  await stage.look('update bellwire.users set deactivated_at = now() where id = $1', [member]);
  await stage.by(owner, 'select api.remove_workspace_member($1, $2)', [
    stage.workspaceId,
    colleague,
  ]);
  await stage.look(
    "update bellwire.notifications set created_at = now() - interval '24 hours 1 minute' where user_id = $1",
    [guest],
  );
  await stage.look(
    "update bellwire.notifications set created_at = now() - interval '23 hours 59 minutes' where user_id = $1",
    [admin],
  );
  await notify(stage, owner);
  await stage.look("update bellwire.users set email = 'user-1@no-address.invalid' where id = $1", [
    owner,
  ]);
  t.match(await claim(stage), [{ to_name: 'Ada Admin' }]);
  t.match(await outbox(stage), [
    { state: 'skipped', attempts: 0, error: /active/ },
    { state: 'skipped', attempts: 0, error: /access/ },
    { state: 'skipped', attempts: 0, error: 'too old' },
    { state: 'sending', attempts: 1 },
    { state: 'skipped', attempts: 0, error: 'recipient has no address' },
  ]);
});

t.test('who lost the scope is not mailed of it', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague } = stage.people;
  await stage.watch(colleague, 'log', stage.documentId);
  await stage.comment(member, stage.documentId, 'x');
  await stage.by(owner, 'select api.remove_squad_member($1, $2)', [stage.squadId, colleague]);
  t.match(await claim(stage), [{ to_name: 'Olga Owner' }]);
});

t.test('five attempts', async (t) => {
  const stage = await createStage(t);
  await notify(stage, stage.people.member);
  for (const attempt of [1, 2, 3, 4, 5]) {
    const [mail] = await claim(stage);
    t.equal(mail?.attempt, attempt);
    t.equal(
      await finish(stage, mail, 'transient', '421 busy'),
      attempt < 5 ? 'pending' : 'failed',
      `attempt ${attempt}`,
    );
    t.match(await outbox(stage), [{ attempts: attempt, error: '421 busy', sent_at: null }]);
    t.strictSame(await claim(stage), [], 'not at once');
    await age(stage, 61);
  }
  t.strictSame(await claim(stage), [], 'no sixth');
});

t.test('permanent and uncertain are final', async (t) => {
  const stage = await createStage(t);
  for (const result of ['permanent', 'uncertain']) {
    await notify(stage, stage.people.member, result);
    const [mail] = await claim(stage);
    t.equal(await finish(stage, mail, result, `${result} ${'😀'.repeat(400)}`), 'failed');
    await age(stage, 86400);
    t.strictSame(await claim(stage), [], `${result}: never retried`);
  }
  for (const row of await outbox(stage)) {
    t.equal([...(row.error as string)].length, 255, 'the error is cut');
  }
});

t.test('a claim older than ten minutes is taken over; the old one is stale', async (t) => {
  const stage = await createStage(t);
  await notify(stage, stage.people.member);
  const [first] = await claim(stage);
  await age(stage, 599);
  t.strictSame(await claim(stage), [], 'at 9:59');
  await age(stage, 2);
  const [second] = await claim(stage);
  t.match(second, { id: first?.id, attempt: 2 });
  for (const result of ['sent', 'transient', 'permanent', 'uncertain']) {
    t.equal(await finish(stage, first, result), 'stale', result);
  }
  t.match(await outbox(stage), [{ state: 'sending', attempts: 2 }], 'and changed nothing');
  t.equal(await finish(stage, second, 'sent'), 'sent');
  t.equal(await finish(stage, second, 'permanent'), 'stale', 'finished once');
  t.equal(await finish(stage, { id: 987654, attempt: 1 }, 'sent'), 'stale', 'an unknown one');
});

t.test('what a lost worker had begun to hand over is not sent again', async (t) => {
  const stage = await createStage(t);
  const handOver = async (mail: Row | undefined) => {
    const [row] = await stage.byWorker('select bellwire.hand_over_email($1, $2) as may', [
      mail?.id,
      mail?.attempt,
    ]);
    return row?.may;
  };
  for (const title of ['begun', 'not begun']) await notify(stage, stage.people.member, title);
  const [begun, other] = await claim(stage);
  t.equal(await handOver(begun), true);
  t.strictSame(await claim(stage), [], 'not while it may be under way');
  await age(stage, 601);
  const [again] = await claim(stage);
  t.match(again, { id: other?.id, attempt: 2, subject: 'not begun' }, 'the other one is');
  t.match(await outbox(stage), [
    { state: 'failed', attempts: 1, error: /may have arrived/, sent_at: null },
    { state: 'sending', attempts: 2 },
  ]);
  t.equal(await handOver(other), false, 'whoever was too slow may not begin');
  t.equal(await finish(stage, begun, 'sent'), 'stale');

  t.equal(await handOver(again), true);
  t.equal(await finish(stage, again, 'transient', '452 full'), 'pending', 'refused after all');
  await age(stage, 61);
  const [third] = await claim(stage);
  t.match(third, { attempt: 3 }, 'and so it is tried again');
  await age(stage, 601);
  t.match(await claim(stage), [{ attempt: 4 }], 'each attempt begins anew');
  await age(stage, 86400);
  await stage.look("update bellwire.notifications set created_at = now() - interval '25 hours'");
  t.equal(await handOver({ id: third?.id, attempt: 4 }), true);
  t.strictSame(await claim(stage), []);
  t.match((await outbox(stage))[1], { state: 'failed', error: /may have arrived/ }, 'not skipped');
});

t.test('an unknown result is refused', async (t) => {
  const stage = await createStage(t);
  await notify(stage, stage.people.member);
  const [mail] = await claim(stage);
  for (const result of ['ok', '', null]) {
    await refused(t, finish(stage, mail, result), { code: '22023' }, String(result));
  }
});

t.test('one click ends the mails of that kind, and no others', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  await notify(stage, member);
  const [mail] = await claim(stage);
  t.strictSame(
    await stage.byAnonymous('select * from api.unsubscribe($1)', [mail?.unsubscribe_token]),
    [{ kind: 'mention', email: 'mats.member@example.org' }],
    'by nobody: the token is the authorisation',
  );
  await stage.byAnonymous('select * from api.unsubscribe($1)', [mail?.unsubscribe_token]);
  await notify(stage, member);
  await notify(stage, colleague);
  t.match(await claim(stage), [{ to_name: 'Cleo Colleague' }]);
  t.equal(
    (await stage.by(member, 'select from api.list_notifications()')).length,
    2,
    'the bell goes on',
  );
  await stage.byAdministrator("select bellwire.notify($1, $2, 'watched_publish', 'x')", [
    member,
    stage.workspaceId,
  ]);
  t.equal((await claim(stage)).length, 1, 'another kind is mailed');
  await refused(
    t,
    stage.byAnonymous('select api.unsubscribe(gen_random_uuid())'),
    { code: 'P0002' },
    'an unknown token',
  );
});

t.test('the worker alone', async (t) => {
  const stage = await createStage(t);
  const forbidden = { code: '42501' };
  for (const sql of [
    'select bellwire.claim_emails(1)',
    'select bellwire.hand_over_email(1, 1)',
    "select bellwire.finish_email(1, 1, 'sent', null)",
    'select from bellwire.email_outbox',
  ]) {
    await refused(t, stage.by(stage.people.owner, sql), forbidden, `a person: ${sql}`);
    await refused(t, stage.byAnonymous(sql), forbidden, `nobody: ${sql}`);
    await refused(t, stage.byServer(sql), forbidden, `the server: ${sql}`);
  }
  await refused(
    t,
    stage.byWorker('select from bellwire.email_outbox'),
    forbidden,
    'the worker reads no table',
  );
});
