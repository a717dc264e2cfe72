import type { Accounts, Person } from './accounts.ts';
import type { Api } from './api.ts';
import type { Ledger } from './ledger.ts';
import type { Payload, Repository } from './payloads.ts';
import type { Archive, Document, DocumentComment, Squad, Suite, Workspace } from './suite.ts';
import { type Content, plainTitle } from './text.ts';

/** What happens to every new squad, archive and document: the people of the demo move in. */
export interface Newcomers {
  onSquad(world: World, squad: Squad): Promise<void>;
  onArchive(archive: Archive): Promise<void>;
  onDocument(document: Document, kind: string): Promise<void>;
}

export interface Draft {
  kind: string;
  key: string | number;
  title: string;
  author: Person;
  body: string;
}

/**
 * Which of our things belongs to which GitHub id. What is asked for and not there yet is made.
 *
 * The package shows the same issue and the same comment in several examples. A second "created"
 * makes a second thing, and from then on the id means the newest.
 */
export class World {
  readonly accounts: Accounts;
  readonly api: Api;
  readonly ledger: Ledger;
  readonly archives: Archive[] = [];
  readonly #newcomers: Newcomers;
  readonly #workspaces = new Map<string, Workspace>();
  readonly #squads = new Map<string, Squad>();
  readonly #archives = new Map<string, Archive>();
  readonly #documents = new Map<string, Document>();
  readonly #comments = new Map<string, DocumentComment>();

  constructor(accounts: Accounts, api: Api, ledger: Ledger, newcomers: Newcomers) {
    this.accounts = accounts;
    this.api = api;
    this.ledger = ledger;
    this.#newcomers = newcomers;
  }

  /** An organisation, or else the owner of the repository, is a workspace. */
  async workspace(payload: Payload): Promise<Workspace> {
    const name = (payload.organization ?? payload.repository?.owner ?? payload.sender).login;
    const known = this.#workspaces.get(name);
    if (known) return known;
    const owner = await this.accounts.person(payload.sender.login);
    const { workspace } = await this.api.post<{ workspace: { id: number } }>(
      owner.token,
      '/api/workspaces',
      { name },
    );
    const made = { id: workspace.id, name, owner, memberIds: new Set([owner.id]) };
    this.#workspaces.set(name, made);
    return made;
  }

  async joinWorkspace(workspace: Workspace, person: Person, role = 'member'): Promise<void> {
    if (workspace.memberIds.has(person.id)) return;
    await this.api.post(workspace.owner.token, `/api/workspaces/${workspace.id}/members`, {
      email: person.email,
      role,
    });
    workspace.memberIds.add(person.id);
  }

  async createSquad(workspace: Workspace, name: string): Promise<Squad> {
    const { owner } = workspace;
    const { squad } = await this.api.post<{ squad: { id: number } }>(
      owner.token,
      `/api/workspaces/${workspace.id}/squads`,
      { name },
    );
    this.ledger.write({ action: 'squad.member_join', by: owner.id });
    return { id: squad.id, name, workspace, memberIds: new Set([owner.id]) };
  }

  async joinSquad(squad: Squad, person: Person, role = 'member'): Promise<void> {
    if (squad.memberIds.has(person.id)) return;
    const { owner } = squad.workspace;
    // A guest of the squad is one of the workspace, too.
    await this.joinWorkspace(squad.workspace, person, role === 'guest' ? 'guest' : 'member');
    await this.api.post(owner.token, `/api/squads/${squad.id}/members`, {
      userId: person.id,
      role,
    });
    this.ledger.write({ action: 'squad.member_join', by: owner.id });
    squad.memberIds.add(person.id);
  }

  async leaveSquad(squad: Squad, person: Person): Promise<void> {
    const { owner } = squad.workspace;
    await this.api.delete(owner.token, `/api/squads/${squad.id}/members/${person.id}`);
    this.ledger.write({ action: 'squad.member_leave', by: owner.id });
    squad.memberIds.delete(person.id);
  }

  /** Somebody as a member of the squad they are about to act in. */
  async member(squad: Squad, login: string): Promise<Person> {
    const person = await this.accounts.person(login);
    await this.joinSquad(squad, person);
    return person;
  }

  /** A team is a squad without archives. */
  async team(payload: Payload, team: { id: number; name: string }): Promise<Squad> {
    const workspace = await this.workspace(payload);
    const known = this.#squads.get(`${workspace.id} ${team.id}`);
    return known ?? this.createTeam(workspace, team);
  }

  async createTeam(workspace: Workspace, team: { id: number; name: string }): Promise<Squad> {
    const squad = await this.createSquad(workspace, plainTitle(team.name, 'Team'));
    this.#squads.set(`${workspace.id} ${team.id}`, squad);
    return squad;
  }

  forgetTeam(squad: Squad, team: { id: number }): void {
    this.#squads.delete(`${squad.workspace.id} ${team.id}`);
  }

  /** A repository is an archive, with a squad of those who work on it. */
  async archive(payload: Payload, repository: Repository): Promise<Archive> {
    const workspace = await this.workspace(payload);
    const known = this.#archives.get(`${workspace.id} ${repository.full_name}`);
    return known ?? this.createArchive(workspace, repository);
  }

  async createArchive(workspace: Workspace, repository: Repository): Promise<Archive> {
    const { owner } = workspace;
    const squad = await this.createSquad(workspace, plainTitle(repository.full_name, 'Repository'));
    await this.#newcomers.onSquad(this, squad);
    const name = plainTitle(repository.name, 'Repository');
    const { archive } = await this.api.post<{ archive: { id: number } }>(
      owner.token,
      `/api/squads/${squad.id}/archives`,
      { name },
    );
    this.ledger.write({ action: 'archive.create', by: owner.id });
    const made = { id: archive.id, name, squad };
    this.#archives.set(`${workspace.id} ${repository.full_name}`, made);
    this.archives.push(made);
    await this.#newcomers.onArchive(made);
    return made;
  }

  async renameArchive(by: Person, archive: Archive, name: string): Promise<void> {
    await this.api.put(by.token, `/api/archives/${archive.id}/name`, { name });
    if (name !== archive.name) this.ledger.write({ action: 'archive.rename', by: by.id });
    archive.name = name;
  }

  /** The document of this GitHub id; made from the draft when there is none. */
  async document(suite: Suite, archive: Archive, draft: Draft): Promise<Document> {
    const known = this.#documents.get(documentKey(archive, draft));
    return known && !known.isDeleted ? known : this.createDocument(suite, archive, draft);
  }

  async createDocument(suite: Suite, archive: Archive, draft: Draft): Promise<Document> {
    const content: Content = { body: draft.body, facts: new Map(), timeline: [], notes: [] };
    const document = await suite.createDocument(draft.author, archive, draft.title, content);
    this.#documents.set(documentKey(archive, draft), document);
    await this.#newcomers.onDocument(document, draft.kind);
    return document;
  }

  findComment(archive: Archive, kind: string, id: number): DocumentComment | undefined {
    const found = this.#comments.get(`${archive.id} ${kind} ${id}`);
    return found && !found.isDeleted && !found.document.isDeleted ? found : undefined;
  }

  rememberComment(archive: Archive, kind: string, id: number, comment: DocumentComment): void {
    this.#comments.set(`${archive.id} ${kind} ${id}`, comment);
  }
}

function documentKey(archive: Archive, draft: { kind: string; key: string | number }): string {
  return `${archive.id} ${draft.kind} ${draft.key}`;
}
