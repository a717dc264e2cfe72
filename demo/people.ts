import type { Accounts, Person } from './accounts.ts';
import type { Api } from './api.ts';
import type { Archive, Document, Squad, Suite } from './suite.ts';
import { mention, renderComment } from './text.ts';
import type { Newcomers, World } from './world.ts';

/** The kind Aiko wants in the bell but not by e-mail. */
export const UNMAILED_KIND = 'watched_comment';

const NAMES = {
  mira: 'Mira Solberg',
  jonas: 'Jonas Weber',
  aiko: 'Aiko Tanaka',
  tomas: 'Tomás Rivera',
  leila: 'Leila Haddad',
} as const;

type Name = keyof typeof NAMES;

/**
 * The people who are not from GitHub. Mira, Jonas and Aiko watch every archive with a socket open;
 * Jonas has muted one document and Aiko one kind of e-mail. Leila is a guest: she reads and
 * comments. They join every squad before anything is written in it.
 */
export class People implements Newcomers {
  readonly mira: Person;
  readonly jonas: Person;
  readonly aiko: Person;
  readonly tomas: Person;
  readonly leila: Person;
  muted: Document | undefined;
  readonly #api: Api;
  readonly #rest: Suite;
  #greeted = 0;

  private constructor(people: Record<Name, Person>, api: Api, rest: Suite) {
    this.mira = people.mira;
    this.jonas = people.jonas;
    this.aiko = people.aiko;
    this.tomas = people.tomas;
    this.leila = people.leila;
    this.#api = api;
    this.#rest = rest;
  }

  static async signIn(accounts: Accounts, api: Api, rest: Suite): Promise<People> {
    const entries = await Promise.all(
      Object.entries(NAMES).map(async ([key, name]) => [key, await accounts.person(name)] as const),
    );
    const people = new People(Object.fromEntries(entries) as Record<Name, Person>, api, rest);
    await api.put(people.aiko.token, '/api/notification-preferences', {
      preferences: { [UNMAILED_KIND]: { email: false } },
    });
    return people;
  }

  get all(): Person[] {
    return [...this.listeners, this.tomas, this.leila];
  }

  /** Those who watch everything, each with a socket. */
  get listeners(): Person[] {
    return [this.mira, this.jonas, this.aiko];
  }

  /** The document a person has muted. */
  mutedBy(person: Person): Document | undefined {
    return person === this.jonas ? this.muted : undefined;
  }

  async onSquad(world: World, squad: Squad): Promise<void> {
    for (const person of this.all) {
      await world.joinSquad(squad, person, person === this.leila ? 'guest' : 'member');
    }
  }

  async onArchive(archive: Archive): Promise<void> {
    for (const person of this.listeners) await this.#watch(person, 'archive', archive.id);
  }

  /** Somebody has something to say on every new document, and names somebody else. */
  async onDocument(document: Document, kind: string): Promise<void> {
    if (!this.muted && kind === 'pull request') {
      await this.#watch(this.jonas, 'log', document.id, 'ignored');
      this.muted = document;
    }
    const turn = this.#greeted++;
    const [by, named] = [this.#inTurn(turn), this.#inTurn(turn + 1)];
    if (turn % 2 === 0 && by !== this.leila) {
      document.content.notes.push(`<p>${mention(named)} knows more about this.</p>`);
      await this.#rest.save(by, document, [named]);
      return;
    }
    const question = await this.#rest.comment(
      by,
      document,
      `<p>What do you think, ${mention(named)}?</p>`,
      {
        mentions: [named],
      },
    );
    await this.#rest.comment(named, document, `<p>Looks good, ${mention(by)}.</p>`, {
      parent: question,
      mentions: [by],
    });
  }

  /** What the examples do not show: an owner who is answered, publishing, restoring, renaming. */
  async workTogether(world: World): Promise<void> {
    for (const archive of world.archives) {
      const content = {
        body: 'What we want to read next.',
        facts: new Map<string, string>(),
        timeline: [],
        notes: [`<p>For ${mention(this.aiko)}</p>`],
      };
      const list = await this.#rest.createDocument(this.mira, archive, 'Reading list', content, [
        this.aiko,
      ]);
      await this.#rest.comment(this.leila, list, renderComment('May I add one?'));
      const version = await this.#rest.publish(this.mira, list, 'First list');
      list.content.body = 'A longer list.';
      await this.#rest.save(this.tomas, list);
      await this.#restore(world, list, version);
      await world.renameArchive(this.aiko, archive, `${archive.name} (reviewed)`);
    }
    await this.#talkBehindTheMute();
  }

  /** One more mention of somebody, on a document nobody has told them of yet. */
  async mentionOnce(world: World, by: Person, named: Person): Promise<Document> {
    const archive = world.archives[0];
    if (!archive) throw new Error('There is no archive.');
    const content = { body: 'A note.', facts: new Map(), timeline: [], notes: [] };
    const document = await this.#rest.createDocument(by, archive, 'After the letter', content);
    await this.#rest.comment(by, document, `<p>One more thing, ${mention(named)}.</p>`, {
      mentions: [named],
    });
    return document;
  }

  /** Not even their name reaches somebody through a document they have muted. */
  async #talkBehindTheMute(): Promise<void> {
    if (!this.muted) throw new Error('No document was muted.');
    await this.#rest.comment(this.tomas, this.muted, renderComment('Is anybody here?'));
    const call = `<p>${mention(this.jonas)}, are you?</p>`;
    await this.#rest.comment(this.leila, this.muted, call, { mentions: [this.jonas] });
  }

  async #restore(world: World, document: Document, versionId: number): Promise<void> {
    await this.#api.post(this.jonas.token, `/api/documents/${document.id}/restore`, { versionId });
    world.ledger.write({ action: 'log.restore', by: this.jonas.id, document: document.id });
  }

  async #watch(person: Person, type: string, id: number, level = 'watching'): Promise<void> {
    await this.#api.post(person.token, '/api/watches', {
      resourceType: type,
      resourceId: id,
      level,
    });
  }

  #inTurn(turn: number): Person {
    return this.all[turn % this.all.length] as Person;
  }
}
