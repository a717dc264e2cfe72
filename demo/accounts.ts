import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { hashPassword } from '../server/passwords.ts';
import type { Api } from './api.ts';

const PASSWORD_BYTES = 12;

/** Somebody with an account who has signed in. */
export interface Person {
  id: number;
  name: string;
  email: string;
  token: string;
}

/** People by their GitHub login. An account is made by an administrator; the sign-in is real. */
export class Accounts {
  readonly #admin: pg.Pool;
  readonly #api: Api;
  readonly #people = new Map<string, Promise<Person>>();

  constructor(admin: pg.Pool, api: Api) {
    this.#admin = admin;
    this.#api = api;
  }

  person(login: string): Promise<Person> {
    const known = this.#people.get(login);
    if (known) return known;
    const person = this.#open(login);
    this.#people.set(login, person);
    return person;
  }

  async #open(name: string): Promise<Person> {
    const email = `${addressPart(name)}@example.com`;
    const password = randomBytes(PASSWORD_BYTES).toString('base64url');
    await this.#admin.query('select identity.create_user($1, $2, $3)', [
      name,
      email,
      await hashPassword(password),
    ]);
    const { token, user } = await this.#api.call<{ token: string; user: { id: number } }>(
      'POST',
      '/api/login',
      undefined,
      { email, password },
    );
    return { id: user.id, name, email, token };
  }
}

function addressPart(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '.')
    .replace(/^\.|\.$/g, '');
}
