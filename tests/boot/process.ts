import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';

const BIN = fileURLToPath(new URL('../../bin/bellwire.js', import.meta.url));
const LIMIT_MS = 20_000;
const LOOK_EVERY_MS = 10;

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A Bellwire process as a user starts it, with everything it has said. */
export class BellwireProcess {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly exit: Promise<Exit>;
  stdout = '';
  stderr = '';
  #hasExited = false;

  constructor(parameters: string[], environment: NodeJS.ProcessEnv, program = [BIN]) {
    const { PATH, HOME } = process.env;
    this.#child = spawn(process.execPath, [...program, ...parameters], {
      env: { PATH, HOME, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout.on('data', (chunk: Buffer) => {
      this.stdout += chunk;
    });
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.stderr += chunk;
    });
    this.exit = new Promise((resolve) => {
      // After its last output, not before.
      this.#child.once('close', (code, signal) => {
        this.#hasExited = true;
        resolve({ code, signal });
      });
    });
  }

  get output(): string {
    return this.stdout + this.stderr;
  }

  /** Whether it has a handler for the signal. Of SIGHUP Node itself has none. */
  handles(signal: NodeJS.Signals): boolean {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    const caught = BigInt(`0x${/^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
    return ((caught >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Waits until its output matches, and returns the match. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = Date.now() + LIMIT_MS;
    for (;;) {
      const found = pattern.exec(this.output);
      if (found) return found;
      if (this.#hasExited || Date.now() > deadline) {
        throw new Error(`It never said ${pattern}:\n${this.output}`);
      }
      await delay(LOOK_EVERY_MS);
    }
  }

  /** Where it listens, once it does. */
  async address(): Promise<string> {
    const [, address = ''] = await this.says(/(?:Bellwire server|probes) at (http:\S+)/);
    return address;
  }

  async end(signal: NodeJS.Signals): Promise<Exit> {
    this.kill(signal);
    return this.exit;
  }

  async endIfRunning(): Promise<void> {
    if (!this.#hasExited) await this.end('SIGKILL');
  }
}

/** Killed with the test, if it is still there. `program` in place of the command line. */
export function startProcess(
  t: Test,
  parameters: string[],
  environment: NodeJS.ProcessEnv = {},
  program?: string[],
): BellwireProcess {
  const started = new BellwireProcess(parameters, environment, program);
  t.teardown(() => started.endIfRunning());
  return started;
}

/** Runs to its end. */
export async function runProcess(t: Test, parameters: string[], environment: NodeJS.ProcessEnv) {
  const started = startProcess(t, parameters, environment);
  const { code, signal } = await started.exit;
  return { code, signal, stdout: started.stdout, stderr: started.stderr };
}
