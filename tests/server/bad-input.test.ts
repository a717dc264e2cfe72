import t, { type Test } from 'tap';
import type { Answer, Client } from './support/client.ts';
import { listApiRoutes, type Route } from './support/routes.ts';
import {
  createDocument,
  createWebhook,
  fillTree,
  type Stage,
  startStage,
  type Things,
} from './support/stage.ts';

type Values = Record<string, unknown>;

interface Row {
  /** A body that would be accepted; left out where the route takes none. */
  body?: (things: Things, stage: Stage) => Values;
  /** Fields that may be left out. */
  optional?: string[];
  /** Fields that may be null. */
  nullable?: string[];
  /** Which thing `:id` names. */
  id?: keyof Things;
  /** Anonymous may call it. */
  isOpen?: boolean;
  /** An id nobody has is no failure here: what is not there is not watched. */
  isForgiving?: boolean;
}

/** One row per route. A route without a row fails the test. */
const ROWS: Record<string, Row> = {
  'POST /api/login': { isOpen: true, body: () => ({ email: 'a@example.org', password: 'x' }) },
  'POST /api/login/second-factor': { isOpen: true, body: () => ({ token: 'x', code: '123456' }) },
  'POST /api/logout': { isOpen: true },
  'POST /api/logout-everywhere': { body: () => ({ isThisOneKept: true }) },
  'GET /api/sessions': {},
  'DELETE /api/sessions/:id': {},
  'POST /api/accounts': {
    isOpen: true,
    body: () => ({ token: 'x', name: 'Nora', password: 'correct horse' }),
  },
  'POST /api/sign-up': { isOpen: true, body: () => ({ email: 'a@example.org' }) },
  'PUT /api/account/name': { body: () => ({ name: 'Nora' }) },
  'PUT /api/account/email': {
    body: () => ({ email: 'a@example.org', currentPassword: 'wrong' }),
  },
  'POST /api/account/email/confirm': {
    body: () => ({ confirmToken: 'x', code: '12345678' }),
  },
  'PUT /api/account/password': {
    body: () => ({ currentPassword: 'wrong', password: 'correct horse' }),
  },
  'POST /api/account/deactivate': { body: () => ({ currentPassword: 'wrong' }) },
  'POST /api/users/:id/deactivate': {},
  'POST /api/users/:id/reactivate': {},
  'POST /api/forgot-password': { isOpen: true, body: () => ({ email: 'a@example.org' }) },
  'POST /api/reset-password': {
    isOpen: true,
    body: () => ({ token: 'x', password: 'correct horse' }),
  },
  'GET /api/account/second-factor': {},
  'POST /api/account/second-factor': { body: () => ({ currentPassword: 'wrong' }) },
  'POST /api/account/second-factor/enable': { body: () => ({ code: '123456' }) },
  'POST /api/account/second-factor/disable': {
    body: () => ({ currentPassword: 'wrong', code: '123456' }),
  },
  'POST /api/account/second-factor/recovery-codes': {
    body: () => ({ currentPassword: 'wrong', code: '123456' }),
  },
  'GET /api/invitations': {},
  'POST /api/invitations': {
    body: ({ workspaceId, squadId }) => ({
      email: 'a@example.org',
      workspaceId,
      role: 'member',
      squadId,
      squadRole: 'member',
    }),
    // Without a workspace it is an invitation to the installation, which needs its administrator.
    optional: ['workspaceId', 'role', 'squadId', 'squadRole'],
  },
  'DELETE /api/invitations/:id': {},
  'POST /api/invitations/look-up': { isOpen: true, body: () => ({ token: 'x' }) },
  'POST /api/invitations/accept': { body: () => ({ token: 'x' }) },
  'GET /api/me': {},
  'GET /api/users/search': {},
  'GET /api/workspaces': {},
  'POST /api/workspaces': { body: () => ({ name: 'Bay' }) },
  'GET /api/workspaces/:workspaceId/members': {},
  'POST /api/workspaces/:workspaceId/members': {
    body: (_things, { guest }) => ({ email: guest.email, role: 'guest' }),
    optional: ['role'],
  },
  'DELETE /api/workspaces/:workspaceId/members/:userId': {},
  'GET /api/workspaces/:workspaceId/squads': {},
  'POST /api/workspaces/:workspaceId/squads': { body: () => ({ name: 'Crew' }) },
  'DELETE /api/squads/:squadId': {},
  'POST /api/squads/:squadId/members': {
    body: (_things, { guest }) => ({ userId: guest.id, role: 'member' }),
    optional: ['role'],
  },
  'DELETE /api/squads/:squadId/members/:userId': {},
  'POST /api/squads/:squadId/invitations': {
    body: (_things, { guest }) => ({ userId: guest.id }),
  },
  'POST /api/squad-invitations/:id/accept': {},
  'GET /api/squads/:squadId/archives': {},
  'POST /api/squads/:squadId/archives': { body: () => ({ name: 'Notes' }) },
  'PUT /api/archives/:id/name': { id: 'archiveId', body: () => ({ name: 'Notes' }) },
  'DELETE /api/archives/:id': { id: 'archiveId' },
  'GET /api/archives/:id/documents': { id: 'archiveId' },
  'POST /api/archives/:id/documents': {
    id: 'archiveId',
    body: ({ documentId }) => ({ title: 'T', html: '<p>', parentId: documentId }),
    optional: ['html', 'parentId'],
    nullable: ['parentId'],
  },
  'GET /api/documents/:id': { id: 'documentId' },
  'PUT /api/documents/:id': { id: 'documentId', body: () => ({ html: '<p>' }) },
  'DELETE /api/documents/:id': { id: 'documentId' },
  'PUT /api/documents/:id/title': { id: 'documentId', body: () => ({ title: 'T' }) },
  'PUT /api/documents/:id/parent': {
    id: 'documentId',
    body: ({ documentId }) => ({ parentId: documentId }),
    nullable: ['parentId'],
  },
  'POST /api/documents/:id/publish': { id: 'documentId', body: () => ({ title: 'T' }) },
  'POST /api/documents/:id/restore': {
    id: 'documentId',
    body: ({ versionId }) => ({ versionId }),
  },
  'GET /api/documents/:id/versions': { id: 'documentId' },
  'DELETE /api/versions/:id': { id: 'versionId' },
  'GET /api/documents/:id/comments': { id: 'documentId' },
  'POST /api/documents/:id/comments': {
    id: 'documentId',
    body: ({ commentId }) => ({ body: 'Text', parentId: commentId }),
    optional: ['parentId'],
    nullable: ['parentId'],
  },
  'PUT /api/comments/:id': { id: 'commentId', body: () => ({ body: 'Text' }) },
  'DELETE /api/comments/:id': { id: 'commentId' },
  'POST /api/comments/:id/resolve': { id: 'commentId' },
  'POST /api/comments/:id/reopen': { id: 'commentId' },
  'GET /api/notifications': {},
  'GET /api/notifications/unread-count': {},
  'GET /api/notifications/stream': {},
  'POST /api/notifications/read-all': {},
  'POST /api/notifications/:id/read': {},
  'GET /api/notification-preferences': {},
  'PUT /api/notification-preferences': {
    body: () => ({ preferences: { mention: { email: true } } }),
  },
  'GET /api/watches': {},
  'POST /api/watches': {
    body: ({ documentId }) => ({
      resourceType: 'log',
      resourceId: String(documentId),
      level: 'watching',
    }),
    optional: ['level'],
  },
  'GET /api/watches/:type/:id': { id: 'documentId', isForgiving: true },
  'DELETE /api/watches/:type/:id': { id: 'documentId', isForgiving: true },
  'GET /api/activity': {},
  'GET /api/webhooks': {},
  'POST /api/webhooks': {
    body: ({ workspaceId }) => ({
      url: 'https://receiver.example/hook',
      workspaceId,
      eventTypes: ['log.update'],
      name: 'Mirror',
    }),
    optional: ['eventTypes', 'name'],
    // Without a workspace it is of every one, which an owner of one may not: webhooks.test.ts.
    nullable: ['workspaceId', 'eventTypes', 'name'],
  },
  'GET /api/webhooks/:id': { id: 'webhookId' },
  'PUT /api/webhooks/:id': {
    id: 'webhookId',
    body: () => ({ url: 'https://receiver.example/hook', eventTypes: ['log.update'], name: 'M' }),
    nullable: ['eventTypes', 'name'],
  },
  'DELETE /api/webhooks/:id': { id: 'webhookId' },
  'POST /api/webhooks/:id/disable': {
    id: 'webhookId',
    body: () => ({ reason: 'moves' }),
    optional: ['reason'],
  },
  'POST /api/webhooks/:id/enable': { id: 'webhookId' },
  'POST /api/webhooks/:id/rotate': {
    id: 'webhookId',
    body: () => ({ keepOld: true }),
    optional: ['keepOld'],
  },
  'GET /api/webhooks/:id/deliveries': { id: 'webhookId' },
  'POST /api/webhooks/:id/test': { id: 'webhookId' },
  'POST /api/webhooks/:id/replay': { id: 'webhookId', body: () => ({ fromSequence: 1 }) },
  'POST /api/webhook-deliveries/:id/redeliver': { id: 'deliveryId' },
  'POST /api/webhook-deliveries/:id/skip': { id: 'deliveryId' },
  'GET /api/webhook-changes': {},
  'GET /api/webhook-event-types': {},
  'GET /api/unsubscribe/:token': { isOpen: true },
  'POST /api/unsubscribe/:token': { isOpen: true },
};

const UNKNOWN_ID = 987_654_321_987;
const BAD_IDS = [
  'abc',
  '0',
  '-1',
  '1.5',
  '1e3',
  '0x10',
  '%00',
  '1%00',
  '%F0%9F%9B%9F',
  '9007199254740992',
  '9223372036854775808',
  '99999999999999999999999999',
  "1'%20or%20'1'='1",
  'null',
  '%2e%2e',
];
/** The host's own keys are any text, so only these are bad there. */
const BAD_KEYS = ['%00', 'a%0Ab', 'x'.repeat(250)];
const BAD_TOKENS = ['abc', '1', '%00', '00000000-0000-0000-0000-00000000000g'];

const WRONG_FOR_TEXT = [
  null,
  7,
  1e300,
  true,
  [],
  ['x'],
  {},
  '\u0000',
  'a\u0000b',
  'a\u0007b',
  '\ud800',
  'x'.repeat(1_000_001),
];
const WRONG_FOR_ID = [
  null,
  '',
  'abc',
  -1,
  0,
  1.5,
  9007199254740992,
  1e300,
  true,
  [],
  {},
  [1],
  '\u0000',
];
const WRONG_FOR_FLAG = [null, 0, 1, 'true', '', [], {}];
const WRONG_FOR_OBJECT = [null, 7, 'x', true, [], [1], { '\u0000': 1 }, { mention: 7 }];

/** Bodies no route that takes one accepts. */
const WRONG_BODIES = ['[]', '"text"', '7', 'null', 'true', '{', '{"a":}', '\u0000', 'undefined'];

const BAD_QUERIES: Record<string, string[]> = {
  limit: ['abc', '1.5', '', '%00', 'NaN', '1&limit=2', '[]'],
  cursor: ['abc', '-1', '%00', 'MTIzOg', "'", '99999999999999999999999999', 'MTox&cursor=MTox'],
  workspaceId: ['abc', '0', '-1', '1.5', '99999999999999999999', '%00'],
  resourceType: ['%00', 'x'.repeat(250), ''],
  resourceId: ['%00', '1'],
  q: ['', '%20', '%00', 'x'.repeat(300)],
  unread: ['maybe', '1', '%00'],
  state: ['gone', '', '%00'],
  webhookId: ['abc', '0', '%00'],
};

t.test('bad input', async (t) => {
  t.setTimeout(300_000);
  const stage = await startStage(t);
  const own = await ownThings(stage);
  const before = await countRows(stage);
  const routes = listApiRoutes(stage.app);
  const parameters = await queryParameters(stage.anonymous);

  t.test('every route is in the table, and nothing else is', async (t) => {
    const names = routes.map(nameOf).sort();
    t.same(names, Object.keys(ROWS).sort());
  });

  for (const route of routes) {
    const row = ROWS[nameOf(route)] ?? {};
    t.test(nameOf(route), async (t) => {
      const attack = new Attack(t, route, row, stage, own);
      if (!row.isOpen) await attack.anonymously();
      await attack.badPaths();
      await attack.idsOfOthers();
      await attack.wrongBodies();
      await attack.badQueries(parameters.get(nameOf(route)) ?? []);
      t.same(await countRows(stage), before, 'nothing was written');
    });
  }
});

class Attack {
  readonly #t: Test;
  readonly #route: Route;
  readonly #row: Row;
  readonly #stage: Stage;
  readonly #own: Things;

  constructor(t: Test, route: Route, row: Row, stage: Stage, own: Things) {
    this.#t = t;
    this.#route = route;
    this.#row = row;
    this.#stage = stage;
    this.#own = own;
  }

  async anonymously(): Promise<void> {
    const answer = await this.#send(this.#stage.anonymous, this.#fill(this.#own), this.#body());
    this.#refused(answer, 'anonymous', [401]);
  }

  async badPaths(): Promise<void> {
    const names = [...this.#route.path.matchAll(/:([A-Za-z]+)/g)].map(([, name = '']) => name);
    const isOfWatches = this.#route.path.startsWith('/api/watches/');
    for (const name of names) {
      const bad = name === 'token' ? BAD_TOKENS : isOfWatches ? BAD_KEYS : BAD_IDS;
      for (const value of bad) {
        const path = this.#fill(this.#own, { [name]: value });
        const answer = await this.#send(this.#stage.owner, path, this.#body());
        // "%2e%2e" is a step up, so it may also be another route, or none.
        this.#refused(answer, `${name} = ${value.slice(0, 40)}`, value === '%2e%2e' ? ANY : [400]);
      }
      if (name === 'token' || this.#row.isForgiving) continue;
      const path = this.#fill(this.#own, { [name]: String(UNKNOWN_ID) });
      const answer = await this.#send(this.#stage.owner, path, this.#body());
      this.#refused(answer, `${name} of nothing`, [403, 404]);
    }
  }

  /** The stranger's ids in the owner's hands, in the path and in the body. */
  async idsOfOthers(): Promise<void> {
    const { owner, foreign } = this.#stage;
    const hasId = this.#route.path.includes(':') && !this.#route.path.includes(':token');
    if (hasId && !this.#row.isForgiving) {
      const answer = await this.#send(owner, this.#fill(foreign), this.#body());
      this.#refused(answer, 'ids of a stranger', [403, 404]);
    }
    const mine = this.#body();
    const theirs = this.#row.body?.(foreign, this.#stage);
    if (mine && theirs && JSON.stringify(mine) !== JSON.stringify(theirs)) {
      const answer = await this.#send(owner, this.#fill(this.#own), theirs);
      this.#refused(answer, 'ids of a stranger in the body', ANY);
    }
  }

  async wrongBodies(): Promise<void> {
    const { owner } = this.#stage;
    const path = this.#fill(this.#own);
    const valid = this.#body();
    if (valid === undefined) {
      if (this.#route.method === 'GET') return;
      const answer = await owner.send(
        this.#route.method,
        this.#fill(this.#stage.foreign),
        undefined,
        {
          raw: '{"broken',
        },
      );
      this.#refused(answer, 'invalid JSON where no body is needed', ANY);
      return;
    }
    for (const raw of WRONG_BODIES) {
      const answer = await owner.send(this.#route.method, path, undefined, { raw });
      this.#refused(answer, `body ${JSON.stringify(raw)}`, [400]);
    }
    const large = await this.#send(owner, path, { ...valid, padding: 'x'.repeat(2_200_000) });
    this.#refused(large, 'a body of more than 2 MB', [413]);
    const unknown = await this.#send(owner, path, { ...valid, surplus: 1 });
    this.#refused(unknown, 'an unknown field', [400]);
    const typed = await owner.send(this.#route.method, path, undefined, {
      raw: 'a=1',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    this.#refused(typed, 'a form', [415]);
    for (const field of Object.keys(valid)) await this.#wrongField(path, valid, field);
  }

  async #wrongField(path: string, valid: Values, field: string): Promise<void> {
    const { owner } = this.#stage;
    const { [field]: value, ...rest } = valid;
    if (!this.#row.optional?.includes(field)) {
      this.#refused(await this.#send(owner, path, rest), `without ${field}`, [400]);
    }
    for (const wrong of wrongFor(field, value)) {
      if (wrong === null && this.#row.nullable?.includes(field)) continue;
      const answer = await this.#send(owner, path, { ...rest, [field]: wrong });
      this.#refused(answer, `${field} = ${JSON.stringify(wrong).slice(0, 40)}`, [400]);
    }
  }

  async badQueries(names: readonly string[]): Promise<void> {
    const path = this.#fill(this.#own);
    for (const name of names) {
      for (const value of BAD_QUERIES[name] ?? []) {
        const answer = await this.#send(this.#stage.owner, `${path}?${name}=${value}`, undefined);
        this.#refused(answer, `?${name}=${value.slice(0, 40)}`, [400]);
      }
    }
  }

  #send(client: Client, path: string, body: Values | undefined): Promise<Answer> {
    return client.send(this.#route.method, path, body);
  }

  #body(): Values | undefined {
    return this.#row.body?.(this.#own, this.#stage);
  }

  #fill(things: Things, override: Record<string, string> = {}): string {
    const values: Record<string, string | number> = {
      ...things,
      id: this.#row.id ? things[this.#row.id] : UNKNOWN_ID,
      userId: this.#stage.stranger.id,
      type: 'log',
      token: '00000000-0000-4000-8000-000000000000',
      ...override,
    };
    return this.#route.path.replace(/:([A-Za-z]+)/g, (_match, name) => String(values[name]));
  }

  #refused(answer: Answer, what: string, statuses: readonly number[]): void {
    const { status, text } = answer;
    const isExpected = statuses === ANY ? status >= 400 && status < 500 : statuses.includes(status);
    const body = answer.body as { success?: unknown; error?: unknown; message?: unknown } | null;
    const isClear =
      body?.success === false &&
      /^[a-z][a-z_]+$/.test(String(body.error)) &&
      typeof body.message === 'string' &&
      body.message.length > 8 &&
      body.message.length < 1000;
    const isClean = !/\n\s+at |node_modules|pg_|SQLSTATE|syntax error/.test(text);
    this.#t.ok(isExpected && isClear && isClean, what, {
      status,
      expected: statuses === ANY ? '4xx' : statuses,
      text: text.slice(0, 500),
    });
  }
}

const ANY: readonly number[] = [];

const PASSWORDS = ['password', 'currentPassword'];

function wrongFor(field: string, value: unknown): readonly unknown[] {
  // A key of the host may be a number, and "abc" is a key like any other.
  if (field === 'resourceId') return [null, '', -1, 1.5, 1e300, true, [], {}, '\u0000'];
  if (typeof value === 'number') return WRONG_FOR_ID;
  if (typeof value === 'boolean') return WRONG_FOR_FLAG;
  if (typeof value === 'object') return WRONG_FOR_OBJECT;
  // A password is only ever compared, so any text may be one.
  const wrong = PASSWORDS.includes(field) ? WRONG_FOR_TEXT.filter(isNoShortText) : WRONG_FOR_TEXT;
  const mayBeBlank = field === 'html';
  return mayBeBlank ? wrong : [...wrong, ''];
}

function isNoShortText(value: unknown): boolean {
  return typeof value !== 'string' || value.length > 1000;
}

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`;
}

/** The owner's own things: bad input beside good ids must fail for the input, not for the ids. */
async function ownThings(stage: Stage): Promise<Things> {
  const { owner, workspaceId, squadId, archiveId } = stage;
  await createDocument(owner, archiveId, 'Another');
  return {
    workspaceId,
    squadId,
    archiveId,
    ...(await fillTree(owner, archiveId)),
    ...(await createWebhook(owner, workspaceId)),
  };
}

/** The query parameters of each route, out of its own description. */
async function queryParameters(client: Client): Promise<Map<string, string[]>> {
  type Operation = { parameters?: { in: string; name: string }[] };
  const result = new Map<string, string[]>();
  const description = await client.get('/docs/json');
  const paths = description.pick<Record<string, Record<string, Operation>>>('paths');
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const names = (operation.parameters ?? [])
        .filter((parameter) => parameter.in === 'query')
        .map((parameter) => parameter.name);
      const route = path.replace(/\{archiveId\}/g, ':id').replace(/\{([A-Za-z]+)\}/g, ':$1');
      result.set(`${method.toUpperCase()} ${route}`, names);
    }
  }
  return result;
}

/** Rows of every table, but for the sessions' times: those are touched by being used. */
async function countRows(stage: Stage): Promise<Record<string, number>> {
  const { rows } = await stage.database.admin.query<{ name: string; count: number }>(
    `select format('%I.%I', schemaname, tablename) as name,
            (xpath('/row/count/text()', query_to_xml(
              format('select count(*) from %I.%I', schemaname, tablename), false, true, '')
            ))[1]::text::int as count
       from pg_tables where schemaname in ('bellwire', 'suite', 'identity')
        -- Attempts are counted, whatever becomes of them.
        and tablename <> 'rate_limits' order by 1`,
  );
  return Object.fromEntries(rows.map((row) => [row.name, row.count]));
}
