import t from 'tap';
import { createStage, type People, refused, type Stage } from '../fixtures.ts';

interface Step {
  step: string;
  passed: boolean | null;
  explanation: string;
}

const STEPS = [
  'entry',
  'action',
  'actor',
  'watch',
  'reason',
  'failure',
  'queue',
  'window',
  'access',
  'preferences',
  'verdict',
];

async function explain(stage: Stage, person: number, activity: number): Promise<Step[]> {
  const steps = await stage.byAdministrator('select * from bellwire.explain_delivery($1, $2)', [
    person,
    activity,
  ]);
  return steps as unknown as Step[];
}

const named = (steps: Step[], name: string) => steps.find(({ step }) => step === name);

const obstacles = (steps: Step[]) =>
  steps
    .filter(({ step, passed }) => step !== 'verdict' && passed === false)
    .map(({ step }) => step);

/** The entry that this adds, of this action. */
async function entry(
  stage: Stage,
  action: string,
  change: () => Promise<unknown>,
): Promise<number> {
  await change();
  return stage.value('select max(id) from bellwire.activity_log where action = $1', [action]);
}

const publish = (stage: Stage, by: number) =>
  entry(stage, 'log.publish', () =>
    stage.by(by, 'select api.publish_document($1, $2)', [stage.documentId, 'v1']),
  );

const prefer = (stage: Stage, person: number, kind: string, wish: object) =>
  stage.by(person, 'select api.set_notification_preferences($1)', [
    JSON.stringify({ [kind]: wish }),
  ]);

/** Asserts the verdict, and that exactly these questions went against it. */
async function verdict(
  t: Parameters<typeof createStage>[0],
  stage: Stage,
  person: number,
  activity: number,
  expected: { told: boolean; says: RegExp; against: string[] },
  what: string,
): Promise<Step[]> {
  const steps = await explain(stage, person, activity);
  t.strictSame(
    steps.map(({ step }) => step),
    STEPS,
    `${what}: every question, the verdict last`,
  );
  t.strictSame(obstacles(steps), expected.against, `${what}: what stands against it`);
  const last = named(steps, 'verdict');
  t.equal(last?.passed, expected.told, `${what}: told or not`);
  t.match(last?.explanation, expected.says, what);
  const rows = await stage.look(
    'select from bellwire.notifications where user_id = $1 and activity_id = $2',
    [person, activity],
  );
  t.equal(rows.length === 1, expected.told, `${what}: and so it is`);
  return steps;
}

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

t.test('the action tells nobody; neighbour: one that does', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  const renamed = await entry(stage, 'log.rename', () =>
    stage.by(member, 'select api.rename_document($1, $2)', [stage.documentId, 'Currents']),
  );
  await verdict(
    t,
    stage,
    owner,
    renamed,
    {
      told: false,
      says: /^Not told\. The action log\.rename tells nobody/,
      against: ['action', 'reason'],
    },
    'a rename',
  );
  const published = await publish(stage, member);
  await verdict(
    t,
    stage,
    owner,
    published,
    { told: true, says: /^Told/, against: [] },
    'published',
  );
});

t.test('the actor is not told; neighbour: the same change by somebody else', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  const own = await publish(stage, owner);
  await verdict(
    t,
    stage,
    owner,
    own,
    { told: false, says: /^Not told\. Olga Owner did it/, against: ['actor'] },
    'their own',
  );
  const other = await publish(stage, member);
  await verdict(t, stage, owner, other, { told: true, says: /^Told/, against: [] }, 'another’s');
});

t.test('not watching; neighbour: watching the archive above', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  const before = await publish(stage, member);
  await verdict(
    t,
    stage,
    colleague,
    before,
    {
      told: false,
      says: /^Not told\. Nothing makes it Cleo Colleague's concern/,
      against: ['reason'],
    },
    'no watch',
  );
  await stage.watch(colleague, 'archive', stage.archiveId);
  await verdict(
    t,
    stage,
    colleague,
    before,
    {
      told: false,
      says: /^Not told\. Cleo Colleague began to watch after it had happened: archive/,
      against: ['reason'],
    },
    'a later watch',
  );
  const after = await publish(stage, member);
  await verdict(t, stage, colleague, after, { told: true, says: /^Told/, against: [] }, 'above');
});

t.test('watching, but the action tells no watchers; neighbour: it names them', async (t) => {
  const stage = await createStage(t);
  const { owner, member, guest } = stage.people;
  await stage.watch(member, 'archive', stage.archiveId);
  const html = `<span data-type="mention" data-id="${guest}">@Gina</span>`;
  const id = await entry(stage, 'log.create', () => stage.createDocument(owner, 'New', html));
  await verdict(
    t,
    stage,
    member,
    id,
    {
      told: false,
      says: /^Not told\. Mats Member watches it, but the action log\.create tells no watchers/,
      against: ['reason'],
    },
    'a watcher',
  );
  const steps = await verdict(
    t,
    stage,
    guest,
    id,
    { told: true, says: /\(mention\)/, against: [] },
    'named',
  );
  t.match(named(steps, 'reason')?.explanation, /^The entry names Gina Guest: mention\.$/);
  t.equal(named(steps, 'watch')?.passed, null, 'a watch is not needed');
});

t.test('muted, even when named; neighbour: a mute above, and a watch nearer', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague, guest } = stage.people;
  await stage.watch(colleague, 'archive', stage.archiveId);
  await stage.watch(colleague, 'log', stage.documentId, 'ignored');
  await stage.watch(guest, 'archive', stage.archiveId, 'ignored');
  await stage.watch(member, 'archive', stage.archiveId, 'ignored');
  await stage.watch(member, 'log', stage.documentId);
  const id = await publish(stage, owner);
  await verdict(
    t,
    stage,
    colleague,
    id,
    {
      told: false,
      says: /^Not told\. Cleo Colleague has muted log \d+ “Tides”, since .*, source manual/,
      against: ['watch', 'reason'],
    },
    'the nearest word is a mute',
  );
  await verdict(
    t,
    stage,
    member,
    id,
    { told: true, says: /^Told/, against: [] },
    'the nearest is a watch',
  );
  const mention = await entry(stage, 'comment.create', () =>
    stage.comment(
      owner,
      stage.documentId,
      `<span data-type="mention" data-id="${guest}">@Gina</span>`,
    ),
  );
  const steps = await verdict(
    t,
    stage,
    guest,
    mention,
    {
      told: false,
      says: /^Not told\. Gina Guest has muted archive \d+ “Notes”/,
      against: ['watch'],
    },
    'a mute is above a mention',
  );
  t.match(named(steps, 'reason')?.explanation, /names Gina Guest/);
});

t.test('the owner is told as the owner; neighbour: a watcher of the same', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague } = stage.people;
  await stage.watch(colleague, 'log', stage.documentId);
  const id = await entry(stage, 'comment.create', () =>
    stage.comment(member, stage.documentId, 'x'),
  );
  await verdict(
    t,
    stage,
    owner,
    id,
    { told: true, says: /\(comment_on_my_doc\)/, against: [] },
    'owner',
  );
  await verdict(
    t,
    stage,
    colleague,
    id,
    { told: true, says: /\(watched_comment\)/, against: [] },
    'watcher',
  );
});

t.test('no access: deactivated, not in the workspace, not in the scope', async (t) => {
  const stage = await createStage(t);
  const { owner, admin, member, colleague, guest, outsider } = stage.people;
  for (const person of [admin, member, colleague, guest])
    await stage.watch(person, 'archive', stage.archiveId);
  await stage.look('update bellwire.users set deactivated_at = now() where id = $1', [member]);
  await stage.by(owner, 'select api.remove_workspace_member($1, $2)', [
    stage.workspaceId,
    colleague,
  ]);
  await stage.by(owner, 'select api.remove_squad_member($1, $2)', [stage.squadId, guest]);
  // A watch kept from better days.
  await stage.look(
    `insert into bellwire.watches (resource_id, user_id, source) values ($1, $2, 'manual')`,
    [await stage.resourceId('archive', stage.archiveId), outsider],
  );
  const id = await publish(stage, owner);
  for (const [person, says] of [
    [member, /^Not told\. Mats Member was deactivated on /],
    [colleague, /^Not told\. Cleo Colleague is not in the workspace “Harbour”\.$/],
    [guest, /^Not told\. Gina Guest is not in squad \d+ “Crew”\.$/],
    [outsider, /^Not told\. Otto Outsider is not in squad \d+ “Crew”\.$/],
  ] as const) {
    await verdict(t, stage, person, id, { told: false, says, against: ['access'] }, String(says));
  }
  await verdict(
    t,
    stage,
    admin,
    id,
    { told: true, says: /^Told/, against: [] },
    'an admin reads all scopes',
  );

  await stage.clearMail();
  await prefer(stage, admin, 'watched_publish', { in_app: false, email: false });
  const unwanted = await publish(stage, owner);
  await stage.by(owner, 'select api.add_squad_member($1, $2, $3)', [
    stage.squadId,
    admin,
    'member',
  ]);
  await verdict(
    t,
    stage,
    admin,
    unwanted,
    { told: false, says: /neither in the bell nor by e-mail/, against: ['preferences'] },
    'an admin who joins the squad later could read it before',
  );

  await stage.by(owner, 'select api.add_squad_member($1, $2, $3)', [
    stage.squadId,
    outsider,
    'member',
  ]);
  await verdict(
    t,
    stage,
    outsider,
    id,
    {
      told: false,
      says: /^Not told\. Otto Outsider joined on .*, after it had happened/,
      against: ['access'],
    },
    'a later member',
  );
});

t.test('access lost afterwards: told, and it does not show', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague } = stage.people;
  await stage.watch(colleague, 'archive', stage.archiveId);
  const id = await publish(stage, member);
  t.notMatch(named(await explain(stage, colleague, id), 'verdict')?.explanation, /does not show/);
  await stage.by(owner, 'select api.remove_squad_member($1, $2)', [stage.squadId, colleague]);
  await verdict(
    t,
    stage,
    colleague,
    id,
    { told: true, says: /^Told: .* It does not show any more/, against: ['access'] },
    'lost since',
  );
});

t.test('an invitation is told outside of its scope', async (t) => {
  const stage = await createStage(t);
  const { owner, outsider } = stage.people;
  const id = await entry(stage, 'squad.invite_create', () =>
    stage.by(owner, 'select api.invite_to_squad($1, $2)', [stage.squadId, outsider]),
  );
  const steps = await verdict(
    t,
    stage,
    outsider,
    id,
    { told: true, says: /\(squad_invite\)/, against: [] },
    'invited',
  );
  t.match(named(steps, 'access')?.explanation, /member of the workspace “Harbour”\.$/);
});

t.test('preferences: off, by e-mail only, and the default', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague, guest } = stage.people;
  for (const person of [member, colleague, guest])
    await stage.watch(person, 'log', stage.documentId);
  await prefer(stage, member, 'watched_publish', { in_app: false, email: false });
  await prefer(stage, colleague, 'watched_publish', { in_app: false });
  await prefer(stage, guest, 'watched_publish', { email: false });
  const id = await publish(stage, owner);
  await verdict(
    t,
    stage,
    member,
    id,
    {
      told: false,
      says: /^Not told\. Mats Member wants watched_publish neither in the bell nor by e-mail\.$/,
      against: ['preferences'],
    },
    'off',
  );
  const mailOnly = await verdict(
    t,
    stage,
    colleague,
    id,
    { told: true, says: /, not in the bell\. E-mail \d+: pending\.$/, against: [] },
    'by e-mail only',
  );
  t.match(named(mailOnly, 'preferences')?.explanation, /by e-mail only/);
  await verdict(
    t,
    stage,
    guest,
    id,
    { told: true, says: /unread\. Not wanted by e-mail\.$/, against: [] },
    'bell only',
  );
});

t.test(
  'the window: counted up in an earlier one; neighbours: another kind, and later',
  async (t) => {
    const stage = await createStage(t);
    const { owner, member } = stage.people;
    const first = await publish(stage, member);
    const second = await publish(stage, member);
    const told = await stage.value<number>(
      'select id from bellwire.notifications where user_id = $1 and activity_id = $2',
      [owner, first],
    );
    await verdict(
      t,
      stage,
      owner,
      second,
      {
        told: false,
        says: new RegExp(
          `^Not told\\. Counted up in notification ${told} of .* within 60 seconds\\.$`,
        ),
        against: ['window'],
      },
      'the second',
    );
    await verdict(
      t,
      stage,
      owner,
      first,
      { told: true, says: /counted up 1 times since/, against: [] },
      'the first',
    );
    const other = await entry(stage, 'comment.create', () =>
      stage.comment(member, stage.documentId, 'x'),
    );
    await verdict(
      t,
      stage,
      owner,
      other,
      { told: true, says: /comment_on_my_doc/, against: [] },
      'another kind',
    );
    await prefer(stage, owner, 'comment_on_my_doc', { in_app: false, email: false });
    await stage.clearMail();
    await publish(stage, member);
    const unwanted = await entry(stage, 'comment.create', () =>
      stage.comment(member, stage.documentId, 'y'),
    );
    await verdict(
      t,
      stage,
      owner,
      unwanted,
      { told: false, says: /neither in the bell nor by e-mail/, against: ['preferences'] },
      'a row of another kind is not a window',
    );
    await stage.ageNotifications(61);
    const third = await publish(stage, member);
    await verdict(
      t,
      stage,
      owner,
      third,
      { told: true, says: /^Told/, against: [] },
      'after the window',
    );
  },
);

t.test('the queue: it waits for the worker; neighbour: it has been told', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague } = stage.people;
  await stage.watch(colleague, 'log', stage.documentId);
  await stage.set('sync_fanout_limit', 1);
  const id = await publish(stage, member);
  await verdict(
    t,
    stage,
    owner,
    id,
    {
      told: false,
      says: /^Not told\. It waits for the worker: fan_out_queue \d+, since /,
      against: ['queue'],
    },
    'queued',
  );
  await verdict(
    t,
    stage,
    member,
    id,
    { told: false, says: /^Not told\. Mats Member did it/, against: ['actor', 'reason', 'queue'] },
    'who will not be told is not waiting',
  );
  await stage.byWorker('select bellwire.drain_fan_out(10)');
  await verdict(t, stage, owner, id, { told: true, says: /^Told/, against: [] }, 'drained');
});

t.test('telling failed; neighbour: the next one did not', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  await stage.look(
    'alter table bellwire.notifications add constraint broken check (false) not valid',
  );
  const id = await publish(stage, member);
  await verdict(
    t,
    stage,
    owner,
    id,
    {
      told: false,
      says: /^Not told\. Telling failed \(fan_out\): 23514, .*See rule_failures \d+\.$/,
      against: ['failure'],
    },
    'failed',
  );
  await stage.look('alter table bellwire.notifications drop constraint broken');
  const next = await publish(stage, member);
  await verdict(t, stage, owner, next, { told: true, says: /^Told/, against: [] }, 'the next');
});

t.test('what was told may be gone, and what it was about, too', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  const id = await publish(stage, member);
  t.notMatch(named(await explain(stage, owner, id), 'entry')?.explanation, /deleted/);
  await stage.by(member, 'select api.delete_document($1)', [stage.documentId]);
  const steps = await verdict(
    t,
    stage,
    owner,
    id,
    { told: true, says: /^Told/, against: [] },
    'deleted',
  );
  t.match(named(steps, 'entry')?.explanation, /“Tides” .* It was deleted on /);
  await stage.clearMail();
  await verdict(
    t,
    stage,
    owner,
    id,
    { told: false, says: /^Not told, and nothing stands against it now: .*retention/, against: [] },
    'pruned',
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
