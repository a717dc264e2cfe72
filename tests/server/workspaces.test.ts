import t from 'tap';
import { startStage } from './support/stage.ts';

t.test('workspaces, squads and archives', async (t) => {
  const stage = await startStage(t);
  const { owner, member, guest, stranger, anonymous, workspaceId, squadId, archiveId } = stage;
  const people = `/api/workspaces/${workspaceId}/members`;

  t.test('owner', async (t) => {
    const list = await owner.get('/api/workspaces');
    t.match(list.body, {
      success: true,
      items: [{ id: workspaceId, name: 'Harbour', role: 'owner' }],
      nextCursor: null,
    });
    const members = await owner.get(people);
    t.equal(members.pick<unknown[]>('items').length, 3);
    t.match(members.body, { items: [{ userId: Number, name: String, email: /@/, role: String }] });

    const squad = await owner.post(`/api/workspaces/${workspaceId}/squads`, { name: 'Pilots' });
    t.equal(squad.status, 201);
    const id = squad.pick<number>('squad.id');
    t.match(squad.body, { squad: { workspaceId, name: 'Pilots' } });

    const invited = await owner.post(`/api/squads/${id}/invitations`, { userId: member.id });
    t.equal(invited.status, 201);
    t.match(invited.body, { invitation: { squadId: id, userId: member.id } });
    const invitation = `/api/squad-invitations/${invited.pick('invitation.id')}/accept`;
    t.equal((await guest.post(invitation)).status, 404, 'not the guest’s to accept');
    t.match((await member.post(invitation)).body, { member: { userId: member.id } });

    t.equal((await owner.delete(`/api/squads/${id}/members/${member.id}`)).status, 200);
    t.equal((await owner.delete(`/api/squads/${id}`)).status, 200);
    t.equal((await owner.delete(`/api/squads/${id}`)).status, 404);

    const added = await owner.post(people, { email: guest.email, role: 'guest' });
    t.ok([201, 409].includes(added.status), 'adding twice changes the role or is a conflict');
    t.equal((await owner.post(people, { email: 'nobody@example.org' })).status, 404);
  });

  t.test('owner keeps archives', async (t) => {
    const made = await owner.post(`/api/squads/${squadId}/archives`, { name: 'Buoys' });
    t.equal(made.status, 201);
    const id = made.pick<number>('archive.id');
    t.match(made.body, { archive: { squadId, name: 'Buoys', createdBy: owner.id } });
    const renamed = await owner.put(`/api/archives/${id}/name`, { name: 'Lights' });
    t.match(renamed.body, { success: true, archive: { id, name: 'Lights' } });

    const first = await owner.get(`/api/squads/${squadId}/archives?limit=1`);
    t.match(first.body, { items: [{ id: archiveId }], nextCursor: String });
    const rest = await owner.get(
      `/api/squads/${squadId}/archives?limit=1&cursor=${first.pick('nextCursor')}`,
    );
    t.match(rest.body, { items: [{ id, name: 'Lights' }], nextCursor: null });
    t.equal((await owner.delete(`/api/archives/${id}`)).status, 200);
    t.equal((await owner.put(`/api/archives/${id}/name`, { name: 'Gone' })).status, 404);
  });

  t.test('member sees the squad and cannot manage the workspace', async (t) => {
    t.match((await member.get(`/api/workspaces/${workspaceId}/squads`)).body, {
      items: [{ id: squadId }],
    });
    t.equal((await member.post(people, { email: stranger.email })).status, 403);
    t.equal((await member.delete(`${people}/${owner.id}`)).status, 403);
    t.equal((await member.delete(`/api/squads/${squadId}`)).status, 403);
  });

  t.test('guest sees the workspace and not the squad', async (t) => {
    t.match((await guest.get('/api/workspaces')).body, {
      items: [{ id: workspaceId, role: 'guest' }],
    });
    t.match((await guest.get(`/api/workspaces/${workspaceId}/squads`)).body, { items: [] });
    t.equal((await guest.get(`/api/squads/${squadId}/archives`)).status, 404);
    t.ok(
      (await guest.post(`/api/workspaces/${workspaceId}/squads`, { name: 'Mine' })).status >= 400,
    );
  });

  t.test('stranger finds nothing', async (t) => {
    t.equal((await stranger.get(`/api/workspaces/${workspaceId}/squads`)).status, 404);
    t.equal((await stranger.get(people)).status, 404);
    t.equal((await stranger.get(`/api/squads/${squadId}/archives`)).status, 404);
    t.equal((await stranger.delete(`/api/archives/${archiveId}`)).status, 404);
    t.equal((await stranger.post(people, { email: stranger.email })).status, 404);
  });

  t.test('anonymous is asked to sign in', async (t) => {
    const answer = await anonymous.get('/api/workspaces');
    t.equal(answer.status, 401);
    t.match(answer.body, { success: false, error: 'unauthenticated', message: String });
  });

  t.test('owner removes a member, who then sees nothing', async (t) => {
    t.equal((await owner.delete(`${people}/${member.id}`)).status, 200);
    t.match((await member.get('/api/workspaces')).body, { items: [] });
  });
});
