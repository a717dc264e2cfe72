import t from 'tap';
import { createStage, refused, type Stage } from '../fixtures.ts';

const emailOf = (stage: Stage, person: number) =>
  stage.value<string>('select email from bellwire.users where id = $1', [person]);

async function add(stage: Stage, by: number, person: number, role: string) {
  const email = await emailOf(stage, person);
  return stage.by(by, 'select * from api.add_workspace_member($1, $2, $3)', [
    stage.workspaceId,
    email,
    role,
  ]);
}

const remove = (stage: Stage, by: number, person: number) =>
  stage.by(by, 'select api.remove_workspace_member($1, $2)', [stage.workspaceId, person]);

const roleOf = (stage: Stage, person: number) =>
  stage.value<string | null>(
    'select max(role) from suite.workspace_members where workspace_id = $1 and user_id = $2',
    [stage.workspaceId, person],
  );

t.test('an admin of a workspace makes no owner and takes none down', async (t) => {
  const stage = await createStage(t);
  const { owner, admin, member, outsider } = stage.people;
  const forbidden = { code: '42501', message: /needs the role owner/ };
  await refused(t, add(stage, admin, admin, 'owner'), forbidden, 'not themselves');
  await refused(t, add(stage, admin, member, 'owner'), forbidden, 'nor anybody else');
  await refused(t, add(stage, admin, owner, 'member'), forbidden, 'the owner stays owner');
  await refused(t, remove(stage, admin, owner), forbidden, 'and stays');
  t.equal(await roleOf(stage, owner), 'owner');
  t.equal(await roleOf(stage, admin), 'admin');

  await add(stage, admin, outsider, 'admin');
  t.equal(await roleOf(stage, outsider), 'admin', 'another admin is theirs to make');
  await remove(stage, admin, outsider);
  t.equal(await roleOf(stage, outsider), null);
});

t.test('an admin still has every squad of the workspace', async (t) => {
  const stage = await createStage(t);
  const { admin, colleague, outsider } = stage.people;
  const addToSquad = (by: number, role: string) =>
    stage.by(by, 'select api.add_squad_member($1, $2, $3)', [stage.squadId, colleague, role]);
  await addToSquad(admin, 'lead');
  await refused(t, addToSquad(outsider, 'lead'), { code: 'P0002' }, 'others do not');
});

t.test('an owner makes another one, and the last active one stays', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  const last = { code: '22023', detail: 'last_owner' };
  await refused(t, remove(stage, owner, owner), last, 'the only one');
  await add(stage, owner, member, 'owner');
  await stage.look('update bellwire.users set deactivated_at = now() where id = $1', [member]);
  await refused(t, remove(stage, owner, owner), last, 'the other has no account any more');
  await stage.look('update bellwire.users set deactivated_at = null where id = $1', [member]);
  await remove(stage, owner, owner);
  t.equal(await roleOf(stage, member), 'owner');
});
