import t from 'tap';
import { createDatabase } from '../../support/database.ts';
import { untilBlocked } from '../concurrency/parallel.ts';
import { createStage, PASSWORD_HASH, refused, type Stage } from '../fixtures.ts';
import { holdServer, newDigest, newHash } from './support.ts';

const OTHER_HASH = `${PASSWORD_HASH.slice(0, -4)}abcd`;
const ROOT = 'root@example.org';

const SYNC = 'select outcome, user_id::int from identity.sync_admin($1, $2, $3)';

const sync = (stage: Stage, email: string, hash: string | null, name = 'Root') =>
  stage.byServer(SYNC, [name, email, hash]);

const account = (stage: Stage, email: string) =>
  stage.look(
    `select person.name, person.is_admin, password.password_hash
     from bellwire.users as person left join identity.passwords as password on password.user_id = person.id
     where lower(person.email) = lower($1)`,
    [email],
  );

const openSession = (stage: Stage, person: number, digit: string) =>
  stage.byServer('select * from identity.open_session($1, $2, $3, $4, $5)', [
    person,
    digit.repeat(64),
    'local',
    '127.0.0.1',
    'test',
  ]);

const sessionsOf = async (stage: Stage, person: number) =>
  (await stage.look('select from identity.sessions where user_id = $1', [person])).length;

t.test('the administrator of the environment', async (t) => {
  const stage = await createStage(t);

  t.test('is created, and then synced', async (t) => {
    await refused(t, sync(stage, ROOT, null), { code: '22023' }, 'a new one needs a password');
    const [created] = await sync(stage, ROOT, PASSWORD_HASH);
    t.match(created, { outcome: 'created', user_id: Number });
    const id = Number(created?.user_id);
    t.strictSame(await account(stage, ROOT), [
      { name: 'Root', is_admin: true, password_hash: PASSWORD_HASH },
    ]);
    await openSession(stage, id, 'a');

    t.strictSame(await sync(stage, ROOT.toUpperCase(), null, 'Renamed'), [
      { outcome: 'synced', user_id: id },
    ]);
    t.strictSame(await account(stage, ROOT), [
      { name: 'Renamed', is_admin: true, password_hash: PASSWORD_HASH },
    ]);
    t.equal(await sessionsOf(stage, id), 1, 'a password that did not change ends no session');

    const link = newDigest();
    await stage.byServer('select * from identity.begin_password_reset($1, $2)', [ROOT, link]);
    const reset = () => stage.byServer('select * from identity.find_password_reset($1)', [link]);
    await sync(stage, ROOT, null);
    t.equal((await reset()).length, 1);
    await sync(stage, ROOT, OTHER_HASH);
    t.match(await account(stage, ROOT), [{ name: 'Root', password_hash: OTHER_HASH }]);
    t.equal(await sessionsOf(stage, id), 0, 'a new one does');
    await refused(t, reset(), { code: 'P0002' }, 'and what else would let somebody in');

    const newest = await holdServer(stage);
    await newest.query(SYNC, ['Root', ROOT, newHash()]);
    const late = stage.byServer('select * from identity.sign_in($1, $2, $3, null, null)', [
      id,
      OTHER_HASH,
      newDigest(),
    ]);
    await untilBlocked(stage);
    await newest.end('commit');
    t.strictSame(await late, [], 'a sign-in with the old one does not come after it');
  });

  t.test('is never somebody who was none', async (t) => {
    const { member } = stage.people;
    const [person] = await stage.look('select email from bellwire.users where id = $1', [member]);
    const email = String(person?.email);
    await openSession(stage, member, 'b');
    const before = await account(stage, email);
    t.strictSame(await sync(stage, email, OTHER_HASH), [{ outcome: 'refused', user_id: member }]);
    t.strictSame(await account(stage, email), before, 'nothing was written');
    t.equal(await sessionsOf(stage, member), 1);
  });

  t.test('is not brought back by a start', async (t) => {
    await stage.look('update bellwire.users set deactivated_at = now() where email = $1', [ROOT]);
    const before = await account(stage, ROOT);
    t.match(await sync(stage, ROOT, PASSWORD_HASH, 'Back'), [{ outcome: 'refused' }]);
    t.strictSame(await account(stage, ROOT), before);
    await stage.look('update bellwire.users set deactivated_at = null where email = $1', [ROOT]);
  });

  t.test('one without a password gets one', async (t) => {
    await stage.look('delete from identity.passwords where user_id = $1', [stage.people.outsider]);
    await stage.look('update bellwire.users set is_admin = true where id = $1', [
      stage.people.outsider,
    ]);
    const [person] = await stage.look('select email from bellwire.users where id = $1', [
      stage.people.outsider,
    ]);
    await sync(stage, String(person?.email), OTHER_HASH);
    t.match(await account(stage, String(person?.email)), [{ password_hash: OTHER_HASH }]);
  });

  t.test('several starts at once make one', async (t) => {
    const outcomes = await Promise.all(
      [1, 2, 3].map(() => sync(stage, 'second@example.org', PASSWORD_HASH)),
    );
    t.strictSame(outcomes.map(([row]) => row?.outcome).sort(), ['created', 'synced', 'synced']);
  });

  t.test('one that is created says who was there before', async (t) => {
    const earlier = (email: string) =>
      stage
        .byServer('select earlier_ids::integer[] as ids from identity.sync_admin($1, $2, $3)', [
          'Root',
          email,
          PASSWORD_HASH,
        ])
        .then(([row]) => row?.ids);
    const active = await stage.value(
      'select array_agg(id::int order by id) from bellwire.users where is_admin and deactivated_at is null',
    );
    t.strictSame(await earlier('moved@example.org'), active);
    t.equal(await earlier('moved@example.org'), null, 'the next start says nothing');
    await stage.look('update bellwire.users set deactivated_at = now() where is_admin');
    t.strictSame(await earlier('moved.again@example.org'), [], 'the deactivated are none');
  });
});

t.test('the first run', async (t) => {
  const database = await createDatabase(t);
  const look = async (sql: string) => (await database.admin.query(sql)).rows;
  const seed = (admin: number | null) =>
    database.asServer(async (client) => {
      const { rows } = await client.query('select suite.seed_first_run($1) as is_seeded', [admin]);
      return rows[0].is_seeded as boolean;
    });
  const counts = async () =>
    (
      await look(`select (select count(*) from bellwire.workspaces)::int as workspaces,
        (select count(*) from suite.squads)::int as squads,
        (select count(*) from suite.archives)::int as archives,
        (select count(*) from suite.logs)::int as documents`)
    )[0];
  const NOTHING = { workspaces: 0, squads: 0, archives: 0, documents: 0 };
  const ONE_EACH = { workspaces: 1, squads: 1, archives: 1, documents: 1 };
  const person = async (name: string, isAdmin: boolean) =>
    Number(
      (
        await database.admin.query('select identity.create_user($1, $2, $3, $4) as id', [
          name,
          `${name}@example.org`,
          PASSWORD_HASH,
          isAdmin,
        ])
      ).rows[0].id,
    );
  const admin = await person('root', true);

  await refused(t, seed(null), { code: '42501' }, 'nobody owns nothing');
  const ben = await person('ben', false);
  await refused(t, seed(ben), { code: '42501' }, 'nor does who is no administrator');

  await database.admin.query(`
    create function public.fail() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
    create trigger fail before insert on suite.logs execute function public.fail()`);
  await t.rejects(seed(admin));
  t.strictSame(await counts(), NOTHING, 'a seed that fails leaves nothing');
  await database.admin.query('drop trigger fail on suite.logs');

  const seeded = await Promise.all([seed(admin), seed(admin), seed(admin)]);
  t.strictSame(seeded.sort(), [false, false, true], 'three starts at once, one seed');
  t.strictSame(await counts(), ONE_EACH);
  t.match(await look('select title, created_by::int from suite.logs'), [
    { title: 'Welcome', created_by: admin },
  ]);
  t.match(
    await look('select role, user_id::int from suite.workspace_members'),
    [{ role: 'owner', user_id: admin }],
    'owned by the administrator',
  );
  t.match(
    await look("select actor_id::int from bellwire.activity_log where action = 'log.create'"),
    [{ actor_id: admin }],
    'who did it, to the rules',
  );
  t.strictSame(await look('select * from bellwire.rule_failures'), []);

  t.equal(await seed(admin), false, 'only once');
  await database.admin.query('delete from bellwire.workspaces');
  t.match(await counts(), { workspaces: 0 });
  const left = await counts();
  if (left?.archives > 0) t.equal(await seed(admin), false, 'an archive that is left is enough');
  await database.admin.query('delete from suite.logs; delete from suite.archives');
  t.equal(await seed(admin), true, 'and with nothing left, again');
});
