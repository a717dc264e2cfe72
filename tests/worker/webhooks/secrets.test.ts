import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import { Keyring } from '../../../secrets/keyring.ts';
import { secondFactorContext } from '../../../secrets/second-factor-secret.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import {
  answerWith,
  deliveriesOf,
  type Received,
  renameArchive,
  setStage,
  startReceiver,
  startWorker,
  subscribe,
  subscriptionRow,
  until,
} from '../support.ts';

const newKey = () => randomBytes(32).toString('base64');
const NEVER_POLLS = 3_600;
/** Of the secrets that a worker asks for at once. */
const MORE_THAN_ONE_LOOK = 501;
/** Of a second factor, in base32. */
const SECRET = 'ABCDEFGH'.repeat(4);

async function open(t: Test) {
  const database = await createDatabase(t);
  const stage = await setStage(database);
  const lines: string[] = [];
  const log = (details: object, message: string) => {
    lines.push(`${message} ${JSON.stringify(details)}`);
  };
  const worker = (secretsKeys?: string[]) =>
    startWorker(t, {
      databaseUrl: database.workerUrl,
      secretsKeys,
      pollSeconds: NEVER_POLLS,
      logger: { debug: log, info: log, warn: log, error: log },
    });
  return { database, stage, worker, lines };
}

async function secretsOf(database: TestDatabase): Promise<string[]> {
  const { rows } = await database.admin.query(
    'select secret from bellwire.webhook_secrets order by id',
  );
  return rows.map(({ secret }) => secret);
}

const untilSealed = (database: TestDatabase, isSealed: (secret: string) => boolean) =>
  until('every secret is sealed', async () => {
    const secrets = await secretsOf(database);
    return secrets.length > 0 && secrets.every(isSealed) && secrets;
  });

/** The text of every row of every table, as a dump would have it. */
async function dump(database: TestDatabase): Promise<string> {
  const { rows: tables } = await database.admin.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relkind = 'r' and relnamespace::regnamespace::text in ('bellwire', 'identity', 'suite', 'graphile_worker')`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await database.admin.query(`select row::text from ${name} as row`);
    texts.push(...rows.map(({ row }) => row));
  }
  return texts.join('\n');
}

/** How many of the signatures a secret verifies: each alone. */
function verified(request: Received | undefined, secret: string): number {
  const signatures = request?.headers['webhook-signature']?.split(' ') ?? [];
  return signatures.filter((signature) => {
    const headers = { ...request?.headers, 'webhook-signature': signature };
    try {
      return Boolean(new Webhook(secret).verify(request?.body ?? '', headers));
    } catch {
      return false;
    }
  }).length;
}

t.test('secrets made by SQL are sealed at the start and when they are made', async (t) => {
  const { database, stage, worker, lines } = await open(t);
  const receiver = await startReceiver(t);
  const first = await subscribe(database, receiver.url);
  t.match(await dump(database), /whsec_/, 'plain until a worker has looked');
  await worker([newKey()]);
  await untilSealed(database, (secret) => secret.startsWith('sealed.1.'));
  const { rows } = await database.admin.query(
    'select secret from bellwire.rotate_webhook_secret($1)',
    [first.id],
  );
  await untilSealed(database, (secret) => secret.startsWith('sealed.1.'));
  t.notMatch(await dump(database), /whsec_/, 'plain nowhere in the database');
  await renameArchive(database, stage, 'Renamed');
  await until('it has arrived', () => receiver.received.length === 1);
  t.equal(verified(receiver.received[0], rows[0].secret), 1);
  t.equal(verified(receiver.received[0], first.secret), 1, 'the old one signs, too');
  t.equal(receiver.received[0]?.headers['webhook-signature']?.split(' ').length, 2);
  t.notMatch(lines.join('\n'), /whsec_|sealed\./, 'no secret in the log');
});

t.test('the key is exchanged: sealed anew, and every secret still signs', async (t) => {
  const { database, stage, worker } = await open(t);
  const [oldKey, key] = [newKey(), newKey()];
  const receiver = await startReceiver(t);
  const first = await subscribe(database, receiver.url);
  const before = await worker([oldKey]);
  const [sealed = ''] = await untilSealed(database, (secret) => secret.startsWith('sealed.'));
  const oldId = sealed.split('.')[2];
  await before.stop();
  const { rows } = await database.admin.query(
    'select secret from bellwire.rotate_webhook_secret($1)',
    [first.id],
  );
  const both = await worker([key, oldKey]);
  await untilSealed(
    database,
    (secret) => secret.startsWith('sealed.') && secret.split('.')[2] !== oldId,
  );
  await both.stop();
  await worker([key]);
  await renameArchive(database, stage, 'Renamed');
  await until('it has arrived', () => receiver.received.length === 1);
  for (const secret of [first.secret, rows[0].secret]) {
    t.equal(verified(receiver.received[0], secret), 1);
  }
});

t.test('second factors are sealed anew, too, until an old key can go', async (t) => {
  const { database, worker, lines } = await open(t);
  const { admin } = database;
  const [oldKey, key] = [newKey(), newKey()];
  const addPeople = async (count: number) => {
    const { rows } = await admin.query<{ id: number }>(
      `insert into bellwire.users (name, email)
       select 'Sam', gen_random_uuid() || '@example.com' from generate_series(1, $1::int) returning id::int`,
      [count],
    );
    return rows.map(({ id }) => id);
  };
  const stuck = await addPeople(MORE_THAN_ONE_LOOK);
  const [plain = 0, old = 0] = await addPeople(2);
  const lost = new Keyring([newKey()]).seal(SECRET, secondFactorContext(0));
  const put = (people: number[], secret: string) =>
    admin.query(
      'insert into identity.second_factors (user_id, secret) select unnest($1::bigint[]), $2',
      [people, secret],
    );
  await put(stuck, lost);
  await put([plain], SECRET);
  await put([old], new Keyring([oldKey]).seal(SECRET, secondFactorContext(old)));
  await subscribe(database, 'http://127.0.0.1:9/');
  const both = new Keyring([key, oldKey]);
  await worker([key, oldKey]);
  const keys = async () => (await admin.query('select * from bellwire.secret_keys()')).rows;
  const lostId = lost.split('.')[2];
  await until('only the new key is left, and the lost one', async () => {
    const seen = (await keys()).map(({ what, key_id, secrets }) => `${what} ${key_id} ${secrets}`);
    const wanted = [
      `second factors ${both.currentKeyId} 2`,
      `second factors ${lostId} ${stuck.length}`,
      `webhooks ${both.currentKeyId} 1`,
    ];
    return seen.sort().join() === wanted.sort().join();
  });
  const { rows } = await admin.query(
    'select user_id::int as person, secret from identity.second_factors',
  );
  const stored = new Map(rows.map(({ person, secret }) => [person, secret]));
  const alone = new Keyring([key]);
  for (const person of [plain, old]) {
    t.equal(alone.open(stored.get(person), secondFactorContext(person)), SECRET);
  }
  t.equal(stored.get(stuck[0]), lost, 'what does not open stays, and is in nobody’s way');
  t.notMatch(lines.join('\n'), new RegExp(`${SECRET}|sealed\\.`), 'no secret in the log');
});

t.test('a secret whose key is gone: nothing is sent, and nothing lost', async (t) => {
  const { database, stage, worker, lines } = await open(t);
  const key = newKey();
  const receiver = await startReceiver(t);
  const { id, secret } = await subscribe(database, receiver.url);
  const first = await worker([key]);
  await untilSealed(database, (text) => text.startsWith('sealed.'));
  await first.stop();

  for (const [what, keys] of [
    ['another key', [newKey()]],
    ['no key', undefined],
  ] as const) {
    const other = await worker(keys && [...keys]);
    await renameArchive(database, stage, `With ${what}`);
    const failed = await until(`it has failed with ${what}`, async () => {
      const [head] = await deliveriesOf(database, id);
      return head && head.attempts > 0 && head;
    });
    t.match(failed, {
      state: 'pending',
      last_error: /^secret cannot be opened: SECRETS_KEY lacks the key [0-9a-f]{8}$/,
      last_status: null,
    });
    const pause = (await subscriptionRow(database, id)).pause_seconds ?? 0;
    t.ok(pause > 5 && pause <= 10, 'with a backoff');
    await other.stop();
    await database.admin.query(
      'update bellwire.webhook_subscriptions set paused_until = null, consecutive_failures = 0',
    );
    await database.admin.query('update bellwire.webhook_deliveries set attempts = 0');
  }
  t.equal(receiver.received.length, 0, 'nothing unsigned');
  const { rows } = await database.admin.query(
    "select subject_ids, message from bellwire.rule_failures where rule = 'webhook_secrets'",
  );
  t.match(rows, [{ subject_ids: [String(id)], message: /cannot be opened/ }]);
  t.equal(rows.length, 1, 'the operator is told once');
  t.match(lines.join('\n'), /webhook was not sent .*secret cannot be opened/);
  t.notMatch(lines.join('\n'), /whsec_|sealed\./);

  await worker([key]);
  await until('both arrive with the key', () => receiver.received.length === 2);
  t.equal(verified(receiver.received[0], secret), 1);
});

t.test('a sealed text put into another row does not open', async (t) => {
  const { database, stage, worker } = await open(t);
  const key = newKey();
  const receiver = await startReceiver(t);
  const own = await subscribe(database, receiver.url);
  const other = await subscribe(database, receiver.url, ['archive.delete']);
  await worker([key]);
  await untilSealed(database, (text) => text.startsWith('sealed.'));
  await database.admin.query(
    `update bellwire.webhook_secrets as target set secret = source.secret
     from bellwire.webhook_secrets as source
     where target.subscription_id = $1 and source.subscription_id = $2`,
    [own.id, other.id],
  );
  await renameArchive(database, stage, 'Renamed');
  const failed = await until('it has failed', async () => {
    const [head] = await deliveriesOf(database, own.id);
    return head?.last_error;
  });
  t.match(failed, /was changed, or belongs to something else/);
});

t.test('without a key everything works as it is', async (t) => {
  const { database, stage, worker } = await open(t);
  const receiver = await startReceiver(t);
  const { secret } = await subscribe(database, receiver.url);
  await worker();
  await renameArchive(database, stage, 'Renamed');
  await until('it has arrived', () => receiver.received.length === 1);
  t.equal(verified(receiver.received[0], secret), 1);
  t.strictSame(await secretsOf(database), [secret]);
});

t.test('a test that arrives ends the pause, and the backlog follows', async (t) => {
  const { database, stage, worker } = await open(t);
  let isDown = true;
  const receiver = await startReceiver(t, (request, response) =>
    answerWith(isDown ? 503 : 204)(request, response),
  );
  const { id, secret } = await subscribe(database, receiver.url);
  await worker([newKey()]);
  await renameArchive(database, stage, 'First');
  await until('it is paused', async () => (await subscriptionRow(database, id)).pause_seconds);
  isDown = false;
  await database.admin.query('select bellwire.test_webhook($1)', [id]);
  await until('the backlog has arrived', () => receiver.received.length === 3);
  const [, test, again] = receiver.received;
  t.equal(test?.headers['x-codex-event'], 'webhook.test');
  t.equal(verified(test, secret), 1);
  t.equal(again?.headers['x-codex-event'], 'archive.rename');
  const states = await until('both are delivered', async () => {
    const rows = await deliveriesOf(database, id);
    return rows.every(({ state }) => state === 'delivered') && rows;
  });
  t.equal(states.length, 2);
});
