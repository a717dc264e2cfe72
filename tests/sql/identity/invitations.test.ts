import t from 'tap';
import { untilBlocked } from '../concurrency/parallel.ts';
import { createStage, type People, type Row, refused, type Stage } from '../fixtures.ts';
import { expire, holdServer, newDigest, newHash } from './support.ts';

interface Wish {
  email?: string;
  workspaceId?: number | null;
  role?: string | null;
  squadId?: number | null;
  squadRole?: string | null;
  digest?: string;
}

const NEW = 'nora.new@example.org';
const INVITE = 'select * from identity.invite($1, $2, $3, $4, $5, $6, $7)';
const CREATE = 'select identity.create_account($1, $2, $3) as id';
const ACCEPT = 'select * from identity.accept_invitation($1, $2)';

function invite(stage: Stage, person: number, wish: Wish = {}): Promise<Row[]> {
  const workspaceId = wish.workspaceId === undefined ? stage.workspaceId : wish.workspaceId;
  return stage.byServer(INVITE, [
    person,
    wish.email ?? NEW,
    workspaceId,
    wish.role === undefined ? (workspaceId === null ? null : 'member') : wish.role,
    wish.squadId ?? null,
    wish.squadRole ?? null,
    wish.digest ?? newDigest(),
  ]);
}

async function createAccount(stage: Stage, digest: string, name = 'Nora New') {
  const [row] = await stage.byServer(CREATE, [digest, name, newHash()]);
  return row?.id as number;
}

const roleOf = (stage: Stage, person: number, workspaceId = stage.workspaceId) =>
  stage.look('select role from suite.workspace_members where user_id = $1 and workspace_id = $2', [
    person,
    workspaceId,
  ]);

const makeAdmin = (stage: Stage, person: number) =>
  stage.look('update bellwire.users set is_admin = true where id = $1', [person]);

const GONE = { code: 'P0002', detail: 'invitation_gone' };

t.test('who may invite, and to what', async (t) => {
  const stage = await createStage(t);
  const may: Record<string, (keyof People)[]> = {};
  const roles = ['owner', 'admin', 'member', 'guest'];
  for (const role of roles) {
    for (const [persona, person] of Object.entries(stage.people)) {
      const made = await invite(stage, person, { role }).catch((error) => {
        if (!['42501', 'P0002'].includes(error.code)) throw error;
        return [];
      });
      if (made.length > 0) may[role] = [...(may[role] ?? []), persona as keyof People];
    }
  }
  t.strictSame(may, {
    owner: ['owner'],
    admin: ['owner', 'admin'],
    member: ['owner', 'admin'],
    guest: ['owner', 'admin'],
  });
  const { owner, admin, stranger } = stage.people;
  await refused(t, invite(stage, stranger), { code: 'P0002' }, 'a stranger sees no workspace');
  await refused(t, invite(stage, admin, { role: 'chief' }), { code: '22023' }, 'no such role');
  await refused(t, invite(stage, admin, { role: null }), { code: '22023' }, 'none');
  await refused(t, invite(stage, owner, { workspaceId: null }), { code: '42501' }, 'installation');
  await makeAdmin(stage, stranger);
  t.match(await invite(stage, stranger, { workspaceId: null }), [{ workspace_id: null }]);
  await refused(t, invite(stage, stranger), { code: 'P0002' }, 'it opens no workspace');
  const taken = { workspaceId: null, email: 'MATS.member@example.org' };
  await refused(t, invite(stage, stranger, taken), { code: '23505' }, 'there is an account');
  await refused(
    t,
    invite(stage, stranger, { workspaceId: null, role: 'member' }),
    { code: '22023' },
    'a role in nothing',
  );
  await stage.look('update bellwire.users set deactivated_at = now() where id = $1', [admin]);
  await refused(t, invite(stage, admin), { code: '28000' }, 'deactivated');
});

t.test('a squad comes with its workspace', async (t) => {
  const stage = await createStage(t);
  const { owner, stranger } = stage.people;
  const [foreign] = await stage.by(stranger, 'select id from api.create_squad($1, $2)', [
    stage.strangerWorkspaceId,
    'Band',
  ]);
  const to = (squadId: number, squadRole: string | null) =>
    invite(stage, owner, { squadId, squadRole });
  await refused(t, to(foreign?.id as number, 'member'), { code: 'P0002' }, 'of another workspace');
  await refused(t, to(stage.squadId, 'admin'), { code: '22023' }, 'no role of squads');
  await refused(t, to(stage.squadId, null), { code: '22023' }, 'no role');
  const digest = newDigest();
  await invite(stage, owner, { digest, squadId: stage.squadId, squadRole: 'lead', role: 'guest' });
  t.match(await stage.byServer('select * from identity.look_up_invitation($1)', [digest]), [
    {
      email: NEW,
      workspace_name: 'Harbour',
      role: 'guest',
      squad_name: 'Crew',
      invited_by: 'Olga Owner',
      has_account: false,
    },
  ]);
  let nora = 0;
  const entries = await stage.recorded(async () => {
    nora = await createAccount(stage, digest);
  });
  t.match(entries, [{ action: 'squad.member_join', actor_id: nora }], 'it is their own doing');
  t.match(await roleOf(stage, nora), [{ role: 'guest' }]);
  t.strictSame(
    await stage.look('select role from suite.squad_members where user_id = $1', [nora]),
    [{ role: 'lead' }],
  );
  t.match(
    await stage.look('select name, email, is_admin from bellwire.users where id = $1', [nora]),
    [{ name: 'Nora New', email: NEW, is_admin: false }],
  );
});

t.test('a squad that went leaves the invitation to the workspace', async (t) => {
  const stage = await createStage(t);
  const { owner } = stage.people;
  const digest = newDigest();
  await invite(stage, owner, { digest, squadId: stage.squadId, squadRole: 'member' });
  await stage.by(owner, 'select api.delete_squad($1)', [stage.squadId]);
  t.match(await roleOf(stage, await createAccount(stage, digest)), [{ role: 'member' }]);
});

t.test('a token is good once, until it is renewed, taken back or too old', async (t) => {
  const stage = await createStage(t);
  const { owner, admin, member, stranger } = stage.people;
  const [first, second] = [newDigest(), newDigest()];
  const [made] = await invite(stage, owner, { digest: first });
  const [renewed] = await invite(stage, admin, { digest: second, email: NEW.toUpperCase() });
  t.equal(renewed?.id, made?.id, 'one open invitation per address and workspace');
  await refused(t, createAccount(stage, first), GONE, 'renewed');
  const revoke = (person: number) =>
    stage.by(person, 'select api.revoke_invitation($1)', [made?.id]);
  await refused(t, revoke(member), { code: 'P0002' }, 'a member does not see it');
  await refused(t, revoke(stranger), { code: 'P0002' }, 'nor a stranger');
  await revoke(owner);
  await refused(t, revoke(owner), { code: 'P0002' }, 'again');
  await refused(t, createAccount(stage, second), GONE, 'taken back');

  const [third, fourth] = [newDigest(), newDigest()];
  await invite(stage, owner, { digest: third });
  await expire(stage, 'identity.invitations');
  await refused(t, createAccount(stage, third), GONE, 'too old');
  await invite(stage, owner, { digest: fourth });
  await createAccount(stage, fourth);
  await refused(t, createAccount(stage, fourth), GONE, 'used');
  t.equal(
    await stage.value('select count(*) from bellwire.users where name = $1', ['Nora New']),
    1,
  );
});

t.test('accepted twice at once, it makes one account', async (t) => {
  const stage = await createStage(t);
  const digest = newDigest();
  await invite(stage, stage.people.owner, { digest });
  const first = await holdServer(stage);
  await first.query(CREATE, [digest, 'Nora New', newHash()]);
  const second = createAccount(stage, digest, 'Nora Again').catch((error: unknown) => error);
  await untilBlocked(stage);
  await first.end('commit');
  t.match(await second, GONE);
  t.strictSame(await stage.look("select name from bellwire.users where name like 'Nora%'"), [
    { name: 'Nora New' },
  ]);
});

t.test('nothing of an account is left when its creation fails', async (t) => {
  const stage = await createStage(t);
  const digest = newDigest();
  await invite(stage, stage.people.owner, { digest });
  await refused(t, stage.byServer(CREATE, [digest, 'Nora', 'plain']), { code: '23514' }, 'no hash');
  t.equal(await stage.value("select count(*) from bellwire.users where name = 'Nora'"), 0);
  t.match(await roleOf(stage, await createAccount(stage, digest)), [{ role: 'member' }]);
});

t.test('who has an account accepts with it, and nobody else', async (t) => {
  const stage = await createStage(t);
  const { member, outsider, stranger } = stage.people;
  const digest = newDigest();
  const email = 'OTTO.outsider@example.org';
  await stage.by(stranger, 'select * from api.create_squad($1, $2)', [
    stage.strangerWorkspaceId,
    'Band',
  ]);
  await invite(stage, stranger, { workspaceId: stage.strangerWorkspaceId, email, digest });
  const [known] = await stage.byServer('select * from identity.look_up_invitation($1)', [digest]);
  t.equal(known?.has_account, true);
  await refused(
    t,
    createAccount(stage, digest),
    { code: '23505', detail: 'account_exists' },
    'two',
  );
  await refused(
    t,
    stage.byServer(ACCEPT, [member, digest]),
    { code: '42501', detail: 'other_address' },
    'a link that was passed on',
  );
  t.match(await stage.byServer(ACCEPT, [outsider, digest]), [
    { workspace_id: stage.strangerWorkspaceId, squad_id: null },
  ]);
  t.match(await roleOf(stage, outsider, stage.strangerWorkspaceId), [{ role: 'member' }]);
  t.match(await roleOf(stage, outsider), [{ role: 'member' }], 'a member of two workspaces');
  await refused(t, stage.byServer(ACCEPT, [outsider, digest]), GONE, 'again');
  await refused(
    t,
    invite(stage, stranger, { workspaceId: stage.strangerWorkspaceId, email }),
    { code: '23505', detail: 'already_member' },
    'a member',
  );
});

t.test('whoever is a member by then keeps their role', async (t) => {
  const stage = await createStage(t);
  const { owner } = stage.people;
  const [digest, other] = [newDigest(), newDigest()];
  await invite(stage, owner, { digest, role: 'guest' });
  await makeAdmin(stage, owner);
  await invite(stage, owner, { workspaceId: null, digest: other });
  const nora = await createAccount(stage, other);
  await stage.by(owner, 'select api.add_workspace_member($1, $2, $3)', [
    stage.workspaceId,
    NEW,
    'admin',
  ]);
  await stage.byServer(ACCEPT, [nora, digest]);
  t.match(await roleOf(stage, nora), [{ role: 'admin' }]);
});

t.test('the deactivated accept nothing', async (t) => {
  const stage = await createStage(t);
  const { outsider, stranger } = stage.people;
  const digest = newDigest();
  await invite(stage, stranger, {
    workspaceId: stage.strangerWorkspaceId,
    email: 'otto.outsider@example.org',
    digest,
  });
  await stage.look('update bellwire.users set deactivated_at = now() where id = $1', [outsider]);
  await refused(t, stage.byServer(ACCEPT, [outsider, digest]), { code: '28000' }, 'accept');
  await refused(t, createAccount(stage, digest), { code: '23505' }, 'nor a second account');
});

t.test('an invitation holds as long as its sender could make it', async (t) => {
  const stage = await createStage(t);
  const { owner, admin, stranger } = stage.people;
  const demote = (role: string) =>
    stage.look('update suite.workspace_members set role = $2 where user_id = $1', [admin, role]);
  const isGood = async (digest: string) =>
    (
      await stage
        .byServer('select from identity.look_up_invitation($1)', [digest])
        .catch((error) => (error.code === 'P0002' ? [] : Promise.reject(error)))
    ).length === 1;
  const [byAdmin, toOwn, toInstallation] = [newDigest(), newDigest(), newDigest()];
  await invite(stage, admin, { digest: byAdmin });
  await demote('owner');
  await invite(stage, admin, { digest: toOwn, role: 'owner', email: 'own@example.org' });
  await makeAdmin(stage, stranger);
  await invite(stage, stranger, { digest: toInstallation, workspaceId: null });
  const good = async () => [
    await isGood(byAdmin),
    await isGood(toOwn),
    await isGood(toInstallation),
  ];
  t.strictSame(await good(), [true, true, true]);
  await demote('admin');
  t.strictSame(await good(), [true, false, true], 'an admin makes no owner');
  await demote('member');
  t.strictSame(await good(), [false, false, true], 'a member invites nobody');
  await demote('owner');
  t.strictSame(await good(), [true, true, true]);
  await stage.look('update bellwire.users set deactivated_at = now() where id = any ($1)', [
    [admin, stranger],
  ]);
  t.strictSame(await good(), [false, false, false], 'nor do the deactivated');
  await stage.look('update bellwire.users set deactivated_at = null, is_admin = false');
  t.strictSame(await good(), [true, true, false], 'nor who administrates no longer');
  await stage.by(owner, 'select api.remove_workspace_member($1, $2)', [stage.workspaceId, admin]);
  t.strictSame(await good(), [false, false, false], 'nor who left');
});

t.test('a person sends so many in a day, renewals among them', async (t) => {
  const stage = await createStage(t);
  const { owner, admin } = stage.people;
  await stage.set('invitations_a_day', 3);
  const limit = { code: '54000', detail: 'invitation_limit' };
  await invite(stage, owner);
  await invite(stage, owner);
  await invite(stage, owner, { email: 'two@example.org' });
  await refused(t, invite(stage, owner, { email: 'three@example.org' }), limit, 'the fourth');
  t.equal((await invite(stage, admin, { email: 'four@example.org' })).length, 1, 'somebody else');
  await stage.look("update identity.invitations set created_at = now() - interval '25 hours'");
  t.equal((await invite(stage, owner, { email: 'three@example.org' })).length, 1, 'tomorrow');
});

t.test('the open ones are listed for who may invite', async (t) => {
  const stage = await createStage(t);
  const { owner, admin, member, stranger } = stage.people;
  const list = (person: number, workspaceId: number | null, after = 0, count = 50) =>
    stage.by(person, 'select email, invited_by from api.list_invitations($1, $2, $3)', [
      workspaceId,
      after,
      count,
    ]);
  const [one] = await invite(stage, owner, { email: 'one@example.org' });
  await invite(stage, admin, { email: 'two@example.org' });
  await makeAdmin(stage, stranger);
  await invite(stage, stranger, { email: 'three@example.org', workspaceId: null });
  const used = newDigest();
  await invite(stage, owner, { email: 'used@example.org', digest: used });
  await createAccount(stage, used);
  const both = [
    { email: 'one@example.org', invited_by: 'Olga Owner' },
    { email: 'two@example.org', invited_by: 'Ada Admin' },
  ];
  t.strictSame(await list(admin, stage.workspaceId), both);
  t.strictSame(await list(admin, stage.workspaceId, one?.id as number), both.slice(1), 'a page');
  t.strictSame(await list(admin, stage.workspaceId, 0, 1), both.slice(0, 1));
  await refused(t, list(member, stage.workspaceId), { code: '42501' }, 'a member');
  await refused(t, list(stranger, stage.workspaceId), { code: 'P0002' }, 'a stranger');
  await refused(t, list(owner, null), { code: '42501' }, 'those to the installation');
  t.match(await list(stranger, null), [{ email: 'three@example.org' }]);
  await expire(stage, 'identity.invitations');
  t.strictSame(await list(admin, stage.workspaceId), []);
});

t.test('sign-up, where it is open', async (t) => {
  const stage = await createStage(t);
  const { stranger } = stage.people;
  const signUp = (email: string, digest = newDigest()) =>
    stage.byServer('select * from identity.sign_up($1, $2)', [email, digest]);
  t.strictSame(await signUp(NEW), [], 'closed');
  t.strictSame(await stage.byServer('select identity.is_sign_up_open() as open'), [
    { open: false },
  ]);
  await stage.set('open_sign_up', 1);
  await makeAdmin(stage, stranger);
  const [own, given] = [newDigest(), newDigest()];
  await invite(stage, stranger, { workspaceId: null, digest: given });
  t.strictSame(await signUp(NEW, own), [{ email: NEW, has_account: false }]);
  t.strictSame(await signUp(NEW), [], 'a moment ago');
  const known = 'MATS.Member@example.org';
  t.strictSame(await signUp(known), [{ email: known.toLowerCase(), has_account: true }]);
  t.strictSame(await signUp(known), [], 'a moment ago, too');
  t.match(await stage.byServer('select * from identity.look_up_invitation($1)', [given]), [
    { invited_by: 'Stan Stranger' },
  ]);
  await stage.set('open_sign_up', 0);
  await refused(t, createAccount(stage, own), GONE, 'closed meanwhile');
  await stage.set('open_sign_up', 1);
  const nora = await createAccount(stage, own);
  t.strictSame(
    await stage.look('select from suite.workspace_members where user_id = $1', [nora]),
    [],
  );
});

t.test('a switch is 0 or more, every other figure above it', async (t) => {
  const stage = await createStage(t);
  await stage.set('open_sign_up', 0);
  await refused(t, stage.set('session_hours', 0), { code: '23514' }, 'no figure');
  await refused(t, stage.set('open_sign_up', -1), { code: '23514' }, 'below');
});
