import t from 'tap';
import { createStage, refused } from '../fixtures.ts';

const CALL = 'select * from bellwire.create_webhook_subscription($1, $2, $3)';
const URL = 'https://receiver.example/hook';

t.test('the secret is returned once, of its own for each', async (t) => {
  const stage = await createStage(t);
  const [first] = await stage.byAdministrator(CALL, [URL, stage.workspaceId, ['log.update']]);
  const [second] = await stage.byAdministrator(CALL, [URL, null, null]);
  for (const row of [first, second]) t.match(row?.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  t.not(first?.secret, second?.secret);
  t.match(
    await stage.byAdministrator('select * from bellwire.webhook_subscriptions where id = $1', [
      first?.id,
    ]),
    [{ url: URL, workspace_id: stage.workspaceId, event_types: ['log.update'], is_enabled: true }],
  );
});

t.test('what is refused', async (t) => {
  const stage = await createStage(t);
  const cases: [string, unknown[], string, RegExp?][] = [
    ['no URL', [null, null, null], '22023'],
    ['no scheme', ['receiver.example', null, null], '22023'],
    ['another scheme', ['ftp://receiver.example', null, null], '22023'],
    ['white space', ['https://receiver.example/a b', null, null], '22023'],
    ['a backslash', ['https://receiver.example\\@evil', null, null], '22023'],
    ['too long', [`https://x/${'a'.repeat(2000)}`, null, null], '22023'],
    ['an unknown type', [URL, null, ['log.unheard']], '22023', /emits/],
    ['a type that is not emitted', [URL, null, ['log.update', 'comment.create']], '22023', /emits/],
    ['an unknown workspace', [URL, 987654, null], 'P0002'],
  ];
  for (const [what, values, code, hint] of cases) {
    await refused(
      t,
      stage.byAdministrator(CALL, values),
      { code, ...(hint ? { hint } : {}) },
      what,
    );
  }
  t.equal(await stage.value('select count(*) from bellwire.webhook_subscriptions'), 0);
});

t.test('at most fifty', async (t) => {
  const stage = await createStage(t);
  await stage.look(
    `insert into bellwire.webhook_subscriptions (url) select '${URL}' from generate_series(1, 49)`,
  );
  await stage.byAdministrator(CALL, [URL, null, null]);
  await refused(
    t,
    stage.byAdministrator(CALL, [URL, null, null]),
    { code: '54000', hint: /webhook_subscription_limit/ },
    'the fifty-first',
  );
});

t.test('two at once do not both get the last place', async (t) => {
  const stage = await createStage(t);
  await stage.set('webhook_subscription_limit', 1);
  const results = await Promise.allSettled(
    Array.from({ length: 4 }, () => stage.byAdministrator(CALL, [URL, null, null])),
  );
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  t.equal(await stage.value('select count(*) from bellwire.webhook_subscriptions'), 1);
});

t.test('administrators alone', async (t) => {
  const stage = await createStage(t);
  const values = [URL, null, null];
  const forbidden = { code: '42501' };
  await refused(t, stage.by(stage.people.owner, CALL, values), forbidden, 'not an owner');
  await refused(t, stage.byAnonymous(CALL, values), forbidden, 'not nobody');
  await refused(t, stage.byWorker(CALL, values), forbidden, 'not the worker');
  const read = 'select from bellwire.webhook_subscriptions';
  await refused(t, stage.by(stage.people.owner, read), forbidden, 'and nobody else reads them');
});
