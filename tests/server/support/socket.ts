import { WebSocket } from 'ws';

/** A frame of the server. */
export interface Frame {
  type: string;
  unreadCount?: number;
  id?: number;
  cursor?: string | null;
  resync?: boolean;
  notification?: {
    id: number;
    kind: string;
    title: string;
    coalescedCount: number;
    actor: unknown;
  };
}

interface Options {
  /** null sends none. */
  origin?: string | null;
  cookie?: string;
  autoPong?: boolean;
  headers?: Record<string, string>;
}

const WAIT_MS = 5_000;

/** A client of /notifications-ws that keeps what it got until a test asks for it. */
export class Socket {
  readonly ws: WebSocket;
  /** The code and reason of the close, whenever it comes. */
  readonly closed: Promise<{ code: number; reason: string }>;
  /** Frames that were not asked for yet. */
  readonly frames: Frame[] = [];
  #arrived: () => void = () => {};

  constructor(address: string, options: Options = {}) {
    const origin = options.origin === undefined ? address : options.origin;
    this.ws = new WebSocket(`${address.replace(/^http/, 'ws')}/notifications-ws`, {
      autoPong: options.autoPong ?? true,
      headers: {
        ...(origin === null ? {} : { origin }),
        ...(options.cookie ? { cookie: options.cookie } : {}),
        ...options.headers,
      },
    });
    this.ws.on('message', (data) => {
      this.frames.push(JSON.parse(data.toString()));
      this.#arrived();
    });
    this.closed = new Promise((resolve) => {
      this.ws.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    this.ws.on('error', () => {});
  }

  /** Opened, or the HTTP status it was refused with. */
  opened(): Promise<'open' | number> {
    return new Promise((resolve) => {
      this.ws.on('open', () => resolve('open'));
      this.ws.on('unexpected-response', (request, response) => {
        resolve(response.statusCode ?? 0);
        request.destroy();
      });
    });
  }

  send(frame: object | string): void {
    this.ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** The next frame, or the error that none came. */
  async next(withinMs = WAIT_MS): Promise<Frame> {
    const until = Date.now() + withinMs;
    while (this.frames.length === 0) {
      const left = until - Date.now();
      if (left <= 0) throw new Error('No frame came.');
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#arrived = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return this.frames.shift() as Frame;
  }

  /** That nothing comes for so long. */
  async isQuiet(forMs: number): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, forMs));
    return this.frames.length === 0;
  }

  /** The close, or code 0 when the server left the socket open. */
  ended(): Promise<{ code: number; reason: string }> {
    const left = new Promise<{ code: number; reason: string }>((resolve) => {
      setTimeout(() => resolve({ code: 0, reason: 'still open' }), WAIT_MS).unref();
    });
    return Promise.race([this.closed, left]);
  }

  close(): void {
    this.ws.close();
  }
}

/** Signed in, with its `ready` frame. */
export async function connect(
  address: string,
  token: string | undefined,
  cursor?: string,
): Promise<{ socket: Socket; ready: Frame }> {
  const socket = new Socket(address);
  const opened = await socket.opened();
  if (opened !== 'open') throw new Error(`The socket was refused with ${opened}.`);
  socket.send({ type: 'auth', token, cursor });
  return { socket, ready: await socket.next() };
}
