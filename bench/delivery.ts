import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import type { Expectation, ReceiverMessage } from './receiver.ts';

/** What the figures about webhooks share: a receiver and workers, each a process of its own. */

const ARRIVAL_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 20;

export interface Arrived {
  firstAt: number;
  lastAt: number;
}

export class BenchReceiver {
  readonly #child: ChildProcess;
  readonly port: number;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  static async start(): Promise<BenchReceiver> {
    const program = fileURLToPath(new URL('./receiver.ts', import.meta.url));
    const child = fork(program, { execArgv: ['--import', 'tsx'] });
    const [message] = (await once(child, 'message')) as [{ port: number }];
    return new BenchReceiver(child, message.port);
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}/${path}`;
  }

  /** Resolves when so many requests have come; rejects when one came out of order or too few did. */
  async expect(requests: number, send: () => Promise<unknown>): Promise<Arrived> {
    const arrived = once(this.#child, 'message', { signal: AbortSignal.timeout(ARRIVAL_LIMIT_MS) });
    this.#child.send({ requests } satisfies Expectation);
    const [[message]] = await Promise.all([arrived, send()]);
    const { arrived: told } = message as Extract<ReceiverMessage, { arrived: unknown }>;
    if (told.problems.length > 0) throw new Error(told.problems.slice(0, 3).join('; '));
    return told;
  }

  stop(): void {
    this.#child.disconnect();
  }
}

/** `bellwire worker`, ready: it has emptied what was there. */
export async function startWorkerProcess(databaseUrl: string): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('../bin/bellwire.js', import.meta.url));
  const child = spawn(process.execPath, [program, 'worker'], {
    env: { ...process.env, DATABASE_URL: databaseUrl, WEBHOOK_ALLOW: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    let said = '';
    const read = (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('worker started')) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('exit', () => reject(new Error(`the worker ended: ${said.slice(-500)}`)));
  });
  return child;
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

export async function untilTrue(admin: pg.Pool, query: string): Promise<void> {
  const end = Date.now() + ARRIVAL_LIMIT_MS;
  for (;;) {
    const { rows } = await admin.query<{ is_true: boolean }>(`select (${query}) as is_true`);
    if (rows[0]?.is_true) return;
    if (Date.now() > end) throw new Error(`it never happened: ${query}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
