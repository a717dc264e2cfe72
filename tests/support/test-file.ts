import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Parser, type Result } from 'tap-parser';
import { FILES_VARIABLE, markerOf } from './markers.ts';

const BATCH = fileURLToPath(new URL('batch.ts', import.meta.url));

/** For one test file, and for each test in it. A file that needs more calls `t.setTimeout`. */
export const TEST_TIMEOUT_SECONDS = 120;

/** tap ends a file by itself at its limit and says what hung; this is for when it cannot. */
const KILL_AFTER_MILLISECONDS = 10 * 60 * 1000;

const MAX_STDERR_CHARACTERS = 20_000;

export interface FileResult {
  file: string;
  /** Assertions, counted one by one; a test that only groups others is not counted. */
  passed: number;
  failed: number;
  skipped: number;
  seconds: number;
  /** One text per failure, with its diagnostics. */
  failures: string[];
  stderr: string;
}

/**
 * Runs test files in one process, one after the other, and counts their assertions.
 *
 * A file that crashes, exits with an error, has no assertion at all or is not reached counts as one
 * failure, so that nothing is green by not having run. The raw TAP is kept under `tapFolder`.
 */
export async function runTestFiles(
  files: readonly string[],
  tapFolder: string,
  environment: NodeJS.ProcessEnv,
  onStart: (child: ChildProcess) => void,
): Promise<FileResult[]> {
  // Only the first as an argument: tap names its folders after them.
  const child = spawn(process.execPath, ['--import', 'tsx', BATCH, files[0] ?? ''], {
    env: {
      ...environment,
      [FILES_VARIABLE]: JSON.stringify(files),
      TAP_TIMEOUT: String(TEST_TIMEOUT_SECONDS * Math.min(files.length, 2)),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onStart(child);
  const collector = new Collector(files);
  const tapFile = path.join(tapFolder, `${files[0]?.replaceAll(path.sep, '-')}.tap`);
  await mkdir(tapFolder, { recursive: true });
  const tap = createWriteStream(tapFile);
  child.stdout.on('data', (chunk: Buffer) => {
    collector.parser.write(chunk.toString('utf8'));
    tap.write(chunk);
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString('utf8')).slice(-MAX_STDERR_CHARACTERS);
  });
  const ending = await waitForEnd(child);
  collector.parser.end();
  tap.end();
  return collector.end(ending, stderr);
}

/** Tells the assertions of the files of a batch apart. */
class Collector {
  readonly parser = new Parser();
  readonly #results: FileResult[];
  #startedAt = Date.now();
  #reached = 0;

  constructor(files: readonly string[]) {
    this.#results = files.map((file) => ({
      file,
      passed: 0,
      failed: 0,
      skipped: 0,
      seconds: 0,
      failures: [],
      stderr: '',
    }));
    const { parser } = this;
    // The root parser tells of every assertion at any depth, and of no group.
    parser.on('pass', ({ name }) => this.#pass(name));
    parser.on('skip', () => this.#count('skipped'));
    parser.on('todo', () => this.#count('skipped'));
    parser.on('fail', (failure: Result) => this.#fail(describeFailure(failure)));
  }

  end(ending: string, stderr: string): FileResult[] {
    for (const result of this.#results) if (result.failed > 0) result.stderr = stderr;
    // What the process as a whole did wrong is laid to the file it had reached.
    const isComplete = this.#reached >= this.#results.length;
    const tapProblem = this.parser.results?.ok === false ? 'its TAP output is incomplete' : '';
    const problem = ending || tapProblem;
    const hasFailures = this.#results.some(({ failed }) => failed > 0);
    if (isComplete && problem && !hasFailures) this.#reached -= 1;
    if (!isComplete || (problem && !hasFailures)) {
      for (const result of this.#results.slice(this.#reached)) {
        result.failed += 1;
        result.failures.push(`the file did not run to its end: ${problem || 'it stopped'}`);
        result.stderr = stderr;
      }
    }
    return this.#results;
  }

  #pass(name: string): void {
    const current = this.#results[this.#reached];
    if (current === undefined || name !== markerOf(current.file)) {
      this.#count('passed');
      return;
    }
    if (current.passed + current.skipped + current.failed === 0) {
      this.#fail('the file did not run to its end: it has no assertion');
    }
    current.seconds = (Date.now() - this.#startedAt) / 1000;
    this.#startedAt = Date.now();
    this.#reached += 1;
  }

  #count(what: 'passed' | 'skipped'): void {
    const current = this.#results[this.#reached];
    if (current) current[what] += 1;
  }

  #fail(text: string): void {
    const current = this.#results[this.#reached] ?? this.#results.at(-1);
    if (!current) return;
    current.failed += 1;
    current.failures.push(text);
  }
}

function describeFailure(failure: Result): string {
  const { diff, at, source, stack, found, wanted, ...others } = failure.diag ?? {};
  const place = at ? ` (${at.fileName}:${at.lineNumber})` : '';
  const details = diff ?? { found, wanted, ...others };
  const text = typeof details === 'string' ? details : JSON.stringify(details, null, 2);
  const parts = [`${failure.fullname || failure.name}${place}`, text, source, at ? '' : stack];
  return parts.filter((part) => part && part !== '{}').join('\n');
}

function waitForEnd(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MILLISECONDS);
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve(code === 0 ? '' : signal ? `killed by ${signal}` : `exit code ${code}`);
    });
  });
}
