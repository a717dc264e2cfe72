import { access, chmod, constants, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type Account, runCommand } from './commands.ts';

const ACCOUNT_NAME = 'postgres';

/** Others may pass through the folder, not list it. */
const TRAVERSABLE_MODE = 0o711;
const PRIVATE_MODE = 0o700;

/**
 * The account to run Postgres under: none for an ordinary user (Postgres runs as that user), the
 * system's `postgres` for root, made on first use.
 */
export async function postgresAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const known = await lookUpAccount();
  if (known) return known;
  await createAccount();
  const created = await lookUpAccount();
  if (created) return created;
  throw new Error(
    `Postgres refuses to run as root, and the user "${ACCOUNT_NAME}" could not be made. ` +
      `Create it (useradd --system ${ACCOUNT_NAME}) or run Bellwire as an ordinary user.`,
  );
}

async function lookUpAccount(): Promise<Account | undefined> {
  const [uid, gid] = await Promise.all([
    runCommand('id', ['-u', ACCOUNT_NAME]),
    runCommand('id', ['-g', ACCOUNT_NAME]),
  ]);
  if (uid.code !== 0 || gid.code !== 0) return undefined;
  const account = { uid: Number(uid.output), gid: Number(gid.output) };
  return account.uid > 0 && account.gid > 0 ? account : undefined;
}

/** Debian and Red Hat have useradd, Alpine has adduser; two processes may both try. */
async function createAccount(): Promise<void> {
  const attempts: [string, string[]][] = [
    ['useradd', ['--system', '--user-group', ACCOUNT_NAME]],
    ['adduser', ['-S', '-D', ACCOUNT_NAME]],
  ];
  for (const [program, parameters] of attempts) {
    const result = await runCommand(program, parameters).catch(() => undefined);
    if (result?.code === 0) return;
  }
}

/** Whether the account may enter the folder and everything above it. */
export async function canEnter(folder: string, account: Account | undefined): Promise<boolean> {
  if (!account) {
    return access(folder, constants.X_OK).then(
      () => true,
      () => false,
    );
  }
  const result = await runCommand('/bin/sh', ['-c', 'test -x "$1"', 'sh', folder], account);
  return result.code === 0;
}

/**
 * Makes a folder and the missing ones above it. Under root each new one lets the Postgres account
 * pass through, whatever the umask says; otherwise they are private.
 */
export async function makeFolder(folder: string, account: Account | undefined): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: PRIVATE_MODE });
  if (!first) return;
  const mode = account ? TRAVERSABLE_MODE : PRIVATE_MODE;
  for (let current = folder; ; current = path.dirname(current)) {
    await chmod(current, mode);
    if (current === first || current === path.dirname(current)) return;
  }
}
