import t from 'tap';
import { createStage, type Stage } from '../fixtures.ts';

/** A document that is watched and subscribed to, so that every rule has something to do. */
async function setUp(t: Parameters<typeof createStage>[0]) {
  const stage = await createStage(t);
  await stage.byAdministrator(
    "select bellwire.create_webhook_subscription('https://receiver.example/hook')",
  );
  await stage.watch(stage.people.colleague, 'log', stage.documentId);
  await stage.clearMail();
  return stage;
}

interface Effects {
  html: string;
  events: number;
  watches: boolean;
  told: number[];
  mails: number;
}

/** What a save by the member did, with the mention of the guest in it. */
async function saveAndLook(stage: Stage): Promise<Effects> {
  const { member, guest } = stage.people;
  const html = `<p>New</p><span data-type="mention" data-id="${guest}">@Gina</span>`;
  const told = await stage.told(() => stage.save(member, stage.documentId, html));
  return {
    html: await stage.value('select html from suite.logs where id = $1', [stage.documentId]),
    events: await stage.value('select count(*) from bellwire.webhook_deliveries'),
    watches: (await stage.watchState(member, 'log', stage.documentId))?.watching === true,
    told: told.map((row) => row.user_id),
    mails: await stage.value('select count(*) from bellwire.email_outbox'),
  };
}

const failures = (stage: Stage) =>
  stage.byAdministrator('select rule, subject_ids, sqlstate, message from bellwire.rule_failures');

/** From now on every insert into this table fails. */
function breakTable(stage: Stage, table: string) {
  const [, name] = table.split('.');
  return stage.look(`alter table ${table} add constraint ${name}_broken check (false) not valid`);
}

t.test('with every rule in order all of it happens', async (t) => {
  const stage = await setUp(t);
  const { owner, colleague, guest } = stage.people;
  t.match(await saveAndLook(stage), {
    events: 1,
    watches: true,
    told: [owner, colleague, guest],
    mails: 1,
  });
  t.strictSame(await failures(stage), []);
});

for (const [rule, table, missing] of [
  ['emit_webhooks', 'bellwire.webhook_events', { events: 0 }],
  ['emit_webhooks', 'bellwire.webhook_deliveries', { events: 0 }],
  ['auto_watch', 'bellwire.watches', { watches: false }],
  ['fan_out', 'bellwire.notifications', { told: [], mails: 0 }],
  ['queue_email', 'bellwire.email_outbox', { mails: 0 }],
] as const) {
  t.test(`${rule} fails on ${table}: the change stands, its siblings run`, async (t) => {
    const stage = await setUp(t);
    const { owner, colleague, guest } = stage.people;
    await breakTable(stage, table);
    const effects = await saveAndLook(stage);
    t.match(effects.html, /New/, 'the change stands');
    t.strictSame(
      { ...effects, html: '' },
      { html: '', events: 1, watches: true, told: [owner, colleague, guest], mails: 1, ...missing },
    );
    const noted = await failures(stage);
    t.match(noted, [{ rule, sqlstate: '23514', message: /_broken/ }]);
    t.equal(noted.length, 1);
    t.equal(Array.isArray(noted[0]?.subject_ids), true, 'it says what it was about');
    t.equal(
      await stage.value('select count(*) from bellwire.webhook_events where type = $1', [
        'log.update',
      ]),
      rule === 'emit_webhooks' ? 0 : 1,
      'no event without its delivery',
    );
  });
}

t.test('a failure of one rule of an invented action, by a broken function', async (t) => {
  const stage = await setUp(t);
  await stage.look(
    `create or replace function bellwire.fill_template(template text, actor text, verb text, title text, excerpt text)
     returns text language plpgsql immutable as 'begin raise exception ''out of order''; end'`,
  );
  const effects = await saveAndLook(stage);
  t.match(effects, { events: 1, watches: true, told: [] });
  t.match(await failures(stage), [{ rule: 'fan_out', sqlstate: 'P0001', message: 'out of order' }]);
});

t.test('a coalesced save whose mention cannot be told stands, too', async (t) => {
  const stage = await setUp(t);
  await stage.save(stage.people.member, stage.documentId, 'first');
  await breakTable(stage, 'bellwire.notifications');
  const effects = await saveAndLook(stage);
  t.match(effects.html, /New/);
  t.match(await failures(stage), [{ sqlstate: '23514' }]);
});

t.test('an entry that cannot be written does not undo the change', async (t) => {
  const stage = await setUp(t);
  await stage.look(
    'alter table bellwire.activity_log add constraint broken check (false) not valid',
  );
  await stage.save(stage.people.member, stage.documentId, 'kept');
  t.equal(
    await stage.value('select html from suite.logs where id = $1', [stage.documentId]),
    'kept',
  );
  t.match(await failures(stage), [{ sqlstate: '23514' }]);
});

t.test('administrators read and clear the failures, nobody else', async (t) => {
  const stage = await setUp(t);
  await breakTable(stage, 'bellwire.watches');
  await saveAndLook(stage);
  for (const attempt of [
    stage.by(stage.people.owner, 'select from bellwire.rule_failures').catch((error) => error),
    stage.byAnonymous('select from bellwire.rule_failures').catch((error) => error),
    stage.byWorker('select from bellwire.rule_failures').catch((error) => error),
  ]) {
    t.match(await attempt, { code: '42501' });
  }
  t.equal((await failures(stage)).length, 1);
  await stage.byAdministrator('delete from bellwire.rule_failures');
  t.equal((await failures(stage)).length, 0);
});
