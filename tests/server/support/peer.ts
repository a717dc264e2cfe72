import { type IncomingHttpHeaders, request } from 'node:http';

interface Wanted {
  /** The loopback address to come from: 127.0.0.1 is a trusted proxy by default, its neighbours are not. */
  from?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface PeerAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

/** One request over a connection of its own, with headers that fetch() would not send. */
export function ask(address: string, path: string, wanted: Wanted = {}): Promise<PeerAnswer> {
  const { from = '127.0.0.1', method = 'GET', headers = {}, body } = wanted;
  return new Promise((resolve, reject) => {
    const call = request(
      `${address}${path}`,
      {
        method,
        localAddress: from,
        agent: false,
        headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: text.startsWith('{') ? JSON.parse(text) : {},
          }),
        );
        response.on('error', reject);
      },
    );
    call.on('error', reject);
    call.end(body ? JSON.stringify(body) : undefined);
  });
}
