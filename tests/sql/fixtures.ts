import type { Test } from 'tap';
import { createDatabase } from '../support/database.ts';
import { type People, Stage } from './stage.ts';

export {
  type Entry,
  PASSWORD_HASH,
  type People,
  type Row,
  type Stage,
  type Told,
} from './stage.ts';

export async function createStage(t: Test): Promise<Stage> {
  const database = await createDatabase(t);
  const people: People = {
    owner: 0,
    admin: 0,
    member: 0,
    colleague: 0,
    guest: 0,
    outsider: 0,
    stranger: 0,
  };
  const stage = new Stage(database, people);
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
    people[key as keyof People] = await stage.addPerson(name);
  }
  const { owner, admin, member, colleague, guest, outsider, stranger } = people;

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
  return stage;
}

async function create(stage: Stage, person: number, call: string, values: unknown[]) {
  const [row] = await stage.by(person, `select id from ${call}`, values);
  return row?.id as number;
}

function emailOf(stage: Stage, person: number): Promise<string> {
  return stage.value('select email from bellwire.users where id = $1', [person]);
}

/** Asserts that Postgres refuses with this SQLSTATE and, where given, this detail and hint. */
export async function refused(
  t: Test,
  attempt: Promise<unknown>,
  expected: { code: string; detail?: string; hint?: RegExp; message?: RegExp; constraint?: string },
  what: string,
): Promise<void> {
  await t.rejects(attempt, expected, what);
}
