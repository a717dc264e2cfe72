import t from 'tap';
import { createStage, type People, refused } from '../fixtures.ts';
import { explain, named, obstacles, prefer, publish, verdict } from './explain.ts';

t.test('told: with the notification, whether it was read, and its e-mail', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  await stage.watch(colleague, 'archive', stage.archiveId);
  const id = await publish(stage, member);
  const steps = await verdict(
    t,
    stage,
    colleague,
    id,
    {
      told: true,
      says: /^Told: notification \d+ \(watched_publish\) on .*, unread\. E-mail \d+: pending\.$/,
      against: [],
    },
    'a watcher',
  );
  t.match(
    named(steps, 'entry')?.explanation,
    /^Mats Member published log \d+ “Tides” on .* \(log\.publish\)\.$/,
  );
  t.match(
    named(steps, 'watch')?.explanation,
    /^Cleo Colleague watches archive \d+ “Notes”, since .*, source manual\.$/,
  );
  t.match(named(steps, 'reason')?.explanation, /told as a watcher: watched_publish/);
  t.match(
    named(steps, 'access')?.explanation,
    /active, member of the workspace “Harbour”, and reads squad \d+ “Crew”/,
  );

  await stage.by(colleague, 'select api.mark_all_notifications_read()');
  const [mail] = await stage.byWorker(
    "select id, attempt from bellwire.claim_emails(10) where to_name = 'Cleo Colleague'",
  );
  await stage.byWorker("select bellwire.finish_email($1, $2, 'permanent', '550 unknown')", [
    mail?.id,
    mail?.attempt,
  ]);
  const later = await explain(stage, colleague, id);
  t.match(
    named(later, 'verdict')?.explanation,
    /, read on .*\. E-mail \d+: failed \(550 unknown\)\.$/,
  );
});

t.test('there is no such entry, or no such person', async (t) => {
  const stage = await createStage(t);
  const id = await publish(stage, stage.people.member);
  await refused(
    t,
    explain(stage, stage.people.owner, id + 1),
    { code: 'P0002', hint: /activity_retention_days/ },
    'an entry',
  );
  await refused(
    t,
    explain(stage, 987654, id),
    { code: 'P0002', hint: /bellwire\.users/ },
    'a person',
  );
});

t.test('it agrees with the writer, for everybody and every entry', async (t) => {
  const stage = await createStage(t);
  const { owner, admin, member, colleague, guest, outsider, stranger } = stage.people;
  const everybody = [owner, admin, member, colleague, guest, outsider, stranger];
  const html = everybody
    .map((id) => `<span data-type="mention" data-id="${id}">@x</span>`)
    .join('');
  await stage.watch(admin, 'archive', stage.archiveId);
  await stage.watch(guest, 'archive', stage.archiveId, 'ignored');
  await stage.watch(colleague, 'log', stage.documentId, 'ignored');
  await prefer(stage, admin, 'watched_publish', { in_app: false, email: false });
  await prefer(stage, owner, 'comment_on_my_doc', { in_app: false });
  await publish(stage, member);
  await stage.save(member, stage.documentId, html);
  await stage.createDocument(colleague, 'Other', html);
  await stage.comment(admin, stage.documentId, html);
  await stage.ageNotifications(61);
  await stage.ageActivity(61);
  await publish(stage, admin);
  const entries = await stage.look('select id, action from bellwire.activity_log order by id');
  let told = 0;
  const persons: (keyof People)[] = Object.keys(stage.people) as (keyof People)[];
  for (const { id, action } of entries) {
    for (const persona of persons) {
      const steps = await explain(stage, stage.people[persona], id as number);
      const isTold = named(steps, 'verdict')?.passed === true;
      t.equal(obstacles(steps).length === 0, isTold, `${action} ${id}, ${persona}`);
      if (isTold) told += 1;
    }
  }
  t.equal(
    told,
    await stage.value('select count(*) from bellwire.notifications where activity_id is not null'),
  );
  t.ok(told > 8);
});

t.test('for administrators alone', async (t) => {
  const stage = await createStage(t);
  const call = 'select * from bellwire.explain_delivery(1, 1)';
  await refused(t, stage.by(stage.people.owner, call), { code: '42501' }, 'a person');
  await refused(t, stage.byAnonymous(call), { code: '42501' }, 'nobody');
  await refused(t, stage.byService(call), { code: '42501' }, 'a service');
  await refused(t, stage.byWorker(call), { code: '42501' }, 'the worker');
  await refused(t, stage.byServer(call), { code: '42501' }, 'the server');
});
