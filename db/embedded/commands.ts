import { spawn } from 'node:child_process';

const PIPE_GRACE_MILLISECONDS = 2_000;

/** The account Postgres runs under when we are root, which Postgres itself refuses to be. */
export interface Account {
  uid: number;
  gid: number;
}

export interface CommandResult {
  code: number | null;
  output: string;
}

/**
 * Runs one of Postgres's programs to its end, in a session of its own, so that Ctrl-C in the
 * terminal reaches us alone and we stop Postgres when everything that uses it has stopped.
 *
 * Ends when the output is read to its end; should a server left behind by `pg_ctl start` hold the
 * pipes open, a moment after the program's own end.
 */
export function runCommand(
  program: string,
  parameters: string[],
  account?: Account,
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, parameters, {
      ...account,
      detached: true,
      // The account need not be able to enter the folder we were started in.
      cwd: '/',
      // Nothing of the caller's PG* variables: they would redirect initdb and pg_ctl.
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk.toString('utf8');
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', reject);
    let timer: NodeJS.Timeout | undefined;
    const finish = (code: number | null) => {
      clearTimeout(timer);
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ code, output: output.trim() });
    };
    child.on('close', finish);
    child.on('exit', (code) => {
      timer = setTimeout(finish, PIPE_GRACE_MILLISECONDS, code);
    });
  });
}
