import t from 'tap';
import { createStage, refused } from '../fixtures.ts';
import { emit, sequence, subscribe, subscription, Worker } from './webhooks.ts';

const CALLS = ['enable', 'disable', 'delete'].map(
  (verb) => `select bellwire.${verb}_webhook_subscription($1)`,
) as [string, string, string];
const [ENABLE, DISABLE, DELETE] = CALLS;

t.test('an administrator turns a receiver off and on again', async (t) => {
  const stage = await createStage(t);
  const { id } = await subscribe(stage);
  await emit(stage, ['Before']);
  await sequence(stage);
  const worker = new Worker(stage);

  await stage.byAdministrator(DISABLE, [id]);
  t.match(await subscription(stage, id), { is_enabled: false, disabled_reason: /administrator/ });
  t.strictSame(await worker.claim(), [], 'nothing is sent');
  await emit(stage, ['Meanwhile']);
  t.equal(
    await stage.value('select count(*)::int from bellwire.webhook_events'),
    1,
    'nothing new is written for it',
  );

  await stage.byAdministrator(ENABLE, [id]);
  const claim = await worker.claimOne();
  t.equal(claim.delivery_position, 1, 'what was pending is sent');
});

t.test('enabling ends a pause', async (t) => {
  const stage = await createStage(t);
  const { id } = await subscribe(stage);
  await emit(stage, ['Once']);
  await sequence(stage);
  const worker = new Worker(stage);
  await worker.finish(await worker.claimOne(), 'failed', null, 'ECONNREFUSED');
  t.strictSame(await worker.claim(), [], 'paused');
  await stage.byAdministrator(ENABLE, [id]);
  t.match(await subscription(stage, id), { consecutive_failures: 0, pause_seconds: null });
  t.equal((await worker.claimOne()).attempts, 1);
});

t.test(
  'a deleted receiver takes its secrets and deliveries along, and nobody else’s',
  async (t) => {
    const stage = await createStage(t);
    const { id } = await subscribe(stage);
    const other = await subscribe(stage);
    await emit(stage, ['Once']);
    await stage.byAdministrator(DELETE, [id]);
    t.strictSame(
      await stage.look('select subscription_id as id from bellwire.webhook_deliveries'),
      [{ id: other.id }],
    );
    t.strictSame(await stage.look('select subscription_id as id from bellwire.webhook_secrets'), [
      { id: other.id },
    ]);
  },
);

t.test(
  'what is being written while its receiver is deleted goes after its retention',
  async (t) => {
    const stage = await createStage(t);
    const { id } = await subscribe(stage);
    await stage.database.asUser(stage.people.member, async (writer) => {
      await writer.query('select api.rename_document($1, $2)', [stage.documentId, 'Late']);
      await stage.byAdministrator(DELETE, [id]);
    });
    await sequence(stage);
    const left = () =>
      stage.value(
        `select (select count(*) from bellwire.webhook_deliveries)::int + (select count(*) from bellwire.webhook_events)::int`,
      );
    t.equal(await left(), 2);
    t.strictSame(await new Worker(stage).claim(), [], 'it is sent to nobody');
    for (const table of ['webhook_deliveries', 'webhook_events']) {
      await stage.look(`update bellwire.${table} set created_at = now() - interval '31 days'`);
    }
    await stage.byAdministrator('select * from bellwire.prune(10)');
    t.equal(await left(), 0);
  },
);

t.test('who runs the installation and is deactivated administers nothing', async (t) => {
  const stage = await createStage(t);
  const { stranger } = stage.people;
  const { id } = await subscribe(stage);
  const set = (change: string) =>
    stage.look(`update bellwire.users set ${change} where id = $1`, [stranger]);
  const counts = async () => [
    (await stage.by(stranger, 'select from api.list_webhooks()')).length,
    (await stage.by(stranger, 'select from api.list_webhook_changes()')).length,
  ];
  await set('is_admin = true');
  t.strictSame(await counts(), [1, 1]);
  await set('deactivated_at = now()');
  t.strictSame(await counts(), [0, 0]);
  await refused(
    t,
    stage.by(stranger, 'select from api.read_webhook($1)', [id]),
    { code: 'P0002' },
    'nor sees one',
  );
});

t.test('who may, and what is not there', async (t) => {
  const stage = await createStage(t);
  for (const call of CALLS) {
    await refused(t, stage.byAdministrator(call, [99]), { code: 'P0002', hint: /url/ }, call);
    await refused(
      t,
      stage.by(stage.people.owner, call, [1]),
      { code: '42501' },
      `${call}: a person`,
    );
    await refused(t, stage.byWorker(call, [1]), { code: '42501' }, `${call}: the worker`);
  }
});
