import t from 'tap';
import { createStage, refused } from '../fixtures.ts';
import { relationsOf } from '../security/measure.ts';
import { createTwoTenants } from '../security/two-tenants.ts';

/** What a person has wherever they work. */
const OF_PEOPLE = /^(identity\..*|bellwire\.(users|notification_preferences|waiting_members))$/;
/** The worker finds nobody to tell, and drops it. */
const LEFT_TO_THE_WORKER = ['bellwire.fan_out_queue'];

t.test('a workspace goes with everything in it, and nothing of another does', async (t) => {
  const stage = await createTwoTenants(t);
  const purged = stage.strangerWorkspaceId;
  const tables = async () => (await relationsOf(stage)).filter(({ isTable }) => isTable);
  const before = await tables();
  await stage.byAdministrator('select bellwire.purge_workspace($1)', [purged]);
  const after = new Map((await tables()).map(({ name, tenants }) => [name, tenants]));
  let gone = 0;
  for (const { name, tenants } of before) {
    if (OF_PEOPLE.test(name) || LEFT_TO_THE_WORKER.includes(name)) continue;
    const stays = [...tenants].filter(([, tenant]) => tenant !== purged).map(([key]) => key);
    gone += tenants.size - stays.length;
    t.strictSame([...(after.get(name)?.keys() ?? [])].sort(), stays.sort(), name);
  }
  t.ok(gone > 0, `${gone} rows are gone`);
  await refused(
    t,
    stage.byAdministrator('select bellwire.purge_workspace($1)', [purged]),
    { code: 'P0002' },
    'twice',
  );
});

t.test('a deleted person takes inbox and watches along, and leaves what they did', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  await stage.watch(colleague, 'log', stage.documentId);
  await stage.watch(member, 'log', stage.documentId);
  await stage.comment(member, stage.documentId, 'Look');
  await stage.comment(colleague, stage.documentId, 'I do');
  const rowsOf = async (person: number) => {
    const [row] = await stage.look(
      `select
         (select count(*)::int from bellwire.watches where user_id = $1) as watches,
         (select count(*)::int from bellwire.notifications where user_id = $1) as notifications,
         (select count(*)::int from bellwire.activity_log where actor_id = $1) as entries`,
      [person],
    );
    return row as { watches: number; notifications: number; entries: number };
  };
  const others = await rowsOf(member);
  const own = await rowsOf(colleague);
  t.ok(own.watches > 0 && own.notifications > 0 && own.entries > 0, 'there is something to take');
  await stage.look('delete from bellwire.users where id = $1', [colleague]);
  t.match(await rowsOf(colleague), { watches: 0, notifications: 0, entries: own.entries });
  t.strictSame(await rowsOf(member), others, 'of nobody else');
});
