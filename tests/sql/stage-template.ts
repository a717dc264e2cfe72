import { cloneDatabase } from '../support/database.ts';
import type { ServerUrls, SetStage } from '../support/environment.ts';
import { type People, Stage } from './stage.ts';

/**
 * Sets the stage once, in a database that the tests' own are cloned from: to do it anew would take
 * each of them longer than most take to run.
 */
export async function createStageTemplate(urls: ServerUrls, template: string): Promise<SetStage> {
  const { database, close } = await cloneDatabase(urls, template);
  const stage = new Stage(database);
  await setStage(stage);
  // A database that somebody is connected to cannot be cloned.
  await close();
  const { people, workspaceId, squadId, archiveId, documentId, strangerWorkspaceId } = stage;
  return {
    template: database.name,
    ids: { people, workspaceId, squadId, archiveId, documentId, strangerWorkspaceId },
  };
}

async function setStage(stage: Stage): Promise<void> {
  const names: Record<keyof People, string> = {
    owner: 'Olga Owner',
    admin: 'Ada Admin',
    member: 'Mats Member',
    colleague: 'Cleo Colleague',
    guest: 'Gina Guest',
    outsider: 'Otto Outsider',
    stranger: 'Stan Stranger',
  };
  for (const [key, name] of Object.entries(names)) {
    stage.people[key as keyof People] = await stage.addPerson(name);
  }
  const { owner, admin, member, colleague, guest, outsider, stranger } = stage.people;

  stage.strangerWorkspaceId = await create(stage, stranger, 'api.create_workspace($1)', ['Other']);
  stage.workspaceId = await create(stage, owner, 'api.create_workspace($1)', ['Harbour']);
  for (const [id, role] of [
    [admin, 'admin'],
    [member, 'member'],
    [colleague, 'member'],
    [guest, 'guest'],
    [outsider, 'member'],
  ]) {
    await stage.by(owner, 'select api.add_workspace_member($1, $2, $3)', [
      stage.workspaceId,
      await emailOf(stage, id as number),
      role,
    ]);
  }
  stage.squadId = await create(stage, owner, 'api.create_squad($1, $2)', [
    stage.workspaceId,
    'Crew',
  ]);
  for (const [id, role] of [
    [member, 'member'],
    [colleague, 'member'],
    [guest, 'guest'],
  ]) {
    await stage.by(owner, 'select api.add_squad_member($1, $2, $3)', [stage.squadId, id, role]);
  }
  stage.archiveId = await create(stage, owner, 'api.create_archive($1, $2)', [
    stage.squadId,
    'Notes',
  ]);
  stage.documentId = await stage.createDocument(owner, 'Tides', '<p>Low at six</p>');
}

async function create(stage: Stage, person: number, call: string, values: unknown[]) {
  const [row] = await stage.by(person, `select id from ${call}`, values);
  return row?.id as number;
}

function emailOf(stage: Stage, person: number): Promise<string> {
  return stage.value('select email from bellwire.users where id = $1', [person]);
}
