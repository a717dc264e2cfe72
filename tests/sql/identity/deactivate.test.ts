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
