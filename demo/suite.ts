import type { Person } from './accounts.ts';
import type { Ledger } from './ledger.ts';
import { type Content, renderDocument } from './text.ts';
import type { Writer } from './writers.ts';

export interface Workspace {
  id: number;
  name: string;
  /** Whoever acted there first; adds everybody else. */
  owner: Person;
  memberIds: Set<number>;
}

export interface Squad {
  id: number;
  name: string;
  workspace: Workspace;
  memberIds: Set<number>;
}

export interface Archive {
  id: number;
  name: string;
  squad: Squad;
}

export interface Document {
  id: number;
  archive: Archive;
  title: string;
  content: Content;
  isDeleted: boolean;
}

export interface DocumentComment {
  id: number;
  document: Document;
  author: Person;
  isResolved: boolean;
  isDeleted: boolean;
}

/** Does things to documents and comments through one door, and writes each into the ledger. */
export class Suite {
  readonly #writer: Writer;
  readonly #ledger: Ledger;

  constructor(writer: Writer, ledger: Ledger) {
    this.#writer = writer;
    this.#ledger = ledger;
  }

  async createDocument(
    by: Person,
    archive: Archive,
    title: string,
    content: Content,
    mentions: Person[] = [],
  ): Promise<Document> {
    const html = renderDocument(content);
    const id = await this.#writer.createDocument(by, archive.id, title, html);
    const document = { id, archive, title, content, isDeleted: false };
    this.#write('log.create', by, document, mentions);
    return document;
  }

  /** Saves what `content` has become. `mentions`: who is in the text that was not before. */
  async save(by: Person, document: Document, mentions: Person[] = []): Promise<void> {
    await this.#writer.saveDocument(by, document.id, renderDocument(document.content));
    this.#write('log.update', by, document, mentions);
  }

  async rename(by: Person, document: Document, title: string): Promise<void> {
    await this.#writer.renameDocument(by, document.id, title);
    if (title !== document.title) this.#write('log.rename', by, document);
    document.title = title;
  }

  async publish(by: Person, document: Document, title: string): Promise<number> {
    const version = await this.#writer.publishDocument(by, document.id, title);
    this.#write('log.publish', by, document);
    return version;
  }

  async delete(by: Person, document: Document): Promise<void> {
    await this.#writer.deleteDocument(by, document.id);
    this.#ledger.write({ action: 'log.delete', by: by.id });
    document.isDeleted = true;
  }

  async comment(
    by: Person,
    document: Document,
    body: string,
    options: { parent?: DocumentComment; mentions?: Person[] } = {},
  ): Promise<DocumentComment> {
    const { parent, mentions = [] } = options;
    const id = await this.#writer.createComment(by, document.id, body, parent?.id);
    this.#write(parent ? 'comment.reply' : 'comment.create', by, document, mentions);
    return { id, document, author: by, isResolved: false, isDeleted: false };
  }

  /** Records nothing by itself: an edit only tells people it newly mentions. */
  async editComment(comment: DocumentComment, body: string): Promise<void> {
    await this.#writer.editComment(comment.author, comment.id, body);
  }

  async deleteComment(by: Person, comment: DocumentComment): Promise<void> {
    await this.#writer.deleteComment(by, comment.id);
    this.#write('comment.delete', by, comment.document);
    comment.isDeleted = true;
  }

  #write(action: string, by: Person, document: Document, mentions: Person[] = []): void {
    this.#ledger.write({
      action,
      by: by.id,
      document: document.id,
      mentions: mentions.map((person) => person.id),
    });
  }
}
