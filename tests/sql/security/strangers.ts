import type { Row, Stage } from '../fixtures.ts';
import { relationsOf, tenantOf } from './measure.ts';

/** What the stranger passes to each function of the API: things of a workspace that is not theirs. */
export async function strangersCalls(stage: Stage): Promise<Record<string, unknown[]>> {
  const { workspaceId, squadId, archiveId, documentId } = stage;
  const { member, outsider, stranger } = stage.people;
  const id = (table: string, condition: string) =>
    stage.value<number>(`select min(id) from ${table} where ${condition}`);
  const comment = await id('suite.comments', `log_id = ${documentId}`);
  const version = await id('suite.versions', `log_id = ${documentId}`);
  const notification = await id('bellwire.notifications', `workspace_id = ${workspaceId}`);
  const webhook = await id('bellwire.webhook_subscriptions', `workspace_id = ${workspaceId}`);
  const delivery = await id('bellwire.webhook_deliveries', `subscription_id = ${webhook}`);
  const invitation = await id('suite.squad_invitations', `squad_id = ${squadId}`);
  const ofAddress = await id('identity.invitations', `workspace_id = ${workspaceId}`);
  const session = await id('identity.sessions', `user_id = ${member}`);
  return {
    'api.accept_squad_invitation': [invitation],
    'api.add_squad_member': [squadId, stranger, 'member'],
    'api.add_workspace_member': [workspaceId, 'stan.stranger@example.org', 'member'],
    'api.change_webhook': [webhook, 'https://thief.example/hook', null, null],
    'api.create_archive': [squadId, 'x'],
    'api.create_comment': [documentId, 'x', comment],
    'api.create_document': [archiveId, 'x', '', documentId],
    'api.create_squad': [workspaceId, 'x'],
    'api.create_webhook': [
      'https://thief.example/hook',
      workspaceId,
      null,
      null,
      '00000000-0000-4000-8000-000000000000',
      `whsec_${'x'.repeat(43)}=`,
    ],
    'api.create_workspace': ['x'],
    'api.deactivate_user': [member],
    'api.delete_archive': [archiveId],
    'api.delete_comment': [comment],
    'api.delete_document': [documentId],
    'api.delete_squad': [squadId],
    'api.delete_version': [version],
    'api.delete_webhook': [webhook],
    'api.disable_webhook': [webhook, 'x'],
    'api.edit_comment': [comment, 'x'],
    'api.enable_webhook': [webhook],
    'api.end_session': [session],
    'api.end_sessions': [null],
    'api.invite_to_squad': [squadId, stranger],
    'api.list_activity': [workspaceId, 'log', String(documentId), null, 50],
    'api.list_invitations': [workspaceId, 0, 50],
    'api.list_members': [workspaceId],
    'api.list_notification_preferences': [],
    'api.list_notifications': [null, 50, false],
    'api.list_webhook_changes': [null, webhook, null, 50],
    'api.list_webhook_deliveries': [webhook, null, null, 50],
    'api.list_webhook_event_types': [],
    'api.list_webhooks': [workspaceId, 0, 50],
    'api.list_sessions': [null],
    'api.mark_all_notifications_read': [],
    'api.mark_notification_read': [notification],
    'api.me': [],
    'api.move_document': [documentId, null],
    'api.publish_document': [documentId, 'x'],
    'api.read_webhook': [webhook],
    'api.redeliver_webhook': [delivery],
    'api.reactivate_user': [stage.people.colleague],
    'api.remove_squad_member': [squadId, member],
    'api.remove_workspace_member': [workspaceId, outsider],
    'api.rename_account': ['x'],
    'api.rename_archive': [archiveId, 'x'],
    'api.rename_document': [documentId, 'x'],
    'api.reopen_comment': [comment],
    'api.replay_webhook': [webhook, null, 1],
    'api.resolve_comment': [comment],
    'api.restore_document': [documentId, version],
    'api.rotate_webhook_secret': [
      webhook,
      true,
      '00000000-0000-4000-8000-000000000001',
      `whsec_${'x'.repeat(43)}=`,
    ],
    'api.search_people': ['m'],
    'api.revoke_invitation': [ofAddress],
    'api.save_document': [documentId, 'x'],
    'api.second_factor_state': [],
    'api.set_notification_preferences': ['{"mention": {"email": 1}}'],
    'api.skip_webhook': [delivery],
    'api.test_webhook': [webhook],
    'api.unread_count': [],
    'api.unsubscribe': ['00000000-0000-4000-8000-000000000000'],
    'api.unwatch': ['log', String(documentId)],
    'api.watch': ['log', String(documentId), 'watching'],
    'api.watch_state': ['log', String(documentId)],
  };
}

export interface Outcome {
  /** The SQLSTATE, or what the call was good for. */
  outcome: string;
  /** Everything it gave back, as text. */
  text: string;
  /** Whether anything of the other workspace is another than before. */
  isTouched: boolean;
}

/** Calls as this person, looks what it did to the stage's workspace, and rolls back. */
export async function callAs(
  stage: Stage,
  person: number,
  name: string,
  values: unknown[],
): Promise<Outcome> {
  const fingerprint = await fingerprintQuery(stage);
  const client = await stage.database.admin.connect();
  try {
    await client.query('begin');
    const [before] = (await client.query(fingerprint)).rows as Row[];
    await client.query("select set_config('request.jwt.claims', $1, true)", [
      JSON.stringify({ sub: String(person), role: 'authenticated' }),
    ]);
    await client.query('set local role authenticated');
    const places = values.map((_, at) => `$${at + 1}`).join(', ');
    const { rows } = await client.query(`select * from ${name}(${places})`, values);
    await client.query('reset role');
    const [after] = (await client.query(fingerprint)).rows as Row[];
    return {
      outcome: rows.length === 0 ? 'no rows' : 'only their own',
      text: JSON.stringify(rows),
      isTouched: before?.print !== after?.print,
    };
  } catch (error) {
    const { code, message, detail, hint } = error as Record<string, string | undefined>;
    if (!code) throw error;
    return { outcome: code, text: [message, detail, hint].join('\n'), isTouched: false };
  } finally {
    await client.query('rollback');
    client.release();
  }
}

/** One value for everything in the stage's workspace. */
async function fingerprintQuery(stage: Stage): Promise<string> {
  const tables = (await relationsOf(stage)).filter(({ isTable }) => isTable);
  const parts = tables.map(
    (table) =>
      `select '${table.name}' as name, to_jsonb(row)::text as line from ${table.name} as row
       where ${tenantOf(table)} = ${stage.workspaceId}`,
  );
  return `select md5(string_agg(name || line, '|' order by name, line)) as print from (${parts.join(' union all ')}) as lines`;
}
