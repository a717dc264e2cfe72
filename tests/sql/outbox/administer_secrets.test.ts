import t from 'tap';
import { createStage, refused, type Stage } from '../fixtures.ts';
import { emit, subscribe, Worker } from './webhooks.ts';

const ROTATE = 'select * from bellwire.rotate_webhook_secret($1, $2)';
const SEALED = `sealed.1.0123abcd.${'i'.repeat(16)}.${'t'.repeat(22)}.${'c'.repeat(60)}`;
const NEVER_GIVEN = `whsec_${'x'.repeat(43)}=`;

async function rotate(stage: Stage, id: number, keepsOld = true) {
  const [row] = await stage.byAdministrator(ROTATE, [id, keepsOld]);
  return row as { secret: string; old_expires_at: Date | null };
}

/** What a delivery would be signed with. */
async function signing(stage: Stage, title: string) {
  await emit(stage, [title]);
  const worker = new Worker(stage);
  const claim = await worker.claimOne();
  await worker.finish(claim, 'answered', 204);
  return claim.secrets;
}

t.test('rotation: at most two sign, the newest first', async (t) => {
  const stage = await createStage(t);
  const first = await subscribe(stage);
  const second = await rotate(stage, first.id);
  t.strictSame(await signing(stage, 'One'), [second.secret, first.secret]);
  const hours = (Number(second.old_expires_at) - Date.now()) / 3_600_000;
  t.ok(hours > 23.9 && hours < 24.1, 'for a day');

  const third = await rotate(stage, first.id);
  t.strictSame(await signing(stage, 'Two'), [third.secret, second.secret], 'the oldest has ended');

  await stage.look(
    'update bellwire.webhook_secrets set expires_at = now() where expires_at > now()',
  );
  t.strictSame(await signing(stage, 'Three'), [third.secret], 'an expired one signs no more');
  await stage.byAdministrator('select * from bellwire.prune(10)');
  t.equal(await stage.value('select count(*)::int from bellwire.webhook_secrets'), 1, 'and goes');

  const fourth = await rotate(stage, first.id, false);
  t.equal(fourth.old_expires_at, null);
  t.strictSame(await signing(stage, 'Four'), [fourth.secret], 'revoked at once');
  await refused(t, stage.byAdministrator(ROTATE, [99, true]), { code: 'P0002' }, 'no such');
});

t.test('a secret is replaced by its sealed text only while it is what was read', async (t) => {
  const stage = await createStage(t);
  const { id, secret } = await subscribe(stage);
  const unsealed = (key: string) =>
    stage.byWorker('select * from bellwire.unsealed_webhook_secrets($1, 0, 10)', [key]);
  const seal = async (old: string, sealed: string) =>
    (
      await stage.byWorker('select bellwire.seal_webhook_secret(1, $1, $2) as done', [old, sealed])
    )[0]?.done;
  t.match(await unsealed('0123abcd'), [{ id: 1, subscription_id: id, secret }]);
  t.equal(await seal(NEVER_GIVEN, SEALED), false, 'another text');
  t.equal(await seal(secret, NEVER_GIVEN), false, 'by one that is not sealed');
  t.equal(await seal(secret, SEALED), true);
  t.strictSame(await unsealed('0123abcd'), [], 'it is sealed by this key');
  t.equal((await unsealed('0123abce')).length, 1, 'and not by that one');
  const [row] = await stage.look('select seal_id from bellwire.webhook_secrets');
  t.strictSame(await signing(stage, 'One'), [`${row?.seal_id} ${SEALED}`]);
  t.strictSame(await stage.byAdministrator('select * from bellwire.secret_keys()'), [
    { what: 'webhooks', key_id: '0123abcd', secrets: 1 },
  ]);
  t.strictSame(
    await stage.byWorker("select * from bellwire.unsealed_webhook_secrets('x', 1, 10)"),
    [],
    'behind the last one there is none',
  );
  await refused(
    t,
    stage.byWorker('select bellwire.seal_webhook_secret(1, $1, $2)', [SEALED, 'sealed.x']),
    { code: '23514' },
    'what is no sealed text',
  );
});

t.test('an operator is told once a day of a secret that does not open', async (t) => {
  const stage = await createStage(t);
  const note = (id: number) =>
    stage.byWorker("select bellwire.note_unopened_secret($1, 'x')", [id]);
  await note(1);
  await note(1);
  await note(2);
  t.match(await stage.look('select rule, subject_ids from bellwire.rule_failures order by id'), [
    { rule: 'webhook_secrets', subject_ids: [1] },
    { subject_ids: [2] },
  ]);
  await stage.look("update bellwire.rule_failures set created_at = now() - interval '25 hours'");
  await note(1);
  t.equal(await stage.value('select count(*)::int from bellwire.rule_failures'), 3);
});

t.test('who may', async (t) => {
  const stage = await createStage(t);
  const { id } = await subscribe(stage);
  const calls = [
    `select bellwire.rotate_webhook_secret(${id})`,
    'select * from bellwire.secret_keys()',
    "select * from bellwire.unsealed_webhook_secrets('x', 0, 1)",
    `select bellwire.seal_webhook_secret(1, 'x', '${SEALED}')`,
    'select * from bellwire.webhook_secrets',
  ];
  for (const call of calls) {
    await refused(t, stage.by(stage.people.owner, call), { code: '42501' }, `a person: ${call}`);
    await refused(t, stage.byServer(call), { code: '42501' }, `the server: ${call}`);
  }
  for (const call of calls.slice(2)) {
    await refused(t, stage.byAdministrator(call), { code: '42501' }, `an administrator: ${call}`);
  }
  for (const call of [...calls.slice(0, 2), ...calls.slice(4)]) {
    await refused(t, stage.byWorker(call), { code: '42501' }, `the worker: ${call}`);
  }
});
