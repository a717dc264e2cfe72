import t from 'tap';
import { createStage, type Entry } from '../fixtures.ts';

function entry(actor: number, action: string, type: string, ref: number, metadata: object): Entry {
  return {
    action,
    actor_id: actor,
    type,
    ref: String(ref),
    metadata: metadata as Entry['metadata'],
  };
}

t.test('squads: invite, join, leave', async (t) => {
  const stage = await createStage(t);
  const { owner, outsider } = stage.people;
  let invitation = 0;
  const invited = await stage.recorded(async () => {
    const [row] = await stage.by(owner, 'select * from api.invite_to_squad($1, $2)', [
      stage.squadId,
      outsider,
    ]);
    invitation = row?.id as number;
  });
  const about = { user_id: outsider };
  t.strictSame(invited, [entry(owner, 'squad.invite_create', 'squad', stage.squadId, about)]);

  const twice = await stage.recorded(() =>
    stage.by(owner, 'select * from api.invite_to_squad($1, $2)', [stage.squadId, outsider]),
  );
  t.strictSame(twice, [], 'inviting twice is one invitation');

  const joined = await stage.recorded(() =>
    stage.by(outsider, 'select api.accept_squad_invitation($1)', [invitation]),
  );
  t.strictSame(joined, [entry(outsider, 'squad.member_join', 'squad', stage.squadId, about)]);

  const promoted = await stage.recorded(() =>
    stage.by(owner, 'select api.add_squad_member($1, $2, $3)', [stage.squadId, outsider, 'lead']),
  );
  t.strictSame(promoted, [], 'another role is no joining');

  const left = await stage.recorded(() =>
    stage.by(outsider, 'select api.remove_squad_member($1, $2)', [stage.squadId, outsider]),
  );
  t.strictSame(left, [entry(outsider, 'squad.member_leave', 'squad', stage.squadId, about)]);
});

t.test('the members of a squad that is deleted did not leave', async (t) => {
  const stage = await createStage(t);
  const gone = await stage.recorded(() =>
    stage.by(stage.people.owner, 'select api.delete_squad($1)', [stage.squadId]),
  );
  t.strictSame(gone, []);
  t.equal(
    await stage.value('select count(*) from suite.squad_members where squad_id = $1', [
      stage.squadId,
    ]),
    0,
  );
});

t.test('whoever is removed from the workspace leaves its squads', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  const left = await stage.recorded(() =>
    stage.by(owner, 'select api.remove_workspace_member($1, $2)', [stage.workspaceId, member]),
  );
  t.strictSame(left, [
    entry(owner, 'squad.member_leave', 'squad', stage.squadId, { user_id: member }),
  ]);
});
