import type { FastifyInstance } from 'fastify';
import type { Test } from 'tap';
import { type AppOptions, buildApp } from '../../../server/app.ts';
import { hashPassword } from '../../../server/passwords.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { Client } from './client.ts';

export const PASSWORD = 'correct horse battery staple';

/** A person of the stage, signed in. */
export class Person extends Client {
  readonly id: number;
  readonly name: string;
  readonly email: string;

  constructor(address: string, token: string, user: { id: number; name: string; email: string }) {
    super(address, token);
    this.id = user.id;
    this.name = user.name;
    this.email = user.email;
  }
}

/** A server over a database of its own, and the people every test has a use for. */
export interface Stage {
  database: TestDatabase;
  app: FastifyInstance;
  address: string;
  /** Owns the workspace and the squad. */
  owner: Person;
  /** Member of both. */
  member: Person;
  /** Guest of the workspace, in no squad. */
  guest: Person;
  /** Owner of another workspace, with everything of their own in it. */
  stranger: Person;
  anonymous: Client;
  workspaceId: number;
  squadId: number;
  archiveId: number;
  /** Ids of the stranger's own things. */
  foreign: Things;
}

export interface Things {
  workspaceId: number;
  squadId: number;
  archiveId: number;
  documentId: number;
  versionId: number;
  commentId: number;
  webhookId: number;
  deliveryId: number;
}

const PLENTY_OF_SIGN_INS = 10_000;

export async function startServer(
  t: Test,
  database: TestDatabase,
  options: Partial<AppOptions> = {},
): Promise<{ app: FastifyInstance; address: string }> {
  const app = await buildApp({
    databaseUrl: database.serverUrl,
    appUrl: 'http://localhost:3000',
    logLevel: process.env.LOG_LEVEL ?? 'silent',
    signInLimit: PLENTY_OF_SIGN_INS,
    ...options,
  });
  // Before the database goes: teardowns run last first.
  t.teardown(() => app.close());
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  return { app, address };
}

export async function startStage(t: Test, options: Partial<AppOptions> = {}): Promise<Stage> {
  const database = await createDatabase(t);
  const { app, address } = await startServer(t, database, options);
  const passwordHash = await hashPassword(PASSWORD);
  const join = (name: string) => createPerson(database, address, name, passwordHash);
  const owner = await join('Olga Owner');
  const member = await join('Mats Member');
  const guest = await join('Gina Guest');
  const stranger = await join('Stan Stranger');

  const own = await createTree(owner, 'Harbour');
  const inWorkspace = `/api/workspaces/${own.workspaceId}/members`;
  await owner.post(inWorkspace, { email: member.email, role: 'member' });
  await owner.post(inWorkspace, { email: guest.email, role: 'guest' });
  await owner.post(`/api/squads/${own.squadId}/members`, { userId: member.id, role: 'member' });

  const foreign = await createTree(stranger, 'Elsewhere');
  return {
    database,
    app,
    address,
    owner,
    member,
    guest,
    stranger,
    anonymous: new Client(address),
    ...own,
    foreign: {
      ...foreign,
      ...(await fillTree(stranger, foreign.archiveId)),
      ...(await createWebhook(stranger, foreign.workspaceId)),
    },
  };
}

export async function createPerson(
  database: TestDatabase,
  address: string,
  name: string,
  passwordHash: string,
): Promise<Person> {
  const email = `${name.split(' ')[0]?.toLowerCase()}@example.org`;
  await database.admin.query('select identity.create_user($1, $2, $3)', [
    name,
    email,
    passwordHash,
  ]);
  return signIn(address, email);
}

export async function signIn(address: string, email: string): Promise<Person> {
  const answer = await new Client(address).post('/api/login', { email, password: PASSWORD });
  return new Person(address, answer.pick('token'), answer.pick('user'));
}

export async function createTree(owner: Person, name: string) {
  const workspace = await owner.post('/api/workspaces', { name });
  const workspaceId = workspace.pick<number>('workspace.id');
  const squad = await owner.post(`/api/workspaces/${workspaceId}/squads`, { name: `${name} crew` });
  const squadId = squad.pick<number>('squad.id');
  const archive = await owner.post(`/api/squads/${squadId}/archives`, { name: `${name} notes` });
  return { workspaceId, squadId, archiveId: archive.pick<number>('archive.id') };
}

/** A document with a version and a comment. */
export async function fillTree(person: Person, archiveId: number) {
  const documentId = await createDocument(person, archiveId, 'Tide tables');
  const version = await person.post(`/api/documents/${documentId}/publish`, { title: 'First' });
  const comment = await person.post(`/api/documents/${documentId}/comments`, { body: 'Noted' });
  return {
    documentId,
    versionId: version.pick<number>('version.id'),
    commentId: comment.pick<number>('comment.id'),
  };
}

/** A webhook subscription with one delivery, that of a test. */
export async function createWebhook(person: Person, workspaceId: number) {
  const webhook = await person.post('/api/webhooks', {
    url: 'https://receiver.example/hook',
    workspaceId,
  });
  const webhookId = webhook.pick<number>('webhook.id');
  const test = await person.post(`/api/webhooks/${webhookId}/test`);
  return { webhookId, deliveryId: test.pick<number>('deliveryId') };
}

export async function createDocument(
  person: Person,
  archiveId: number,
  title: string,
): Promise<number> {
  const answer = await person.post(`/api/archives/${archiveId}/documents`, {
    title,
    html: '<p>Low water at six.</p>',
  });
  return answer.pick('document.id');
}
