import { randomBytes } from 'node:crypto';
import type { Test } from 'tap';
import { createStage, type Stage } from '../fixtures.ts';

/** Who asks: the people of the stage and one who is deactivated, then the roles that are nobody. */
export const PERSONAS = {
  anon: { role: 'anon' },
  owner: { role: 'authenticated', person: 'owner' },
  admin: { role: 'authenticated', person: 'admin' },
  member: { role: 'authenticated', person: 'member' },
  guest: { role: 'authenticated', person: 'guest' },
  outsider: { role: 'authenticated', person: 'outsider' },
  stranger: { role: 'authenticated', person: 'stranger' },
  deactivated: { role: 'authenticated', person: 'colleague' },
  service: { role: 'service' },
  server: { role: 'bellwire_server' },
  worker: { role: 'bellwire_worker' },
  authenticator: { role: 'authenticator' },
  administrator: { role: 'bellwire_admin' },
  definer: { role: 'bellwire_definer' },
  'table-owner': { role: 'bellwire_owner' },
} as const;

export type PersonaName = keyof typeof PERSONAS;

interface Tenant {
  workspaceId: number;
  squadId: number;
  archiveId: number;
  documentId: number;
  /** Its owner, and somebody whose doing the owner is told of. */
  ownerId: number;
  otherId: number;
  invitedId: number;
  remark: string;
}

/** The stage, and beside it the stranger's workspace with the same in it: rows of both in every table. */
export async function createTwoTenants(t: Test): Promise<Stage> {
  const stage = await createStage(t);
  const { owner, member, colleague, outsider, stranger } = stage.people;
  const [helper, invited] = [
    await stage.addPerson('Hanna Helper'),
    await stage.addPerson('Ines Invited'),
  ];
  const one = async (person: number, call: string, values: unknown[]) => {
    const [row] = await stage.by(person, `select id from ${call}`, values);
    return row?.id as number;
  };
  const workspaceId = stage.strangerWorkspaceId;
  for (const id of [helper, invited]) {
    await stage.look(
      'insert into suite.workspace_members (workspace_id, user_id) values ($1, $2)',
      [workspaceId, id],
    );
  }
  const squadId = await one(stranger, 'api.create_squad($1, $2)', [workspaceId, 'Band']);
  await stage.by(stranger, 'select api.add_squad_member($1, $2, $3)', [squadId, helper, 'member']);
  const archiveId = await one(stranger, 'api.create_archive($1, $2)', [squadId, 'Songs']);
  const documentId = await one(stranger, 'api.create_document($1, $2, $3, null)', [
    archiveId,
    'Tune',
    '',
  ]);

  await fill(stage, {
    workspaceId,
    squadId,
    archiveId,
    documentId,
    ownerId: stranger,
    otherId: helper,
    invitedId: invited,
    remark: 'Heard',
  });
  await fill(stage, {
    workspaceId: stage.workspaceId,
    squadId: stage.squadId,
    archiveId: stage.archiveId,
    documentId: stage.documentId,
    ownerId: owner,
    otherId: member,
    invitedId: outsider,
    remark: 'Noted',
  });
  // Somebody who has one of everything, and is then deactivated.
  await stage.watch(colleague, 'log', stage.documentId);
  await stage.comment(colleague, stage.documentId, 'Mine');
  await stage.by(colleague, `select api.set_notification_preferences('{"mention": {"email": 0}}')`);
  await stage.look('update bellwire.users set deactivated_at = now() where id = $1', [colleague]);
  await stage.look(
    `insert into bellwire.rule_failures (rule, sqlstate, message) values ('fan_out', '22012', 'x')`,
  );
  return stage;
}

/** Something of everything, through the functions an application uses where there are any. */
async function fill(stage: Stage, tenant: Tenant): Promise<void> {
  const { workspaceId, squadId, archiveId, documentId, ownerId, otherId, invitedId, remark } =
    tenant;
  await stage.byAdministrator('select bellwire.create_webhook_subscription($1, $2)', [
    `https://receiver-${workspaceId}.example/hook`,
    workspaceId,
  ]);
  await stage.watch(otherId, 'archive', archiveId);
  await stage.comment(otherId, documentId, remark);
  await stage.by(ownerId, 'select api.publish_document($1, $2)', [documentId, 'v1']);
  await stage.by(ownerId, 'select api.invite_to_squad($1, $2)', [squadId, invitedId]);
  for (const person of [ownerId, otherId]) {
    await stage.by(person, `select api.set_notification_preferences('{"mention": {"email": 0}}')`);
    await stage.byServer('select identity.open_session($1, $2, $3, null, null)', [
      person,
      randomDigest(),
      'password',
    ]);
    await fillIdentity(stage, person);
  }
  await stage.byServer("select identity.invite($1, $2, $3, 'member', $4, 'member', $5)", [
    ownerId,
    `guest-of-${workspaceId}@example.org`,
    workspaceId,
    squadId,
    randomDigest(),
  ]);
  await stage.look(
    `insert into bellwire.waiting_members (scope_type, scope_ref, user_id, role) values ('crew', 'a', $1, 'member')`,
    [otherId],
  );
  await stage.look(
    `insert into bellwire.counted_keys (workspace_id, user_id, source_key, notification_id)
     select workspace_id, user_id, 'counted', id from bellwire.notifications where workspace_id = $1 limit 1`,
    [workspaceId],
  );
  await stage.byServer("select * from identity.take_attempt('credentials', $1, 5, 60)", [
    `203.0.113.${workspaceId}`,
  ]);
  await stage.look('insert into bellwire.fan_out_queue (event) values ($1)', [
    JSON.stringify({ workspace_id: workspaceId }),
  ]);
}

/** One of everything that belongs to an account. */
async function fillIdentity(stage: Stage, person: number): Promise<void> {
  await stage.byServer('select identity.begin_second_factor($1, $2)', [person, 'A'.repeat(32)]);
  await stage.byServer('select identity.enable_second_factor($1, 1, $2)', [
    person,
    [randomDigest()],
  ]);
  await stage.look(
    `insert into identity.sign_in_steps (token_digest, user_id, expires_at)
     values ($1, $2, now() + interval '1 hour')`,
    [randomDigest(), person],
  );
  await stage.look(
    `insert into identity.email_changes (user_id, new_email, code_digest, expires_at)
     values ($1, 'new@example.org', $2, now() + interval '1 hour')`,
    [person, randomDigest()],
  );
  await stage.look(
    `insert into identity.password_resets (user_id, token_digest, expires_at)
     values ($1, $2, now() + interval '1 hour')`,
    [person, randomDigest()],
  );
}

function randomDigest(): string {
  return randomBytes(32).toString('hex');
}
