import type pg from 'pg';
import type { Person } from './accounts.ts';
import type { Api } from './api.ts';

/** What one can do to documents and comments, by whichever door. */
export interface Writer {
  createDocument(by: Person, archiveId: number, title: string, html: string): Promise<number>;
  saveDocument(by: Person, id: number, html: string): Promise<void>;
  renameDocument(by: Person, id: number, title: string): Promise<void>;
  publishDocument(by: Person, id: number, title: string): Promise<number>;
  deleteDocument(by: Person, id: number): Promise<void>;
  createComment(by: Person, documentId: number, body: string, parentId?: number): Promise<number>;
  editComment(by: Person, id: number, body: string): Promise<void>;
  deleteComment(by: Person, id: number): Promise<void>;
}

/** As the web application does it. */
export class RestWriter implements Writer {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  async createDocument(by: Person, archiveId: number, title: string, html: string) {
    const { document } = await this.#api.post<{ document: { id: number } }>(
      by.token,
      `/api/archives/${archiveId}/documents`,
      { title, html },
    );
    return document.id;
  }

  async saveDocument(by: Person, id: number, html: string) {
    await this.#api.put(by.token, `/api/documents/${id}`, { html });
  }

  async renameDocument(by: Person, id: number, title: string) {
    await this.#api.put(by.token, `/api/documents/${id}/title`, { title });
  }

  async publishDocument(by: Person, id: number, title: string) {
    const { version } = await this.#api.post<{ version: { id: number } }>(
      by.token,
      `/api/documents/${id}/publish`,
      { title },
    );
    return version.id;
  }

  async deleteDocument(by: Person, id: number) {
    await this.#api.delete(by.token, `/api/documents/${id}`);
  }

  async createComment(by: Person, documentId: number, body: string, parentId?: number) {
    const { comment } = await this.#api.post<{ comment: { id: number } }>(
      by.token,
      `/api/documents/${documentId}/comments`,
      { body, parentId },
    );
    return comment.id;
  }

  async editComment(by: Person, id: number, body: string) {
    await this.#api.put(by.token, `/api/comments/${id}`, { body });
  }

  async deleteComment(by: Person, id: number) {
    await this.#api.delete(by.token, `/api/comments/${id}`);
  }
}

/** As an administrator does it at a psql prompt: says who acts, then plain statements. */
export class SqlWriter implements Writer {
  statements = 0;
  readonly #session: pg.Client;

  constructor(session: pg.Client) {
    this.#session = session;
  }

  createDocument(by: Person, archiveId: number, title: string, html: string) {
    return this.#insert(
      by,
      'insert into suite.logs (archive_id, title, html) values ($1, $2, $3) returning id',
      [archiveId, title, html],
    );
  }

  saveDocument(by: Person, id: number, html: string) {
    return this.#change(by, 'update suite.logs set html = $2 where id = $1', [id, html]);
  }

  renameDocument(by: Person, id: number, title: string) {
    return this.#change(by, 'update suite.logs set title = $2 where id = $1', [id, title]);
  }

  publishDocument(by: Person, id: number, title: string) {
    return this.#insert(
      by,
      'insert into suite.versions (log_id, title, html) ' +
        'select id, $2, html from suite.logs where id = $1 returning id',
      [id, title],
    );
  }

  deleteDocument(by: Person, id: number) {
    return this.#change(by, 'delete from suite.logs where id = $1', [id]);
  }

  createComment(by: Person, documentId: number, body: string, parentId?: number) {
    return this.#insert(
      by,
      'insert into suite.comments (log_id, body, parent_id) values ($1, $2, $3) returning id',
      [documentId, body, parentId ?? null],
    );
  }

  editComment(by: Person, id: number, body: string) {
    return this.#change(
      by,
      'update suite.comments set body = $2, updated_at = now() where id = $1',
      [id, body],
    );
  }

  deleteComment(by: Person, id: number) {
    return this.#change(by, 'delete from suite.comments where id = $1', [id]);
  }

  async #insert(by: Person, sql: string, values: unknown[]): Promise<number> {
    const { rows } = await this.#run(by, sql, values);
    return Number(rows[0]?.id);
  }

  async #change(by: Person, sql: string, values: unknown[]): Promise<void> {
    const { rowCount } = await this.#run(by, sql, values);
    if (rowCount !== 1) throw new Error(`${rowCount} rows instead of one: ${sql}`);
  }

  async #run(by: Person, sql: string, values: unknown[]): Promise<pg.QueryResult<{ id: unknown }>> {
    this.statements += 2;
    await this.#session.query('select bellwire.act_as($1)', [by.id]);
    return this.#session.query(sql, values);
  }
}
