import { createHash, randomBytes } from 'node:crypto';
import t from 'tap';
import { createStage, PASSWORD_HASH, refused, type Stage } from '../fixtures.ts';

const digest = (token = randomBytes(48).toString('base64url')) =>
  createHash('sha256').update(token).digest('hex');

const open = (stage: Stage, person: number | null, tokenDigest: string | null, agent = 'test') =>
  stage.byServer('select * from identity.open_session($1, $2, $3, $4, $5)', [
    person,
    tokenDigest,
    'password',
    '127.0.0.1',
    agent,
  ]);

const authenticate = (stage: Stage, tokenDigest: string | null) =>
  stage.byServer('select * from identity.authenticate($1)', [tokenDigest]);

const deactivate = (stage: Stage, person: number) =>
  stage.look('update bellwire.users set deactivated_at = now() where id = $1', [person]);

t.test('a session is opened, recognised and closed', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const [mine, other] = [digest(), digest()];
  await open(stage, member, mine);
  await open(stage, member, other);
  t.match(await authenticate(stage, mine), [
    { user_id: member, name: 'Mats Member', email: 'mats.member@example.org', is_admin: false },
  ]);
  t.strictSame(
    await stage.look(
      `select round(extract(epoch from expires_at - now()) / 3600)::integer as hours
       from identity.sessions where token_digest = $1`,
      [mine],
    ),
    [{ hours: 168 }],
    'a week, as the setting says',
  );
  const close = 'select identity.close_session($1) as ended';
  t.strictSame(await stage.byServer(close, [mine]), [{ ended: mine }]);
  t.strictSame(await stage.byServer(close, [mine]), []);
  t.strictSame(await authenticate(stage, mine), []);
  t.equal((await authenticate(stage, other)).length, 1, 'the other one is still open');
});

t.test('only a SHA-256 digest is taken', async (t) => {
  const stage = await createStage(t);
  for (const bad of ['token', '', digest().toUpperCase(), `${digest()}0`, digest().slice(1)]) {
    await refused(t, open(stage, stage.people.member, bad), { code: '23514' }, JSON.stringify(bad));
  }
  await refused(t, open(stage, stage.people.member, null), { code: '23502' }, 'none');
  const taken = digest();
  await open(stage, stage.people.member, taken);
  await refused(t, open(stage, stage.people.guest, taken), { code: '23505' }, 'twice');
  t.strictSame(await authenticate(stage, null), []);
  t.strictSame(await authenticate(stage, ''), []);
});

t.test('what is long is cut, not refused', async (t) => {
  const stage = await createStage(t);
  await open(stage, stage.people.member, digest(), 'x'.repeat(5000));
  t.equal(await stage.value('select length(user_agent) from identity.sessions'), 400);
});

t.test('an expired session is none', async (t) => {
  const stage = await createStage(t);
  const [live, expired] = [digest(), digest()];
  await open(stage, stage.people.member, live);
  await open(stage, stage.people.member, expired);
  await stage.look(
    "update identity.sessions set expires_at = now() - interval '1 s' where token_digest = $1",
    [expired],
  );
  t.strictSame(await authenticate(stage, expired), []);
  t.equal((await authenticate(stage, live)).length, 1);
  t.strictSame(
    await stage.byServer('select * from identity.live_sessions($1) as token_digest', [
      [live, expired, digest()],
    ]),
    [{ token_digest: live }],
    'of those asked for, the live ones',
  );
  const pruned = await stage.byWorker('select * from bellwire.prune(100)');
  t.match(
    pruned.find((row) => row.what === 'sessions'),
    { deleted: 1 },
  );
  t.equal((await authenticate(stage, live)).length, 1);
});

t.test('the deactivated have no session and open none', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const mine = digest();
  await open(stage, member, mine);
  await deactivate(stage, member);
  t.strictSame(await authenticate(stage, mine), []);
  t.strictSame(await stage.byServer('select * from identity.live_sessions($1)', [[mine]]), []);
  await refused(t, open(stage, member, digest()), { code: '42501' }, 'deactivated');
  await refused(t, open(stage, 987654, digest()), { code: '42501' }, 'unknown');
  await refused(t, open(stage, null, digest()), { code: '42501' }, 'nobody');
  t.strictSame(await stage.by(member, 'select id from api.documents'), [], 'and read nothing');
  t.strictSame(await stage.by(member, 'select * from api.me()'), []);
});

t.test('credentials: by address in any case, of the active', async (t) => {
  const stage = await createStage(t);
  const { member } = stage.people;
  const find = (email: string | null) =>
    stage.byServer('select * from identity.find_credentials($1)', [email]);
  const expected = [{ user_id: member, password_hash: PASSWORD_HASH }];
  t.strictSame(await find('mats.member@example.org'), expected);
  t.strictSame(await find('MATS.Member@Example.ORG'), expected);
  for (const email of ['nobody@example.org', '', null, '%@example.org', "' or true --"]) {
    t.strictSame(await find(email), [], JSON.stringify(email));
  }
  await deactivate(stage, member);
  t.strictSame(await find('mats.member@example.org'), []);
});

t.test('a user: one account per address, a hash and nothing else', async (t) => {
  const stage = await createStage(t);
  const create = (email: string, hash: string) =>
    stage.byAdministrator('select identity.create_user($1, $2, $3)', ['New', email, hash]);
  await refused(t, create('MATS.member@example.org', PASSWORD_HASH), { code: '23505' }, 'taken');
  for (const hash of ['secret', '', '$2b$10$abc', '$argon2i$v=19$x']) {
    await refused(t, create('new@example.org', hash), { code: '23514' }, `hash ${hash}`);
  }
  await refused(t, create('no address', PASSWORD_HASH), { code: '23514' }, 'no address');
  t.equal(await stage.value("select count(*) from bellwire.users where name = 'New'"), 0);
});

t.test('a session is noted as in use once a minute, and never waited for', async (t) => {
  const stage = await createStage(t);
  const mine = digest();
  await open(stage, stage.people.member, mine);
  const touch = () => stage.byServer('select identity.touch_session($1)', [mine]);
  const seen = (condition: string) =>
    stage.value<boolean>(`select ${condition} from identity.sessions`);
  const isStale = async () => (await authenticate(stage, mine))[0]?.is_stale;
  await stage.look("update identity.sessions set last_seen_at = now() - interval '50 s'");
  t.equal(await isStale(), false);
  await touch();
  t.ok(await seen("last_seen_at < now() - interval '40 s'"), 'not yet');
  await stage.look("update identity.sessions set last_seen_at = now() - interval '70 s'");
  t.equal(await isStale(), true);
  const holder = await stage.database.admin.connect();
  await holder.query('begin; select from identity.sessions for update');
  await touch();
  await holder.query('rollback');
  holder.release();
  t.ok(await seen("last_seen_at < now() - interval '60 s'"), 'passed over while it is locked');
  await touch();
  t.ok(await seen("last_seen_at > now() - interval '10 s'"));
});

t.test('people see and end their own sessions', async (t) => {
  const stage = await createStage(t);
  const { member, guest } = stage.people;
  const [mine, other, third, foreign] = [digest(), digest(), digest(), digest()];
  for (const [person, each] of [
    [member, mine],
    [member, other],
    [member, third],
    [guest, foreign],
  ] as const) {
    await open(stage, person, each);
  }
  await stage.look(
    "update identity.sessions set expires_at = 'yesterday' where token_digest = $1",
    [third],
  );
  const list = async (person: number) =>
    stage.by(person, 'select id, ip, user_agent, is_current from api.list_sessions($1)', [mine]);
  const listed = await list(member);
  t.strictSame(
    listed.map((row) => [row.ip, row.user_agent, row.is_current]).sort(),
    [
      ['127.0.0.1', 'test', false],
      ['127.0.0.1', 'test', true],
    ],
    'the live ones',
  );
  const [theirs] = await list(guest);
  const end = (id: unknown) => stage.by(member, 'select api.end_session($1) as ended', [id]);
  await refused(t, end(theirs?.id), { code: 'P0002' }, "somebody else's");
  t.strictSame(await end(listed.find((row) => !row.is_current)?.id), [{ ended: other }]);
  await open(stage, member, other);
  const all = 'select * from api.end_sessions($1) as ended';
  t.strictSame(
    (await stage.by(member, all, [mine])).map((row) => row.ended).sort(),
    [other, third].sort(),
  );
  t.equal((await authenticate(stage, mine)).length, 1, 'this one is kept');
  t.strictSame(await stage.by(member, all, [null]), [{ ended: mine }]);
  t.equal((await authenticate(stage, foreign)).length, 1);
});

t.test("sign-in is the server's alone", async (t) => {
  const stage = await createStage(t);
  const forbidden = { code: '42501' };
  for (const sql of [
    "select identity.find_credentials('mats.member@example.org')",
    `select identity.authenticate('${digest()}')`,
    `select identity.open_session(1, '${digest()}', 'password', null, null)`,
    `select identity.close_session('${digest()}')`,
    "select identity.live_sessions('{}')",
    "select identity.create_user('x', 'x@example.org', 'x')",
    'select from identity.passwords',
    'select from identity.sessions',
  ]) {
    await refused(t, stage.by(stage.people.owner, sql), forbidden, `a person: ${sql}`);
    await refused(t, stage.byAnonymous(sql), forbidden, `nobody: ${sql}`);
    await refused(t, stage.byWorker(sql), forbidden, `the worker: ${sql}`);
  }
  for (const table of ['identity.passwords', 'identity.sessions']) {
    await refused(
      t,
      stage.byServer(`select from ${table}`),
      forbidden,
      `the server reads ${table}`,
    );
    await refused(
      t,
      stage.byAdministrator(`select from ${table}`),
      forbidden,
      `an administrator, ${table}`,
    );
  }
});
