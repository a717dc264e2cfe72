import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Parser, type Result } from 'tap-parser';

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
 * Runs one test file in a process of its own and counts its assertions.
 *
 * A file that crashes, exits with an error, or has no assertion at all counts as one failure, so
 * that nothing is green by not having run. The raw TAP is kept under `tapFolder`.
 */
export async function runTestFile(
  file: string,
  tapFolder: string,
  environment: NodeJS.ProcessEnv,
  onStart: (child: ChildProcess) => void,
): Promise<FileResult> {
  const result: FileResult = {
    file,
    passed: 0,
    failed: 0,
    skipped: 0,
    seconds: 0,
    failures: [],
    stderr: '',
  };
  const started = Date.now();
  const child = spawn(process.execPath, ['--import', 'tsx', file], {
    env: { ...environment, TAP_TIMEOUT: String(TEST_TIMEOUT_SECONDS) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onStart(child);
  const parser = collectResults(result);
  const tapFile = path.join(tapFolder, `${file.replaceAll(path.sep, '-')}.tap`);
  await mkdir(tapFolder, { recursive: true });
  const tap = createWriteStream(tapFile);
  child.stdout.on('data', (chunk: Buffer) => {
    parser.write(chunk.toString('utf8'));
    tap.write(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    result.stderr = (result.stderr + chunk.toString('utf8')).slice(-MAX_STDERR_CHARACTERS);
  });
  const ending = await waitForEnd(child);
  parser.end();
  tap.end();
  result.seconds = (Date.now() - started) / 1000;
  noteBadEnding(result, ending, parser);
  return result;
}

function collectResults(result: FileResult): Parser {
  const parser = new Parser();
  // The root parser tells of every assertion at any depth, and of no group.
  parser.on('pass', () => result.passed++);
  parser.on('skip', () => result.skipped++);
  parser.on('todo', () => result.skipped++);
  parser.on('fail', (failure: Result) => {
    result.failed++;
    result.failures.push(describeFailure(failure));
  });
  return parser;
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

function noteBadEnding(result: FileResult, ending: string, parser: Parser): void {
  if (result.failed > 0) return;
  const tapProblem = parser.results?.ok === false ? 'its TAP output is incomplete' : '';
  const empty = result.passed + result.skipped === 0 ? 'it has no assertion' : '';
  const problem = ending || tapProblem || empty;
  if (!problem) return;
  result.failed = 1;
  result.failures.push(`the file did not run to its end: ${problem}`);
}
