import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Frame } from './socket.ts';

export interface StreamEvent {
  event: string;
  id: string;
  data: Frame;
}

const WAIT_MS = 5_000;

/** A client of /api/notifications/stream that reads it as a browser's EventSource would. */
export class EventStream {
  readonly response: IncomingMessage;
  readonly #request: ClientRequest;
  /** Events that were not asked for yet. */
  readonly events: StreamEvent[] = [];
  readonly comments: string[] = [];
  retry: string | undefined;
  hasEnded = false;
  #rest = '';

  private constructor(call: ClientRequest, response: IncomingMessage) {
    this.#request = call;
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => this.#take(chunk));
    response.on('error', () => {});
    response.on('close', () => {
      this.hasEnded = true;
    });
  }

  static open(
    address: string,
    headers: Record<string, string>,
    path = '/api/notifications/stream',
  ): Promise<EventStream> {
    return new Promise((resolve, reject) => {
      const call = request(`${address}${path}`, { agent: false, headers }, (response) =>
        resolve(new EventStream(call, response)),
      );
      call.on('error', reject);
      call.end();
    });
  }

  get status(): number {
    return this.response.statusCode ?? 0;
  }

  /** The next event, or the error that none came. */
  async next(): Promise<StreamEvent> {
    await until(() => this.events.length > 0, 'No event came.');
    return this.events.shift() as StreamEvent;
  }

  ended(): Promise<void> {
    return until(() => this.hasEnded, 'The stream goes on.');
  }

  /** That nothing comes for so long. */
  async isQuiet(forMs: number): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, forMs));
    return this.events.length === 0;
  }

  close(): void {
    this.#request.destroy();
  }

  #take(chunk: string): void {
    const blocks = (this.#rest + chunk).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) this.#read(block);
  }

  #read(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      const at = line.indexOf(':');
      if (at === 0) this.comments.push(line);
      else fields.set(line.slice(0, at), line.slice(at + 1).replace(/^ /, ''));
    }
    if (fields.has('retry')) this.retry = fields.get('retry');
    const data = fields.get('data');
    if (data === undefined) return;
    this.events.push({
      event: fields.get('event') ?? 'message',
      id: fields.get('id') ?? '',
      data: JSON.parse(data),
    });
  }
}

export async function until(isTrue: () => boolean, otherwise: string): Promise<void> {
  const deadline = Date.now() + WAIT_MS;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error(otherwise);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
