import t from 'tap';
import { createStage, PASSWORD_HASH, refused, type Stage } from '../fixtures.ts';
import { expire, hashOf, newDigest, newHash, openSession, sessionsOf } from './support.ts';

const ADDRESS = 'mats.member@example.org';

const begin = (stage: Stage, email: string | null, digest = newDigest()) =>
  stage.byServer('select * from identity.begin_password_reset($1, $2)', [email, digest]);

const reset = (stage: Stage, digest: string, hash = newHash()) =>
  stage.byServer('select * from identity.reset_password($1, $2)', [digest, hash]);

const GONE = { code: 'P0002', detail: 'reset_gone' };

t.test('a link sets the password once and ends every session', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const [session, link, hash] = [await openSession(stage, member), newDigest(), newHash()];
  t.strictSame(
    await begin(stage, 'MATS.Member@example.org', link),
    [{ name: 'Mats Member', email: ADDRESS }],
    'to the address on file',
  );
  t.strictSame(await stage.byServer('select * from identity.find_password_reset($1)', [link]), [
    { name: 'Mats Member', email: ADDRESS },
  ]);
  t.match(await reset(stage, link, hash), [{ email: ADDRESS, ended: [session] }]);
  t.equal(await hashOf(stage, member), hash);
  t.strictSame(await sessionsOf(stage, member), []);
  await refused(t, reset(stage, link), GONE, 'again');
  t.equal(await hashOf(stage, member), hash);
});

t.test('nothing is sent to nobody, and not twice in a moment', async (t) => {
  const stage = await createStage(t);
  const { member, guest } = stage.people;
  for (const email of ['nobody@example.org', '', null, '%']) {
    t.strictSame(await begin(stage, email), [], JSON.stringify(email));
  }
  const [first, second] = [newDigest(), newDigest()];
  t.equal((await begin(stage, ADDRESS, first)).length, 1);
  t.strictSame(await begin(stage, ADDRESS, second), [], 'a moment ago');
  await refused(t, reset(stage, second), GONE, 'what was not sent does not work');
  await stage.look("update identity.password_resets set created_at = now() - interval '61 s'");
  t.equal((await begin(stage, ADDRESS, second)).length, 1, 'after a minute');
  await refused(t, reset(stage, first), GONE, 'the last link is void');
  await stage.look('update bellwire.users set deactivated_at = now() where id = $1', [member]);
  await refused(t, reset(stage, second), GONE, 'deactivated');
  await stage.look("update identity.password_resets set created_at = 'yesterday'");
  t.strictSame(await begin(stage, ADDRESS), [], 'deactivated');
  await stage.look(
    `update bellwire.users set external_id = 'crm-7', email = bellwire.no_address('crm-7') where id = $1`,
    [guest],
  );
  const [row] = await stage.look('select email from bellwire.users where id = $1', [guest]);
  t.strictSame(await begin(stage, row?.email as string), [], 'an address no mail reaches');
});

t.test('a link is good for an hour', async (t) => {
  const stage = await createStage(t);
  const link = newDigest();
  await begin(stage, ADDRESS, link);
  t.equal(
    await stage.value(
      'select round(extract(epoch from expires_at - now()) / 60) from identity.password_resets',
    ),
    '60',
  );
  await expire(stage, 'identity.password_resets');
  await refused(t, reset(stage, link), GONE, 'expired');
  t.equal(await hashOf(stage, stage.people.member), PASSWORD_HASH);
});

t.test('who has no password gets one', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  await stage.look('delete from identity.passwords where user_id = $1', [member]);
  t.strictSame(
    await stage.byServer('select * from identity.find_password($1)', [member]),
    [{ name: 'Mats Member', email: ADDRESS, password_hash: null }],
    'there is none to show',
  );
  const [link, hash] = [newDigest(), newHash()];
  await begin(stage, ADDRESS, link);
  await reset(stage, link, hash);
  t.equal(await hashOf(stage, member), hash);
});

t.test('a stronger hash of the same password does not undo a change of it', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const rehash = (from: string, to: string) =>
    stage.byServer('select identity.rehash_password($1, $2, $3)', [member, from, to]);
  const [stronger, other] = [newHash(), newHash()];
  await rehash(other, newHash());
  t.equal(await hashOf(stage, member), PASSWORD_HASH, 'it was another one by then');
  await rehash(PASSWORD_HASH, stronger);
  t.equal(await hashOf(stage, member), stronger);
});

t.test('another address without a password: by a code, in a few tries', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const [session, right] = [await openSession(stage, member), newDigest()];
  const ask = (email: string, code = right) =>
    stage.byServer('select * from identity.begin_email_change($1, $2, $3)', [member, email, code]);
  const confirm = (code: string, caller = session) =>
    stage.byServer('select * from identity.confirm_email_change($1, $2, $3)', [
      caller,
      code,
      newDigest(),
    ]);
  const again = () => stage.look("update identity.email_changes set created_at = 'yesterday'");
  const gone = { code: 'P0002', detail: 'email_change_gone' };
  await refused(
    t,
    ask('m@example.org'),
    { code: '22023', detail: 'password_needed' },
    'there is one',
  );
  await stage.look('delete from identity.passwords where user_id = $1', [member]);
  await refused(t, confirm(right), gone, 'nothing was asked for');

  t.match(await ask('m@example.org'), [{ name: 'Mats Member', email: ADDRESS }]);
  await refused(t, ask('n@example.org'), { code: '54000', detail: 'too_soon' }, 'at once');
  for (let tries = 0; tries < 5; tries += 1) {
    t.match(await confirm(newDigest()), [{ user_id: null }], 'wrong');
  }
  await refused(t, confirm(right), gone, 'the right one, too late');

  await again();
  await ask('GINA.guest@example.org');
  await refused(t, confirm(right), { code: '23505', detail: 'email_taken' }, 'said only now');
  await refused(t, confirm(right, newDigest()), { code: '28000' }, 'another caller');

  await again();
  await ask('m@example.org');
  await expire(stage, 'identity.email_changes');
  await refused(t, confirm(right), gone, 'expired');

  await again();
  await ask('m@example.org');
  t.match(await confirm(newDigest()), [{ user_id: null }]);
  t.match(await confirm(right), [
    { user_id: member, old_email: ADDRESS, email: 'm@example.org', ended: [session] },
  ]);
  t.match(await sessionsOf(stage, member), [{ rotated_from: session }]);
  await stage.look("update bellwire.users set external_id = 'crm-7' where id = $1", [member]);
  await refused(
    t,
    ask('o@example.org'),
    { code: '22023', detail: 'managed_elsewhere' },
    'kept there',
  );
});
