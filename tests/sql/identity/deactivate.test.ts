import t from 'tap';
import { untilBlocked } from '../concurrency/parallel.ts';
import { createStage, refused, type Stage } from '../fixtures.ts';
import { holdServer, openSession, sessionsOf } from './support.ts';

const LAST = { code: '22023', detail: 'last_admin' };

const deactivate = (stage: Stage, person: number) =>
  stage.byServer('select identity.deactivate($1) as ended', [person]);

const makeAdmins = (stage: Stage, ...people: number[]) =>
  stage.look('update bellwire.users set is_admin = true where id = any ($1)', [people]);

t.test('who leaves is signed out, and what they watch stays', async (t) => {
  const stage = await createStage(t);
  const { member, guest } = stage.people;
  await stage.watch(member, 'log', stage.documentId);
  const session = await openSession(stage, member);
  const neighbour = await openSession(stage, guest);
  t.strictSame(await deactivate(stage, member), [{ ended: [session] }]);
  t.strictSame(await sessionsOf(stage, member), []);
  t.match(await sessionsOf(stage, guest), [{ token_digest: neighbour }]);
  t.equal(
    await stage.value('select count(*) from bellwire.watches where user_id = $1', [member]),
    1,
  );
  await refused(t, deactivate(stage, member), { code: 'P0002' }, 'again');
});

t.test('the installation keeps an administrator', async (t) => {
  const stage = await createStage(t);
  const { owner, admin, member } = stage.people;
  await makeAdmins(stage, owner, admin);
  await stage.look('update bellwire.users set deactivated_at = now() where id = $1', [admin]);
  await refused(t, deactivate(stage, owner), LAST, 'the other one is deactivated');
  t.equal((await deactivate(stage, member)).length, 1, 'who is none may go');
  await stage.look('update bellwire.users set deactivated_at = null where id = $1', [admin]);
  t.equal((await deactivate(stage, owner)).length, 1);
  await refused(t, deactivate(stage, admin), LAST, 'the last one');
});

t.test('of the last two who leave at once, one stays', async (t) => {
  const stage = await createStage(t);
  const { owner, admin } = stage.people;
  await makeAdmins(stage, owner, admin);
  const first = await holdServer(stage);
  await first.query('select identity.deactivate($1)', [owner]);
  const second = deactivate(stage, admin).catch((error: unknown) => error);
  await untilBlocked(stage);
  await first.end('commit');
  t.match(await second, LAST);
});

t.test('signed out for good, whoever sets it and whoever takes it back', async (t) => {
  const stage = await createStage(t);
  const { member, guest } = stage.people;
  await stage.look("update bellwire.users set external_id = 'crm-7' where id = $1", [member]);
  const putUsers = (isActive: boolean) =>
    stage.byAdministrator(
      `select bellwire.put_users(array[row('crm-7', 'Mats', 'mats@crm.example', null, ${isActive})]::bellwire.user_entry[])`,
    );
  const set = (value: string) =>
    stage.look(`update bellwire.users set deactivated_at = ${value} where id = $1`, [member]);
  const leftOf = (person: number) =>
    stage.value<number>(
      `select (select count(*) from identity.sessions where user_id = $1)
         + (select count(*) from identity.sign_in_steps where user_id = $1)
         + (select count(*) from identity.password_resets where user_id = $1)
         + (select count(*) from identity.email_changes where user_id = $1)`,
      [person],
    );
  const signInAll = async (person: number) => {
    const session = await openSession(stage, person);
    await stage.look(
      `with step as (
         insert into identity.sign_in_steps (token_digest, user_id, expires_at) values ($2, $1, now() + interval '1 hour')),
       reset as (
         insert into identity.password_resets (token_digest, user_id, expires_at) values ($2, $1, now() + interval '1 hour'))
       insert into identity.email_changes (user_id, new_email, code_digest, expires_at)
       values ($1, 'other@example.org', $2, now() + interval '1 hour')`,
      [person, session],
    );
    return session;
  };
  const neighbour = await signInAll(guest);
  for (const [how, leave, comeBack] of [
    ['SQL', () => set('now()'), () => set('null')],
    ['put_users()', () => putUsers(false), () => putUsers(true)],
    [
      'a row that is deleted and put again',
      () => stage.look("select bellwire.deactivate_users('{crm-7}')"),
      () => putUsers(true),
    ],
  ] as const) {
    const session = await signInAll(member);
    await stage.look('update bellwire.users set name = name, email = email where id = $1', [
      member,
    ]);
    await putUsers(true);
    t.equal(await leftOf(member), 4, `${how}: another change ends nothing`);
    await leave();
    t.equal(await leftOf(member), 0, `${how}: at once`);
    await comeBack();
    t.strictSame(
      await stage.byServer('select * from identity.authenticate($1)', [session]),
      [],
      `${how}: and not revived`,
    );
    t.equal((await stage.by(member, 'select * from api.me()')).length, 1, `${how}: they are back`);
  }
  await set('now()');
  await set("now() - interval '1 day'");
  await stage.look(
    `insert into identity.sessions (token_digest, user_id, provider, expires_at)
     values ($1, $2, 'local', now() + interval '1 hour')`,
    ['a'.repeat(64), member],
  );
  await set('null');
  t.strictSame(await sessionsOf(stage, member), [], 'one that was left does not come back');
  t.match(await sessionsOf(stage, guest), [{ token_digest: neighbour }]);
  t.equal(await leftOf(guest), 4, 'and nobody else is signed out');
});

t.test('an administrator of the database makes administrators, and keeps one', async (t) => {
  const stage = await createStage(t);
  const { owner, admin, member } = stage.people;
  const set = (person: number, isAdmin: boolean | null) =>
    stage.byAdministrator('select identity.set_admin($1, $2)', [person, isAdmin]);
  const admins = () =>
    stage
      .look('select id from bellwire.users where is_admin order by id')
      .then((rows) => rows.map(({ id }) => id));
  /** Without a right of theirs: 42501. */
  const use = (person: number) => stage.by(person, 'select api.reactivate_user(987654)');
  await refused(t, use(owner), { code: '42501' }, 'not yet');
  await set(owner, true);
  t.strictSame(await admins(), [owner]);
  await refused(t, use(owner), { code: 'P0002' }, 'at once: there is nobody with this id');
  await refused(t, set(owner, false), LAST, 'the last one');
  await set(member, false);
  t.strictSame(await admins(), [owner], 'who is none is none afterwards');
  await set(admin, true);
  const session = await openSession(stage, owner);
  await set(owner, false);
  t.strictSame(await admins(), [admin]);
  await refused(t, use(owner), { code: '42501' }, 'not any more');
  t.match(await sessionsOf(stage, owner), [{ token_digest: session }], 'and still signed in');
  await set(owner, true);
  await stage.look('update bellwire.users set deactivated_at = now() where id = $1', [owner]);
  await refused(t, set(admin, false), LAST, 'the other one is deactivated');
  await set(owner, false);
  t.strictSame(await admins(), [admin], 'who is deactivated may be none');
  await refused(t, set(987654, true), { code: 'P0002' }, 'nobody');
  await refused(t, set(member, null), { code: '23502' }, 'neither');
  const call = `select identity.set_admin(${member}, true)`;
  await refused(
    t,
    stage.by(admin, call),
    { code: '42501' },
    'an administrator of the installation',
  );
  await refused(t, stage.byServer(call), { code: '42501' }, 'the server');
});

t.test('an application is not kept from deactivating its person, were it the last', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  await makeAdmins(stage, owner);
  await stage.look("update bellwire.users set external_id = 'crm-1' where id = $1", [owner]);
  await stage.look("select bellwire.deactivate_users('{crm-1}')");
  const isActive = 'select deactivated_at is null from bellwire.users where id = $1';
  t.equal(await stage.value(isActive, [owner]), false);
  await stage.byAdministrator('select identity.set_admin($1, true)', [member]);
  await refused(t, deactivate(stage, member), LAST, 'there is one again');
});

t.test('of two administrators who are demoted at once, one stays', async (t) => {
  const stage = await createStage(t);
  const { owner, admin } = stage.people;
  await makeAdmins(stage, owner, admin);
  const first = await holdServer(stage);
  await first.query('select identity.deactivate($1)', [owner]);
  const second = stage
    .byAdministrator('select identity.set_admin($1, false)', [admin])
    .catch((error: unknown) => error);
  await untilBlocked(stage);
  await first.end('commit');
  t.match(await second, LAST);
});

t.test('others are deactivated and let back in by an administrator', async (t) => {
  const stage = await createStage(t);
  const { owner, member, stranger } = stage.people;
  await makeAdmins(stage, stranger);
  const session = await openSession(stage, member);
  const call = (person: number, name: string, of: number) =>
    stage.by(person, `select api.${name}($1) as result`, [of]);
  for (const name of ['deactivate_user', 'reactivate_user']) {
    await refused(t, call(owner, name, member), { code: '42501' }, `${name}, a mere owner`);
    await refused(t, call(stranger, name, 987654), { code: 'P0002' }, `${name}, nobody`);
  }
  await refused(t, call(stranger, 'deactivate_user', stranger), { code: '42501' }, 'oneself');
  await refused(t, call(stranger, 'reactivate_user', member), { code: 'P0002' }, 'active');
  t.strictSame(await call(stranger, 'deactivate_user', member), [{ result: [session] }]);
  const left = await stage.look(
    `insert into identity.sessions (token_digest, user_id, provider, expires_at)
     values ($1, $2, 'local', now() + interval '1 hour') returning token_digest`,
    [session, member],
  );
  await call(stranger, 'reactivate_user', member);
  t.equal((await stage.by(member, 'select * from api.me()')).length, 1);
  t.equal(left.length, 1);
  t.strictSame(await sessionsOf(stage, member), [], 'a session that was left does not come back');
});

t.test('a name is changed by its person, if it is kept here', async (t) => {
  const stage = await createStage(t);
  const { member, guest } = stage.people;
  const rename = (person: number, name: string) =>
    stage.by(person, 'select api.rename_account($1)', [name]);
  await rename(member, 'Matilda');
  t.match(await stage.by(member, 'select name from api.me()'), [{ name: 'Matilda' }]);
  t.match(await stage.by(guest, 'select name from api.me()'), [{ name: 'Gina Guest' }]);
  await refused(t, rename(member, ''), { code: '23514' }, 'blank');
  await stage.look("update bellwire.users set external_id = 'crm-7' where id = $1", [guest]);
  await refused(
    t,
    rename(guest, 'G'),
    { code: '22023', detail: 'managed_elsewhere' },
    'kept there',
  );
});
