import t from 'tap';
import { createStage, refused } from '../fixtures.ts';
import { subscribe } from './webhooks.ts';

t.test('every change is recorded, in the transaction that makes it, and stays', async (t) => {
  const stage = await createStage(t);
  const { owner } = stage.people;
  const { id, secret } = await subscribe(stage, { workspaceId: stage.workspaceId });
  await stage.by(owner, 'select api.change_webhook($1, $2, $3, $4)', [
    id,
    'https://new.example:8443/hook?token=hush',
    ['log.rename'],
    'Mirror',
  ]);
  await stage.byAdministrator('select bellwire.rotate_webhook_secret($1)', [id]);
  await stage.by(owner, 'select api.delete_webhook($1)', [id]);
  const rows = await stage.byAdministrator(
    'select actor_id, database_role, subscription_id, workspace_id, what, details from bellwire.webhook_changes order by id',
  );
  t.match(rows, [
    { actor_id: null, subscription_id: id, workspace_id: stage.workspaceId, what: 'created' },
    {
      actor_id: owner,
      database_role: 'bellwire_server',
      what: 'changed',
      details: {
        is_url_changed: true,
        host: 'https://new.example:8443',
        previous_host: 'https://receiver.example',
        event_types: ['log.rename'],
        name: 'Mirror',
      },
    },
    { what: 'rotated', details: { keeps_old: true } },
    { actor_id: owner, what: 'deleted' },
  ]);
  const text = JSON.stringify(rows);
  t.notMatch(text, /whsec_|hush/, 'without secrets');
  t.notOk(text.includes(secret));

  await refused(
    t,
    stage.look("update bellwire.webhook_changes set what = 'created'"),
    { code: '42501' },
    'nobody changes it',
  );
  await refused(
    t,
    stage.byAdministrator('delete from bellwire.webhook_changes'),
    { code: '42501' },
    'nor an administrator takes anything away',
  );
  await refused(
    t,
    stage.byAdministrator('select bellwire.disable_webhook_subscription(99)'),
    { code: 'P0002' },
    'none such',
  );
  t.equal(await stage.value('select count(*)::int from bellwire.webhook_changes'), 4);
});

t.test('what would be too long to record is left out, and the change is made', async (t) => {
  const stage = await createStage(t);
  await stage.look(
    `insert into bellwire.action_rules (action, verb, emits)
     select 'log.' || repeat('x', 50) || number, 'did', true from generate_series(1, 180) as number`,
  );
  const [{ types } = {}] = await stage.look(
    'select array_agg(action) as types from bellwire.action_rules where emits',
  );
  const { id } = await subscribe(stage, { types: types as string[] });
  t.match(
    await stage.byAdministrator(
      'select subscription_id, what, details from bellwire.webhook_changes',
    ),
    [{ subscription_id: id, what: 'created', details: { truncated: true } }],
  );
});

t.test('it goes after its retention, and with its workspace', async (t) => {
  const stage = await createStage(t);
  await subscribe(stage, { workspaceId: stage.workspaceId });
  await subscribe(stage, { workspaceId: stage.strangerWorkspaceId });
  await subscribe(stage);
  await stage.look('alter table bellwire.webhook_changes disable trigger user');
  await stage.look(
    "update bellwire.webhook_changes set at = now() - interval '366 days' where workspace_id is null",
  );
  await stage.look('alter table bellwire.webhook_changes enable trigger user');
  await stage.byAdministrator('select * from bellwire.prune(10)');
  await stage.byAdministrator('select bellwire.purge_workspace($1)', [stage.workspaceId]);
  t.strictSame(await stage.look('select workspace_id from bellwire.webhook_changes'), [
    { workspace_id: stage.strangerWorkspaceId },
  ]);
  t.strictSame(
    await stage.look(
      'select distinct subscription_id as id from bellwire.webhook_secrets order by 1',
    ),
    await stage.look('select id from bellwire.webhook_subscriptions order by 1'),
    'secrets went with their subscriptions',
  );
});
