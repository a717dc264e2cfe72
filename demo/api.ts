import type { Interruption } from './interruption.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** What the server said when it did not do it. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly status: number;
  readonly code: string;

  constructor(request: string, status: number, code: string, message: string) {
    super(`${request} was answered ${status} ${code}: ${message}`);
    this.status = status;
    this.code = code;
  }
}

/** The public REST API, as any client uses it: JSON and a bearer token. */
export class Api {
  calls = 0;
  readonly address: string;
  readonly #interruption: Interruption;

  constructor(address: string, interruption: Interruption) {
    this.address = address;
    this.#interruption = interruption;
  }

  get<T>(token: string, path: string): Promise<T> {
    return this.call<T>('GET', path, token);
  }

  post<T>(token: string, path: string, body?: object): Promise<T> {
    return this.call<T>('POST', path, token, body);
  }

  put<T>(token: string, path: string, body: object): Promise<T> {
    return this.call<T>('PUT', path, token, body);
  }

  async delete(token: string, path: string): Promise<void> {
    await this.call('DELETE', path, token);
  }

  /** The status a request is refused with; 200 when it is not. */
  async refusal(method: Method, path: string, token: string, body?: object): Promise<number> {
    try {
      await this.call(method, path, token, body);
      return 200;
    } catch (error) {
      if (error instanceof Refusal) return error.status;
      throw error;
    }
  }

  /** @throws Refusal for everything but a success */
  async call<T>(method: Method, path: string, token?: string, body?: object): Promise<T> {
    this.#interruption.checkpoint();
    this.calls++;
    const response = await fetch(this.address + path, {
      method,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      body: body ? JSON.stringify(body) : undefined,
    });
    const text = await response.text();
    const answer = text ? JSON.parse(text) : {};
    if (response.ok) return answer as T;
    throw new Refusal(`${method} ${path}`, response.status, answer.error, answer.message);
  }
}
