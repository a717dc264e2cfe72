import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { Keyring } from '../../secrets/keyring.ts';
import { webhookSecretContext } from '../../secrets/webhook-secret.ts';
import type { AppOptions } from '../../server/app.ts';
import { hashPassword } from '../../server/passwords.ts';
import type { Client } from './support/client.ts';
import { createDocument, createPerson, PASSWORD, startStage } from './support/stage.ts';

const URL = 'https://receiver.example/hook';
const SECRETS_KEY = randomBytes(32).toString('base64');

/** The stage with an admin of the workspace and somebody who runs the installation. */
async function open(t: Test, options: Partial<AppOptions> = {}) {
  const stage = await startStage(t, options);
  const hash = await hashPassword(PASSWORD);
  const admin = await createPerson(stage.database, stage.address, 'Ada Admin', hash);
  const runner = await createPerson(stage.database, stage.address, 'Rita Runner', hash);
  await stage.owner.post(`/api/workspaces/${stage.workspaceId}/members`, {
    email: admin.email,
    role: 'admin',
  });
  await stage.database.admin.query('update bellwire.users set is_admin = true where id = $1', [
    runner.id,
  ]);
  return { ...stage, admin, runner };
}

t.test('administration of webhooks', async (t) => {
  const stage = await open(t, { keyring: new Keyring([SECRETS_KEY]) });
  const { owner, admin, runner, member, guest, stranger, anonymous, workspaceId, database } = stage;
  const stored = async (id: number) =>
    (
      await database.admin.query(
        `select seal_id, secret, expires_at from bellwire.webhook_secrets
         where subscription_id = $1 order by id desc`,
        [id],
      )
    ).rows as { seal_id: string; secret: string; expires_at: Date | null }[];
  const keyring = new Keyring([SECRETS_KEY]);
  const created = await owner.post('/api/webhooks', { url: URL, workspaceId, name: 'Mirror' });
  const id = created.pick<number>('webhook.id');
  const one = `/api/webhooks/${id}`;

  t.test('owner creates one; its secret is shown once and sealed at once', async (t) => {
    t.equal(created.status, 201);
    t.equal(created.headers.get('cache-control'), 'no-store');
    const secret = created.pick<string>('secret');
    t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    t.match(created.body, {
      webhook: {
        url: URL,
        name: 'Mirror',
        workspaceId,
        eventTypes: null,
        state: 'delivering',
        createdBy: { id: owner.id, name: owner.name },
      },
    });
    const [row] = await stored(id);
    t.match(row?.secret, /^sealed\.1\./);
    t.equal(keyring.open(row?.secret ?? '', webhookSecretContext(row?.seal_id ?? '')), secret);
    for (const path of [one, '/api/webhooks', `${one}/deliveries`, '/api/webhook-changes']) {
      const { status, text } = await owner.get(path);
      t.equal(status, 200);
      t.notMatch(text, /whsec_|sealed/, `${path}: never again`);
    }
  });

  t.test('owner, admin and who runs the installation have every route', async (t) => {
    for (const person of [owner, admin, runner]) {
      const list = await person.get(`/api/webhooks?workspaceId=${workspaceId}`);
      t.same(
        list.pick<{ id: number }[]>('items').map((item) => item.id),
        [id],
        person.name,
      );
      t.match((await person.get(one)).body, { webhook: { id, name: 'Mirror' } });
      const made = await person.post('/api/webhooks', {
        url: 'http://other.example',
        workspaceId,
        eventTypes: ['log.publish'],
      });
      t.equal(made.status, 201);
      const other = `/api/webhooks/${made.pick('webhook.id')}`;
      t.match((await person.put(other, { url: URL, eventTypes: null, name: 'N' })).body, {
        webhook: { url: URL, eventTypes: null, name: 'N' },
      });
      const off = await person.post(`${other}/disable`, { reason: 'moves' });
      t.match(off.body, { webhook: { state: 'off', isEnabled: false, disabledReason: 'moves' } });
      const refused = await person.post(`${other}/test`);
      t.match(
        [refused.status, refused.body],
        [409, { error: 'subscription_disabled', hint: /Enable/ }],
      );
      t.match((await person.post(`${other}/disable`)).body, {
        webhook: { disabledReason: 'by an administrator' },
      });
      const on = await person.post(`${other}/enable`);
      t.match(on.body, { webhook: { state: 'delivering', disabledReason: null } });
      t.equal((await person.post(`${other}/test`)).status, 201);
      t.match((await person.post(`${other}/test`)).body, { error: 'test_pending' });
      t.match((await person.post(`${other}/replay`, { since: '2020-01-01T00:00:00Z' })).body, {
        success: true,
        nextSequence: null,
      });
      t.equal((await person.delete(other)).status, 200);
      t.equal((await person.get(other)).status, 404);
    }
  });

  t.test('for everybody else it is not there', async (t) => {
    const calls: [method: string, path: string, body?: unknown][] = [
      ['GET', one],
      ['PUT', one, { url: 'https://thief.example', eventTypes: null, name: null }],
      ['DELETE', one],
      ['POST', `${one}/disable`],
      ['POST', `${one}/enable`],
      ['POST', `${one}/rotate`],
      ['POST', `${one}/test`],
      ['POST', `${one}/replay`, { fromSequence: 1 }],
      ['GET', `${one}/deliveries`],
    ];
    const before = JSON.stringify([(await owner.get(one)).body, await stored(id)]);
    const everybody: [Client, number, string][] = [
      [member, 404, 'member'],
      [guest, 404, 'guest'],
      [stranger, 404, 'stranger'],
      [anonymous, 401, 'anonymous'],
    ];
    for (const [person, status, who] of everybody) {
      for (const [method, path, body] of calls) {
        t.equal(
          (await person.send(method, path, body)).status,
          status,
          `${who}: ${method} ${path}`,
        );
      }
    }
    t.equal(JSON.stringify([(await owner.get(one)).body, await stored(id)]), before);
  });

  t.test('in a workspace: 403 for whom it is there, 404 for whom it is not', async (t) => {
    for (const [person, status] of [
      [member, 403],
      [guest, 403],
      [stranger, 404],
    ] as const) {
      for (const path of ['/api/webhooks', '/api/webhook-changes']) {
        t.equal((await person.get(`${path}?workspaceId=${workspaceId}`)).status, status, path);
      }
      const made = await person.post('/api/webhooks', { url: URL, workspaceId });
      t.equal(made.status, status, 'create');
    }
    for (const person of [member, guest]) {
      t.match((await person.get('/api/webhooks')).body, { items: [], nextCursor: null });
      t.match((await person.get('/api/webhook-changes')).body, { items: [] });
    }
    const theirs = await stranger.get('/api/webhooks');
    t.same(
      theirs.pick<{ workspaceId: number }[]>('items').map((item) => item.workspaceId),
      [stage.foreign.workspaceId],
    );
    t.equal((await runner.get('/api/webhooks?workspaceId=987654')).status, 404);
  });

  t.test('those of every workspace are for who runs the installation', async (t) => {
    const body = { url: URL, workspaceId: null };
    for (const person of [owner, admin, member, stranger]) {
      t.equal((await person.post('/api/webhooks', body)).status, 403);
    }
    const made = await runner.post('/api/webhooks', body);
    t.match([made.status, made.body], [201, { webhook: { workspaceId: null } }]);
    const path = `/api/webhooks/${made.pick('webhook.id')}`;
    t.equal((await owner.get(path)).status, 404);
    t.equal(
      (await runner.get('/api/webhooks')).pick<unknown[]>('items').length,
      3,
      'all there are',
    );
    const first = await runner.get('/api/webhooks?limit=1');
    const second = await runner.get(`/api/webhooks?limit=1&cursor=${first.pick('nextCursor')}`);
    t.not(second.pick('items.0.id'), first.pick('items.0.id'), 'in pages');

    await database.admin.query('update bellwire.users set is_admin = false where id = $1', [
      runner.id,
    ]);
    t.equal((await runner.get(path)).status, 404, 'who no longer does sees nothing');
    await database.admin.query('update bellwire.users set is_admin = true where id = $1', [
      runner.id,
    ]);
    t.equal((await runner.delete(path)).status, 200);
  });

  t.test('what is refused, and its neighbour', async (t) => {
    const refuse = async (fields: object, error: string, message: RegExp) => {
      const answer = await owner.post('/api/webhooks', { url: URL, workspaceId, ...fields });
      t.match(answer.body, { success: false, error, message }, JSON.stringify(fields).slice(0, 60));
    };
    await refuse({ url: 'ftp://receiver.example' }, 'invalid_request', /http or https/);
    await refuse({ url: 'https://me:hush@receiver.example' }, 'invalid_request', /user name/);
    await refuse({ url: 'https://me@receiver.example/x' }, 'invalid_request', /user name/);
    await refuse({ url: 'https://' }, 'invalid_request', /http or https/);
    await refuse(
      { eventTypes: ['log.create'] },
      'invalid_request',
      /no event has the type log.create/,
    );
    await refuse({ eventTypes: [] }, 'invalid_request', /eventTypes/);
    await refuse({ name: 'x'.repeat(256) }, 'invalid_request', /255/);
    const fits = await owner.post('/api/webhooks', {
      url: 'https://receiver.example/@me?to=a@b.example',
      workspaceId,
      eventTypes: ['log.update', 'archive.delete'],
      name: 'ü'.repeat(255),
    });
    t.equal(fits.status, 201);
    await owner.delete(`/api/webhooks/${fits.pick('webhook.id')}`);

    const set = (limit: number) =>
      database.admin.query(
        "update bellwire.settings set value = $1 where name = 'webhook_subscription_limit'",
        [limit],
      );
    await set(2);
    await refuse({}, 'invalid_request', /2 receivers already/);
    await set(50);
  });

  t.test('rotation over REST: two secrets for a day, or one at once', async (t) => {
    const rotated = await admin.post(`${one}/rotate`);
    t.equal(rotated.headers.get('cache-control'), 'no-store');
    const rows = await stored(id);
    t.same(
      rows.map(({ secret, seal_id }) => keyring.open(secret, webhookSecretContext(seal_id))),
      [rotated.pick('secret'), created.pick('secret')],
    );
    const until = Date.parse(rotated.pick('webhook.oldSecretExpiresAt')) - Date.now();
    t.ok(until > 23.9 * 3_600_000 && until < 24.1 * 3_600_000);
    const revoked = await owner.post(`${one}/rotate`, { keepOld: false });
    t.equal(revoked.pick('webhook.oldSecretExpiresAt'), null);
    t.equal((await stored(id)).length, 1);
  });

  t.test('deliveries: in pages, by state; redeliver and skip', async (t) => {
    const documentId = await createDocument(owner, stage.archiveId, 'Charts');
    for (const title of ['One', 'Two', 'Three']) {
      await owner.put(`/api/documents/${documentId}/title`, { title });
    }
    await database.asWorker((client) => client.query('select bellwire.sequence_webhooks(100)'));
    const list = async (query: string) =>
      (await owner.get(`${one}/deliveries?${query}`)).body as {
        items: { id: number; state: string; sequence: number }[];
        nextCursor: string | null;
      };
    const first = await list('limit=2');
    t.match(first.items[0], {
      type: 'log.rename',
      state: 'pending',
      attempts: 0,
      position: null,
      isTest: false,
      isExpired: false,
      eventId: /^[0-9a-f-]{36}$/,
    });
    const second = await list(`limit=2&cursor=${first.nextCursor}`);
    t.equal(second.nextCursor, null);
    const ids = [...first.items, ...second.items].map((item) => item.id);
    t.equal(new Set(ids).size, 3);
    const [newest = 0, , head = 0] = ids;

    for (const person of [member, guest, stranger]) {
      for (const verb of ['skip', 'redeliver']) {
        const answer = await person.post(`/api/webhook-deliveries/${head}/${verb}`);
        t.equal(answer.status, 404, verb);
      }
    }
    const behind = await owner.post(`/api/webhook-deliveries/${newest}/skip`);
    t.match([behind.status, behind.body], [409, { error: 'not_the_head' }]);
    const early = await owner.post(`/api/webhook-deliveries/${head}/redeliver`);
    t.match([early.status, early.body], [409, { error: 'not_dead' }]);
    t.equal((await admin.post(`/api/webhook-deliveries/${head}/skip`)).status, 200);
    t.match(await list('state=dead'), {
      items: [{ id: head, lastError: 'skipped by Ada Admin', position: 1 }],
    });
    t.equal((await list('state=pending')).items.length, 2);
    t.equal((await list('state=delivered')).items.length, 0);
    t.equal((await runner.post(`/api/webhook-deliveries/${head}/redeliver`)).status, 200);
    t.equal((await list('state=pending')).items.length, 3);
  });

  t.test('who did what', async (t) => {
    const changes = await owner.get(`/api/webhook-changes?webhookId=${id}`);
    t.match(changes.body, {
      items: [
        { what: 'redelivered', actor: { name: 'Rita Runner' } },
        { what: 'skipped', actor: { name: 'Ada Admin' }, webhookId: id, workspaceId },
        { what: 'rotated' },
        { what: 'rotated' },
        { what: 'created', details: { host: 'https://receiver.example', name: 'Mirror' } },
      ],
    });
    const mine = await owner.get('/api/webhook-changes?limit=500');
    t.notOk(
      mine
        .pick<{ workspaceId: number }[]>('items')
        .some((item) => item.workspaceId !== workspaceId),
      'only of the own workspace',
    );
    const all = await runner.get('/api/webhook-changes?limit=500');
    t.ok(all.pick<unknown[]>('items').length > mine.pick<unknown[]>('items').length);
    const page = await owner.get('/api/webhook-changes?limit=1');
    const next = await owner.get(`/api/webhook-changes?limit=1&cursor=${page.pick('nextCursor')}`);
    t.ok(next.pick<number>('items.0.id') < page.pick<number>('items.0.id'));
  });

  t.test('the creator is deleted, then the workspace', async (t) => {
    await database.admin.query(
      'update bellwire.webhook_subscriptions set created_by = 987654 where id = $1',
      [id],
    );
    t.match((await owner.get(one)).body, { webhook: { createdBy: { id: 987654, name: '' } } });
    await database.admin.query('select bellwire.purge_workspace($1)', [workspaceId]);
    t.equal((await runner.get(one)).status, 404);
    const { rows } = await database.admin.query(
      `select (select count(*)::int from bellwire.webhook_secrets where subscription_id = $1) as secrets,
         (select count(*)::int from bellwire.webhook_deliveries where subscription_id = $1) as deliveries,
         (select count(*)::int from bellwire.webhook_changes where subscription_id = $1) as changes`,
      [id],
    );
    t.same(rows, [{ secrets: 0, deliveries: 0, changes: 0 }]);
  });
});

t.test('without a key; the catalogue', async (t) => {
  const stage = await open(t);
  const { owner, member, anonymous, workspaceId, database } = stage;
  const made = await owner.post('/api/webhooks', { url: URL, workspaceId });
  const { rows } = await database.admin.query(
    'select secret from bellwire.webhook_secrets where subscription_id = $1',
    [made.pick('webhook.id')],
  );
  t.same(rows, [{ secret: made.pick('secret') }], 'it is stored as it is');

  await database.admin.query(
    "insert into bellwire.action_rules (action, verb, emits) values ('ticket.close', 'closed', true)",
  );
  const types = (await member.get('/api/webhook-event-types')).pick<{ type: string }[]>('items');
  t.match(
    types.find(({ type }) => type === 'log.publish'),
    {
      description: 'A version of a document was published.',
      dataSchema: { type: 'object', properties: { log_id: { type: ['integer', 'null'] } } },
      example: { log_id: 3 },
    },
  );
  t.ok(
    types.some(({ type }) => type === 'ticket.close'),
    'those of other tables, too',
  );
  t.equal((await anonymous.get('/api/webhook-event-types')).status, 401);

  const description = await anonymous.get('/docs/json');
  const webhooks = description.pick<Record<string, object>>('webhooks');
  t.same(
    Object.keys(webhooks),
    types.map(({ type }) => type).filter((type) => type !== 'ticket.close'),
    'on the open page those with an example',
  );
  t.match(webhooks['log.publish'], {
    post: {
      requestBody: {
        content: {
          'application/json': {
            schema: { properties: { type: { const: 'log.publish' }, data: { type: 'object' } } },
            example: { type: 'log.publish', data: { log_id: 3 } },
          },
        },
      },
    },
  });
  t.match((await anonymous.get('/docs/yaml')).text, /^webhooks:/m);
  await database.admin.query(
    'revoke execute on function bellwire.webhook_event_types() from bellwire_server',
  );
  const without = await anonymous.get('/docs/json');
  t.match([without.status, without.pick('webhooks')], [200, {}], 'the rest is of use without them');
});
