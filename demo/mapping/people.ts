import type { Account } from '../payloads.ts';
import type { Squad } from '../suite.ts';
import { plainTitle } from '../text.ts';
import type { World } from '../world.ts';
import { archiveOf, saveAboutPage } from './documents.ts';
import type { Handler } from './handler.ts';
import { SKIP } from './skips.ts';

/** An organisation is a workspace. */
export const workspaceEvents: Handler = async ({ world, payload }) => {
  const workspace = await world.workspace(payload);
  if (payload.action === 'renamed') return SKIP.workspaceName;
  if (payload.action === 'member_invited') return SKIP.workspaceInvitation;
  const { login } = (payload.membership as { user: Account }).user;
  await world.joinWorkspace(workspace, await world.accounts.person(login));
  return undefined;
};

/** A team is a squad. */
export const teamEvents: Handler = async ({ world, payload }) => {
  const team = payload.team as { id: number; name: string };
  if (payload.repository) return SKIP.shared;
  if (payload.action === 'edited') return SKIP.unchanged;
  if (payload.action === 'created') {
    await world.createTeam(await world.workspace(payload), team);
    return undefined;
  }
  const squad = await world.team(payload, team);
  if (payload.action === 'deleted') {
    await world.api.delete(squad.workspace.owner.token, `/api/squads/${squad.id}`);
    world.forgetTeam(squad, team);
    return undefined;
  }
  const person = await world.accounts.person((payload.member as Account).login);
  await world.joinSquad(squad, person);
  if (payload.action === 'removed') await world.leaveSquad(squad, person);
  return undefined;
};

/** A repository is an archive and the squad that works on it. */
export const repositoryEvents: Handler = async (replay) => {
  const { world, payload } = replay;
  if (payload.action === 'transferred') return SKIP.transfer;
  if (payload.action === 'created' && payload.repository) {
    await world.createArchive(await world.workspace(payload), payload.repository);
    return undefined;
  }
  const archive = await archiveOf(replay);
  if (payload.member) {
    const person = await world.accounts.person(payload.member.login);
    if (payload.action === 'added') await inviteCollaborator(world, archive.squad, person.name);
    else await promoteCollaborator(world, archive.squad, person.name);
  } else if (payload.action === 'renamed') {
    const name = plainTitle(payload.repository?.name, archive.name);
    const by = await world.member(archive.squad, payload.sender.login);
    await world.renameArchive(by, archive, name);
  } else {
    await saveAboutPage(replay, payload.action ?? 'made public');
  }
  return undefined;
};

/** Whoever stars or watches a repository watches the archive. */
export const starEvents: Handler = async (replay) => {
  const { world, payload } = replay;
  const archive = await archiveOf(replay);
  const { token } = await world.member(archive.squad, payload.sender.login);
  if (payload.action === 'deleted') {
    await world.api.delete(token, `/api/watches/archive/${archive.id}`);
  } else {
    await world.api.post(token, '/api/watches', {
      resourceType: 'archive',
      resourceId: archive.id,
    });
  }
  return undefined;
};

/** As on GitHub: invited, and a member once they accept. */
async function inviteCollaborator(world: World, squad: Squad, login: string): Promise<void> {
  const { owner } = squad.workspace;
  const person = await world.accounts.person(login);
  await world.joinWorkspace(squad.workspace, person);
  // The package repeats the example; nobody is added twice without having left in between.
  if (squad.memberIds.has(person.id)) await world.leaveSquad(squad, person);
  const { invitation } = await world.api.post<{ invitation: { id: number } }>(
    owner.token,
    `/api/squads/${squad.id}/invitations`,
    { userId: person.id },
  );
  world.ledger.write({ action: 'squad.invite_create', by: owner.id });
  await world.api.post(person.token, `/api/squad-invitations/${invitation.id}/accept`);
  world.ledger.write({ action: 'squad.member_join', by: person.id });
  squad.memberIds.add(person.id);
}

/** The payload says what they could do before and that it is no longer so. */
async function promoteCollaborator(world: World, squad: Squad, login: string): Promise<void> {
  const person = await world.member(squad, login);
  await world.api.post(squad.workspace.owner.token, `/api/squads/${squad.id}/members`, {
    userId: person.id,
    role: 'lead',
  });
}
