import t from 'tap';
import { untilBlocked } from '../concurrency/parallel.ts';
import { createStage, PASSWORD_HASH, refused } from '../fixtures.ts';
import {
  changeEmail,
  changePassword,
  hashOf,
  holdServer,
  newDigest,
  newHash,
  openSession,
  sessionsOf,
} from './support.ts';

const ENDED = { code: '28000' };
const CHANGE = 'select * from identity.change_credentials($1, $2, null, $3)';
const CLOSE = 'select * from identity.close_session($1)';

t.test('a change of the password replaces every session by one', async (t) => {
  const stage = await createStage(t);
  const { member, guest } = stage.people;
  const [mine, elsewhere] = [await openSession(stage, member), await openSession(stage, member)];
  const neighbour = await openSession(stage, guest);
  await stage.look(
    `update identity.sessions set signed_in_at = now() - interval '3 days', ip = '192.0.2.1' where token_digest = $1`,
    [mine],
  );
  const [before] = await stage.look('select * from identity.sessions where token_digest = $1', [
    mine,
  ]);
  const [hash, replacement] = [newHash(), newDigest()];
  const [changed] = await changePassword(stage, mine, hash, replacement);
  t.match(changed, { user_id: member, email: 'mats.member@example.org', ended: Array });
  const ended = (changed?.ended ?? []) as string[];
  t.strictSame([...ended].sort(), [mine, elsewhere].sort());
  const [after, ...more] = await stage.look('select * from identity.sessions where user_id = $1', [
    member,
  ]);
  t.strictSame(more, []);
  t.match(after, {
    token_digest: replacement,
    rotated_from: mine,
    provider: 'local',
    ip: '192.0.2.1',
    signed_in_at: before?.signed_in_at,
  });
  t.equal(await hashOf(stage, member), hash);
  t.match(await sessionsOf(stage, guest), [{ token_digest: neighbour }], 'nobody else is touched');
});

t.test('a session of another provider keeps its end', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const mine = await openSession(stage, member);
  const [before] = await stage.look(
    `update identity.sessions set provider = 'oidc', expires_at = now() + interval '7 minutes'
     where token_digest = $1 returning provider, expires_at`,
    [mine],
  );
  await changePassword(stage, mine);
  t.strictSame(
    await stage.look('select provider, expires_at from identity.sessions where user_id = $1', [
      member,
    ]),
    [before],
  );
});

t.test('without a live session nothing is changed and none is made', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const expired = await openSession(stage, member);
  await stage.look("update identity.sessions set expires_at = now() - interval '1 second'");
  await refused(t, changePassword(stage, expired), ENDED, 'expired');
  await refused(t, changePassword(stage, newDigest()), ENDED, 'unknown');
  const closed = await openSession(stage, member);
  await stage.byServer(CLOSE, [closed]);
  await refused(t, changePassword(stage, closed), ENDED, 'signed out');
  const deactivated = await openSession(stage, member);
  await stage.look('update bellwire.users set deactivated_at = now() where id = $1', [member]);
  await refused(t, changePassword(stage, deactivated), ENDED, 'deactivated');
  t.equal(await hashOf(stage, member), PASSWORD_HASH);
});

t.test(
  'addresses: one account each, in any case; those of an application stay there',
  async (t) => {
    const stage = await createStage(t);
    const { member, guest } = stage.people;
    const mine = await openSession(stage, member);
    await refused(
      t,
      changeEmail(stage, mine, 'GINA.guest@example.org'),
      {
        code: '23505',
        detail: 'email_taken',
      },
      'taken',
    );
    t.equal((await sessionsOf(stage, member)).length, 1, 'the session stays');
    const [changed] = await changeEmail(stage, mine, 'Mats.Member@example.org');
    t.match(changed, { old_email: 'mats.member@example.org', email: 'Mats.Member@example.org' });
    await stage.look("update bellwire.users set external_id = 'crm-7' where id = $1", [guest]);
    await refused(
      t,
      changeEmail(stage, await openSession(stage, guest), 'g@example.org'),
      {
        code: '22023',
        detail: 'managed_elsewhere',
      },
      'kept there',
    );
    await stage.byServer('select * from identity.change_credentials($1, $2, null, $3)', [
      await openSession(stage, guest),
      newDigest(),
      newHash(),
    ]);
    t.not(await hashOf(stage, guest), PASSWORD_HASH, 'a password of their own they may have');
  },
);

t.test('what would let somebody in without the new password goes with it', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const waiting = async () =>
    stage.value<number>(
      `select (select count(*) from identity.sign_in_steps) + (select count(*) from identity.password_resets)
         + (select count(*) from identity.email_changes)`,
    );
  for (const person of [member, stage.people.guest]) {
    await stage.look(
      `with step as (insert into identity.sign_in_steps (token_digest, user_id, expires_at) values ($2, $1, now() + interval '1 hour')),
         reset as (insert into identity.password_resets (token_digest, user_id, expires_at) values ($2, $1, now() + interval '1 hour'))
       insert into identity.email_changes (code_digest, user_id, new_email, expires_at) values ($2, $1, 'x@y', now() + interval '1 hour')`,
      [person, newDigest()],
    );
  }
  await changePassword(stage, await openSession(stage, member));
  t.equal(await waiting(), 3, "the neighbour's are left");
});

t.test('a sign-out that comes first wins', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  for (const how of ['commit', 'rollback'] as const) {
    const mine = await openSession(stage, member);
    const out = await holdServer(stage);
    await out.query(CLOSE, [mine]);
    const changing = changePassword(stage, mine).catch((error: unknown) => error);
    await untilBlocked(stage);
    await out.end(how);
    if (how === 'commit') {
      t.match(await changing, ENDED, 'refused');
      t.strictSame(await sessionsOf(stage, member), [], 'no session was made');
      t.equal(await hashOf(stage, member), PASSWORD_HASH, 'the password is the old one');
    } else {
      t.match(await changing, [{ user_id: member }], 'a sign-out that is undone stops nothing');
      t.match(await sessionsOf(stage, member), [{ rotated_from: mine }]);
    }
  }
});

t.test('a sign-out that comes second reaches the replacement', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const [mine, replacement] = [await openSession(stage, member), newDigest()];
  const change = await holdServer(stage);
  await change.query(CHANGE, [mine, replacement, newHash()]);
  const out = stage.byServer(CLOSE, [mine]);
  await untilBlocked(stage);
  await change.end('commit');
  t.strictSame(await out, [{ close_session: replacement }], 'and its sockets');
  t.strictSame(await sessionsOf(stage, member), []);
});

t.test('of two changes at once one is made, and neither hangs', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const [one, two] = [await openSession(stage, member), await openSession(stage, member)];
  const first = await holdServer(stage);
  const hash = newHash();
  await first.query(CHANGE, [one, newDigest(), hash]);
  const second = changePassword(stage, two).catch((error: unknown) => error);
  await untilBlocked(stage);
  await first.end('commit');
  t.match(await second, ENDED);
  t.match(await sessionsOf(stage, member), [{ rotated_from: one }]);
  t.equal((await sessionsOf(stage, member)).length, 1);
  t.equal(await hashOf(stage, member), hash);
});

t.test('many changes, sign-outs and sign-ins at once end without a deadlock', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const sessions = await Promise.all(Array.from({ length: 6 }, () => openSession(stage, member)));
  const outcomes = await Promise.allSettled([
    ...sessions.map((session) => changePassword(stage, session)),
    ...sessions.map((session) => stage.byServer(CLOSE, [session])),
    stage.by(member, 'select api.end_sessions(null)'),
    stage.byServer('select * from identity.sign_in($1, $2, $3, null, null)', [
      member,
      PASSWORD_HASH,
      newDigest(),
    ]),
  ]);
  const codes = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason.code] : [],
  );
  t.ok(
    codes.every((code) => code === '28000'),
    codes.join(),
  );
});

t.test('a sign-in with the old password does not come after the new one', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const signIn = (hash: string) =>
    stage.byServer('select * from identity.sign_in($1, $2, $3, null, null)', [
      member,
      hash,
      newDigest(),
    ]);
  const change = await holdServer(stage);
  const hash = newHash();
  await change.query(CHANGE, [await openSession(stage, member), newDigest(), hash]);
  const late = signIn(PASSWORD_HASH);
  await untilBlocked(stage);
  await change.end('commit');
  t.strictSame(await late, []);
  t.equal((await sessionsOf(stage, member)).length, 1);
  t.match(await signIn(hash), [{ outcome: 'signed_in' }]);
});

t.test('a reset while somebody is signed in ends what they are about to change', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const [mine, link] = [await openSession(stage, member), newDigest()];
  await stage.byServer('select * from identity.begin_password_reset($1, $2)', [
    'mats.member@example.org',
    link,
  ]);
  const reset = await holdServer(stage);
  const hash = newHash();
  await reset.query('select * from identity.reset_password($1, $2)', [link, hash]);
  const change = changePassword(stage, mine).catch((error: unknown) => error);
  await untilBlocked(stage);
  await reset.end('commit');
  t.match(await change, ENDED);
  t.equal(await hashOf(stage, member), hash);
  t.strictSame(await sessionsOf(stage, member), []);
});
