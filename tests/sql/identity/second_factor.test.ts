import t from 'tap';
import { untilBlocked } from '../concurrency/parallel.ts';
import { createStage, PASSWORD_HASH, refused, type Stage } from '../fixtures.ts';
import { changePassword, expire, newDigest, openSession, sessionsOf } from './support.ts';

const SECRET = 'A'.repeat(32);
const SEALED = `sealed.1.0123abcd.${'i'.repeat(16)}.${'t'.repeat(22)}.${'c'.repeat(43)}`;

const begin = (stage: Stage, person: number, secret = SECRET) =>
  stage.byServer('select identity.begin_second_factor($1, $2)', [person, secret]);

const enable = (stage: Stage, person: number, step: number | null, codes: string[] = []) =>
  stage.byServer('select identity.enable_second_factor($1, $2, $3)', [person, step, codes]);

async function enabled(stage: Stage, person: number, codes: string[] = []): Promise<void> {
  await begin(stage, person);
  await enable(stage, person, 100, codes);
}

async function signIn(stage: Stage, person: number): Promise<string> {
  const digest = newDigest();
  const [row] = await stage.byServer('select * from identity.sign_in($1, $2, $3, null, null)', [
    person,
    PASSWORD_HASH,
    digest,
  ]);
  if (row?.outcome !== 'second_factor') throw new Error(`not asked for: ${row?.outcome}`);
  return digest;
}

async function finish(stage: Stage, step: string, matched: number | null, code = newDigest()) {
  const [row] = await stage.byServer(
    'select * from identity.finish_sign_in($1, $2, $3, $4, null, null)',
    [step, matched, code, newDigest()],
  );
  return row?.outcome;
}

t.test('sign-in asks for it once it is on, and not before', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const password = () =>
    stage.byServer('select outcome from identity.sign_in($1, $2, $3, null, null)', [
      member,
      PASSWORD_HASH,
      newDigest(),
    ]);
  const state = () => stage.by(member, 'select * from api.second_factor_state()');
  t.match(await state(), [{ is_enabled: false, enabled_at: null, recovery_codes_left: 0 }]);
  await refused(t, enable(stage, member, 100), { code: 'P0002' }, 'nothing was begun');
  await begin(stage, member, 'B'.repeat(32));
  await begin(stage, member);
  t.strictSame(await stage.byServer('select * from identity.find_second_factor($1)', [member]), [
    { secret: SECRET, is_enabled: false },
  ]);
  t.match(await password(), [{ outcome: 'signed_in' }]);
  await refused(t, enable(stage, member, null), { code: '22023', detail: 'wrong_code' }, 'wrong');
  t.match(await password(), [{ outcome: 'signed_in' }], 'a wrong first code turns nothing on');
  await enable(stage, member, 100, [newDigest(), newDigest()]);
  t.match(await state(), [{ is_enabled: true, enabled_at: Date, recovery_codes_left: 2 }]);
  t.match(await password(), [{ outcome: 'second_factor' }]);
  await refused(t, begin(stage, member), { code: '22023', detail: 'second_factor_on' }, 'on');
  await refused(t, enable(stage, member, 101), { code: 'P0002' }, 'it is on');
  t.match(await stage.by(stage.people.guest, 'select * from api.second_factor_state()'), [
    { is_enabled: false },
  ]);
});

t.test('a step is taken once, and none before it', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  await enabled(stage, member);
  t.equal(await finish(stage, await signIn(stage, member), 100), 'wrong', 'used to turn it on');
  t.equal(await finish(stage, await signIn(stage, member), 101), 'signed_in');
  t.equal(await finish(stage, await signIn(stage, member), 101), 'wrong', 'replayed');
  t.equal(await finish(stage, await signIn(stage, member), 99), 'wrong', 'an earlier one');
  t.equal(await finish(stage, await signIn(stage, member), 102), 'signed_in');
  t.equal((await sessionsOf(stage, member)).length, 2);
});

t.test('two who show one code at once: one comes in', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const code = newDigest();
  await enabled(stage, member, [code]);
  const steps = await Promise.all([signIn(stage, member), signIn(stage, member)]);
  t.strictSame((await Promise.all(steps.map((step) => finish(stage, step, 101)))).sort(), [
    'signed_in',
    'wrong',
  ]);
  const again = await Promise.all([signIn(stage, member), signIn(stage, member)]);
  t.strictSame(
    (await Promise.all(again.map((step) => finish(stage, step, null, code)))).sort(),
    ['signed_in', 'wrong'],
    'a recovery code, too',
  );
});

t.test('a recovery code works once, and new ones replace all', async (t) => {
  const stage = await createStage(t);
  const { member, guest } = stage.people;
  const [one, two, three] = [newDigest(), newDigest(), newDigest()];
  await enabled(stage, member, [one, two]);
  await enabled(stage, guest, [three]);
  t.equal(await finish(stage, await signIn(stage, member), null, three), 'wrong', "a neighbour's");
  t.equal(await finish(stage, await signIn(stage, member), null, one), 'signed_in');
  t.equal(await finish(stage, await signIn(stage, member), null, one), 'wrong', 'again');
  const replace = (step: number | null, codes: string[]) =>
    stage.byServer('select identity.replace_recovery_codes($1, $2, $3, $4) as outcome', [
      member,
      step,
      newDigest(),
      codes,
    ]);
  const fresh = newDigest();
  t.strictSame(await replace(null, [fresh]), [{ outcome: 'wrong' }]);
  t.equal(await finish(stage, await signIn(stage, member), null, fresh), 'wrong', 'not taken over');
  t.strictSame(await replace(101, [fresh]), [{ outcome: 'right' }]);
  t.equal(await finish(stage, await signIn(stage, member), null, two), 'wrong', 'void');
  t.equal(await finish(stage, await signIn(stage, member), null, fresh), 'signed_in');
});

t.test('a sign-in has five tries and ten minutes', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  await enabled(stage, member);
  const step = await signIn(stage, member);
  for (let tries = 0; tries < 5; tries += 1) t.equal(await finish(stage, step, null), 'wrong');
  t.equal(await finish(stage, step, 101), 'gone', 'the right one, too late');
  const slow = await signIn(stage, member);
  t.match(await stage.byServer('select * from identity.find_sign_in_step($1)', [slow]), [
    { user_id: member, secret: SECRET },
  ]);
  await expire(stage, 'identity.sign_in_steps');
  t.strictSame(await stage.byServer('select * from identity.find_sign_in_step($1)', [slow]), []);
  t.equal(await finish(stage, slow, 102), 'gone', 'expired');
  t.equal(await finish(stage, newDigest(), 102), 'gone', 'unknown');
  const quick = await signIn(stage, member);
  t.equal(await finish(stage, quick, 102), 'signed_in');
  t.equal(await finish(stage, quick, 103), 'gone', 'over');
});

t.test('ten wrong codes of an account and none is looked at for a while', async (t) => {
  const stage = await createStage(t);
  const { member, guest } = stage.people;
  await enabled(stage, member);
  await enabled(stage, guest);
  for (let tries = 0; tries < 10; tries += 1) {
    t.equal(await finish(stage, await signIn(stage, member), null), 'wrong');
  }
  t.equal(await finish(stage, await signIn(stage, member), 101), 'paused', 'the right one, too');
  t.strictSame(
    await stage.byServer('select identity.disable_second_factor($1, 101, $2) as outcome', [
      member,
      newDigest(),
    ]),
    [{ outcome: 'paused' }],
  );
  t.equal(await finish(stage, await signIn(stage, guest), 101), 'signed_in', 'a neighbour');
  await stage.look("update identity.second_factors set wrong_until = now() - interval '1 s'");
  t.equal(await finish(stage, await signIn(stage, member), null), 'wrong', 'counted from one');
  t.equal(await finish(stage, await signIn(stage, member), 101), 'signed_in');
});

t.test('who is deactivated between password and code does not come in', async (t) => {
  const stage = await createStage(t);
  const { member, guest } = stage.people;
  for (const person of [member, guest]) await enabled(stage, person);
  const [step, other] = [await signIn(stage, member), await signIn(stage, guest)];
  const set = (value: string) =>
    stage.look(`update bellwire.users set deactivated_at = ${value} where id = $1`, [member]);
  await set('now()');
  t.equal(await finish(stage, step, 101), 'gone', 'the right code');
  t.equal(await finish(stage, step, null), 'gone', 'a wrong one');
  t.strictSame(
    await stage.byServer('select * from identity.sign_in($1, $2, $3, null, null)', [
      member,
      PASSWORD_HASH,
      newDigest(),
    ]),
    [],
    'and the password is none',
  );
  await set('null');
  t.equal(await finish(stage, step, 101), 'gone', 'nor when they are back');
  t.equal(await finish(stage, await signIn(stage, member), 101), 'signed_in', 'from the start');
  t.equal(await finish(stage, other, 101), 'signed_in', 'somebody else');
});

t.test('a change of the password ends sign-ins that wait', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  await enabled(stage, member);
  const step = await signIn(stage, member);
  await changePassword(stage, await openSession(stage, member));
  t.equal(await finish(stage, step, 101), 'gone');
  t.equal(await stage.value('select enabled_at is not null from identity.second_factors'), true);
});

t.test('turned off, it asks for nothing and leaves nothing', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  await enabled(stage, member, [newDigest()]);
  const step = await signIn(stage, member);
  const disable = (matched: number | null) =>
    stage.byServer('select identity.disable_second_factor($1, $2, $3) as outcome', [
      member,
      matched,
      newDigest(),
    ]);
  t.strictSame(await disable(null), [{ outcome: 'wrong' }]);
  t.strictSame(await disable(101), [{ outcome: 'right' }]);
  t.strictSame(await disable(102), [{ outcome: 'wrong' }], 'it is off');
  t.equal(await finish(stage, step, 102), 'gone');
  t.equal(await stage.value('select count(*) from identity.recovery_codes'), 0);
});

t.test('an administrator takes it from who has lost it', async (t) => {
  const stage = await createStage(t);
  const { member, guest } = stage.people;
  await enabled(stage, member, [newDigest()]);
  await enabled(stage, guest, [newDigest()]);
  const remove = () =>
    stage.byAdministrator('select identity.remove_second_factor($1) as removed', [member]);
  t.strictSame(await remove(), [{ removed: true }]);
  t.strictSame(await remove(), [{ removed: false }]);
  t.strictSame(await stage.look('select user_id from identity.second_factors'), [
    { user_id: guest },
  ]);
  t.equal(await stage.value('select count(*) from identity.recovery_codes'), 1);
});

t.test('a secret is replaced by its sealed text only while it is what was read', async (t) => {
  const stage = await createStage(t);
  const { member, guest } = stage.people;
  await enabled(stage, member);
  await begin(stage, guest);
  const unsealed = (key: string, after = 0) =>
    stage.byWorker('select * from bellwire.unsealed_second_factors($1, $2, 10)', [key, after]);
  const seal = async (old: string, sealed: string) =>
    (
      await stage.byWorker('select bellwire.seal_second_factor($1, $2, $3) as done', [
        member,
        old,
        sealed,
      ])
    )[0]?.done;
  const both = [member, guest].sort((one, other) => one - other);
  const plain = both.map((user_id) => ({ user_id, secret: SECRET }));
  t.strictSame(await unsealed('0123abcd'), plain, 'plain, on or only begun');
  t.strictSame(await unsealed('0123abcd', both[0]), plain.slice(1), 'behind the first');
  t.equal(await seal('B'.repeat(32), SEALED), false, 'another text');
  t.equal(await seal(SECRET, 'B'.repeat(32)), false, 'by one that is not sealed');
  t.equal(await seal(SECRET, SEALED), true);
  const left = plain.filter(({ user_id }) => user_id === guest);
  t.strictSame(await unsealed('0123abcd'), left, 'it is sealed by this key');
  for (const other of ['0123abcc', '0123abce']) {
    t.strictSame((await unsealed(other)).length, 2, 'and not by that one');
  }
  t.strictSame(await stage.byAdministrator('select * from bellwire.secret_keys()'), [
    { what: 'second factors', key_id: '0123abcd', secrets: 1 },
    { what: 'second factors', key_id: null, secrets: 1 },
  ]);
  t.equal(await finish(stage, await signIn(stage, member), 101), 'signed_in');
  const calls = [
    "select * from bellwire.unsealed_second_factors('x', 0, 1)",
    `select bellwire.seal_second_factor(1, '', '${SEALED}')`,
  ];
  for (const call of [...calls, 'select * from bellwire.secret_keys()']) {
    await refused(t, stage.by(member, call), { code: '42501' }, `a person: ${call}`);
    await refused(t, stage.byServer(call), { code: '42501' }, `the server: ${call}`);
  }
  for (const call of calls) {
    await refused(t, stage.byAdministrator(call), { code: '42501' }, `an administrator: ${call}`);
  }
  for (const call of [
    'select * from identity.second_factors',
    `select * from identity.find_second_factor(${member})`,
    'select * from bellwire.secret_keys()',
  ]) {
    await refused(t, stage.byWorker(call), { code: '42501' }, `the worker: ${call}`);
  }
});

t.test('turned off while a sign-in is finished, it waits before it locks anything', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const code = newDigest();
  await enabled(stage, member, [code]);
  const holder = await stage.database.admin.connect();
  // As finish_sign_in() begins; next it locks the step, then the factor.
  await holder.query('begin');
  await holder.query('select from bellwire.users where id = $1 for share', [member]);
  const disabling = stage.byServer(
    'select identity.disable_second_factor($1, null, $2) as outcome',
    [member, code],
  );
  await untilBlocked(stage);
  const free = await holder.query('select from identity.second_factors for update nowait');
  t.equal(free.rowCount, 1);
  await holder.query('rollback');
  holder.release();
  t.strictSame(await disabling, [{ outcome: 'right' }]);
});
