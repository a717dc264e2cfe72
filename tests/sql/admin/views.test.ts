import t from 'tap';
import { createStage, refused, type Stage } from '../fixtures.ts';

const VIEWS = ['admin_backlog', 'admin_failures', 'admin_watches', 'admin_unread'];

const view = (stage: Stage, name: string, rest = '') =>
  stage.byAdministrator(`select * from bellwire.${name} ${rest}`);

t.test('for administrators alone, even where the rows are one’s own', async (t) => {
  const stage = await createStage(t);
  for (const name of VIEWS) {
    const sql = `select from bellwire.${name}`;
    await stage.byAdministrator(sql);
    await refused(t, stage.by(stage.people.owner, sql), { code: '42501' }, `${name}: a person`);
    await refused(t, stage.byAnonymous(sql), { code: '42501' }, `${name}: nobody`);
    await refused(t, stage.byService(sql), { code: '42501' }, `${name}: a service`);
    await refused(t, stage.byWorker(sql), { code: '42501' }, `${name}: the worker`);
    await refused(t, stage.byServer(sql), { code: '42501' }, `${name}: the server`);
  }
});

t.test('admin_backlog: per outbox, webhooks per receiver', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague } = stage.people;
  t.strictSame(await view(stage, 'admin_backlog'), [], 'nothing waits');
  const urls = [
    'https://one.example/hook',
    'https://two.example/hook',
    'https://three.example/hook',
  ];
  for (const url of urls) {
    await stage.byAdministrator('select bellwire.create_webhook_subscription($1, $2)', [
      url,
      stage.workspaceId,
    ]);
  }
  const publish = () =>
    stage.by(member, 'select api.publish_document($1, $2)', [stage.documentId, 'v1']);
  await publish();
  await publish();
  t.match(await view(stage, 'admin_backlog', 'order by what'), [
    { what: 'emails', waiting: 1, subscription_id: null },
    { what: 'webhooks_unsequenced', waiting: 2 },
  ]);
  await stage.byWorker('select bellwire.sequence_webhooks(100)');
  await stage.look(
    `update bellwire.webhook_subscriptions set paused_until = now() + interval '1 minute' where url = $1`,
    [urls[1]],
  );
  await stage.look(
    `update bellwire.webhook_subscriptions set is_enabled = false, disabled_reason = 'receiver answered 410' where url = $1`,
    [urls[2]],
  );
  await stage.look(
    `update bellwire.webhook_deliveries set state = 'delivered' where id = (select min(id) from bellwire.webhook_deliveries)`,
  );
  await stage.watch(colleague, 'log', stage.documentId);
  await stage.set('sync_fanout_limit', 1);
  await stage.look("update bellwire.email_outbox set created_at = now() - interval '3 hours'");
  await stage.by(member, 'select api.publish_document($1, $2)', [stage.documentId, 'v2']);
  await stage.byWorker('select bellwire.sequence_webhooks(100)');
  const rows = await view(stage, 'admin_backlog', 'order by what, subscription_id');
  t.match(rows, [
    { what: 'emails', waiting: 1 },
    { what: 'fan_out', waiting: 1 },
    { what: 'webhooks_pending', subscription_id: 1, detail: urls[0], waiting: 2 },
    { what: 'webhooks_pending', subscription_id: 2, detail: /two.* \(paused until 2/, waiting: 3 },
    {
      what: 'webhooks_pending',
      subscription_id: 3,
      detail: /three.* \(disabled: receiver answered 410\)$/,
      waiting: 2,
    },
  ]);
  t.equal(rows.length, 5);
  t.match(rows[0]?.oldest_age, { hours: 3 }, 'how long');
  t.not(owner, member);
});

t.test('admin_failures: the same ones together, the most recent first, with names', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  await stage.look('alter table bellwire.watches add constraint broken check (false) not valid');
  await stage.save(member, stage.documentId, 'one');
  await stage.ageActivity(301);
  await stage.save(member, stage.documentId, 'two');
  await stage.look('alter table bellwire.watches drop constraint broken');
  t.match(await view(stage, 'admin_failures'), [
    {
      rule: 'auto_watch',
      sqlstate: '23514',
      message: /broken/,
      failures: 2,
      last_subject: `log.update by Mats Member on log ${stage.documentId} “Tides”`,
      last_subject_id: await stage.value('select max(id) from bellwire.activity_log'),
      last_context: /auto_watch/,
    },
  ]);
  await stage.look(
    'alter table bellwire.email_outbox add constraint broken check (false) not valid',
  );
  await stage.comment(member, stage.documentId, 'x');
  const rows = await view(stage, 'admin_failures');
  t.match(rows, [
    { rule: 'queue_email', failures: 1, last_subject: /^notification \d+ for Olga Owner$/ },
    { rule: 'auto_watch', failures: 2 },
  ]);
  t.equal(rows.length, 2);

  // A notification that happens to have the id of an entry that is gone.
  const id = await stage.value('select min(id) from bellwire.notifications');
  await stage.look('delete from bellwire.activity_log where id = $1', [id]);
  await stage.look(
    `insert into bellwire.rule_failures (rule, subject_ids, sqlstate, message) values ('fan_out', array[$1::bigint], '22012', 'x')`,
    [id],
  );
  t.match(await view(stage, 'admin_failures', "where rule = 'fan_out'"), [
    { last_subject: null, last_subject_id: id },
  ]);
});

t.test('admin_watches: who, what, how it began, and whether it still tells anybody', async (t) => {
  const stage = await createStage(t);
  const { member, guest } = stage.people;
  await stage.watch(guest, 'archive', stage.archiveId, 'ignored');
  await stage.save(member, stage.documentId, 'one');
  const watches = () => view(stage, 'admin_watches', 'order by user_id, type');
  t.match(await watches(), [
    {
      user_name: 'Olga Owner',
      type: 'log',
      level: 'watching',
      source: 'auto_create',
      is_live: true,
    },
    {
      workspace: 'Harbour',
      user_name: 'Mats Member',
      email: 'mats.member@example.org',
      type: 'log',
      ref: String(stage.documentId),
      title: 'Tides',
      level: 'watching',
      source: 'auto_edit',
      is_live: true,
    },
    { user_name: 'Gina Guest', type: 'archive', level: 'ignored', source: 'manual', is_live: true },
  ]);
  await stage.look('update bellwire.users set deactivated_at = now() where id = $1', [guest]);
  await stage.by(member, 'select api.delete_document($1)', [stage.documentId]);
  t.strictSame(
    (await watches()).map((row) => row.is_live),
    [false, false, false],
  );
});

t.test('admin_unread: what is kept for each person', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague } = stage.people;
  await stage.comment(member, stage.documentId, 'x');
  await stage.by(member, 'select api.publish_document($1, $2)', [stage.documentId, 'v1']);
  const unread = async (person: number) =>
    (await view(stage, 'admin_unread', `where user_id = ${person}`))[0];
  t.match(await unread(owner), { user_name: 'Olga Owner', is_active: true, unread: 2 });
  t.match(await unread(colleague), { unread: 0, oldest_at: null, newest_at: null });
  const first = await stage.value('select min(id) from bellwire.notifications');
  await stage.by(owner, 'select api.mark_notification_read($1)', [first]);
  t.match(await unread(owner), { unread: 1 }, 'a read one is not counted');
  await stage.look('update bellwire.notifications set deleted_at = now()');
  t.match(await unread(owner), { unread: 0 }, 'nor one that is not in the bell');
  t.equal((await view(stage, 'admin_unread')).length, 7, 'everybody has a row');
});
