/** What came back, with the body already read. */
export class Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON of the body; null where there is none. */
  readonly body: unknown;

  constructor(response: Response, text: string) {
    this.status = response.status;
    this.headers = response.headers;
    this.text = text;
    this.body = parse(text);
  }

  /** The value at a path like `items.0.id`; fails where the path leads nowhere. */
  pick<Value>(path: string): Value {
    let value: unknown = this.body;
    for (const key of path.split('.')) {
      if (typeof value !== 'object' || value === null || !(key in value)) {
        throw new Error(`There is no ${path} in ${this.status} ${this.text.slice(0, 500)}`);
      }
      value = (value as Record<string, unknown>)[key];
    }
    return value as Value;
  }
}

interface Extra {
  headers?: Record<string, string>;
  /** Sent as it is, instead of JSON. */
  raw?: string;
}

/** One caller of the API: a person by their token, or nobody. */
export class Client {
  readonly address: string;
  readonly token: string | undefined;

  constructor(address: string, token?: string) {
    this.address = address;
    this.token = token;
  }

  get(path: string, extra?: Extra): Promise<Answer> {
    return this.send('GET', path, undefined, extra);
  }

  post(path: string, body?: unknown, extra?: Extra): Promise<Answer> {
    return this.send('POST', path, body, extra);
  }

  put(path: string, body?: unknown, extra?: Extra): Promise<Answer> {
    return this.send('PUT', path, body, extra);
  }

  delete(path: string, extra?: Extra): Promise<Answer> {
    return this.send('DELETE', path, undefined, extra);
  }

  async send(method: string, path: string, body?: unknown, extra: Extra = {}): Promise<Answer> {
    const hasBody = body !== undefined || extra.raw !== undefined;
    const response = await fetch(`${this.address}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }),
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
        ...extra.headers,
      },
      body: extra.raw ?? (body === undefined ? undefined : JSON.stringify(body)),
    });
    return new Answer(response, await response.text());
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
