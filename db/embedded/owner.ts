import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const OWNER_FILE = 'owner.json';
const LOCK_FOLDER = 'owner.lock';

/** A lock without a name in it that is this old was left by a process killed before it wrote one. */
const NAMELESS_LOCK_MILLISECONDS = 10_000;
const LOCK_RETRY_MILLISECONDS = 25;

/** Position of the start time in /proc/<pid>/stat, counted after the name in parentheses. */
const START_TIME_FIELD = 19;

interface Owner {
  pid: number;
  /** Tells a process from a later one with the same number; empty where /proc is missing. */
  started: string;
}

/**
 * Makes this process the owner of a data folder, or says which process is.
 *
 * Postgres's own lock file does not do: after a kill -9 of our process its server runs on, and it
 * must be told apart from the server of a process that is alive.
 */
export async function claimFolder(folder: string): Promise<() => Promise<void>> {
  const file = path.join(folder, OWNER_FILE);
  const release = await lock(path.join(folder, LOCK_FOLDER));
  try {
    const owner = await readOwner(file);
    if (owner && (await isAlive(owner))) {
      throw new Error(
        `The data folder ${folder} is in use by process ${owner.pid}. ` +
          'Stop that one first, or choose another folder (--data, BELLWIRE_DATA).',
      );
    }
    const unfinished = `${file}.${process.pid}`;
    await writeFile(unfinished, JSON.stringify(await self()), { mode: 0o600 });
    await rename(unfinished, file);
  } finally {
    await release();
  }
  return () => rm(file, { force: true });
}

async function self(): Promise<Owner> {
  return { pid: process.pid, started: await startOf(process.pid) };
}

async function readOwner(file: string): Promise<Owner | undefined> {
  try {
    const owner = JSON.parse(await readFile(file, 'utf8')) as Owner;
    return Number.isInteger(owner.pid) ? owner : undefined;
  } catch {
    return undefined;
  }
}

async function isAlive(owner: Owner): Promise<boolean> {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM: it exists and belongs to someone else.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return (await startOf(owner.pid)) === owner.started;
}

/** When a process was started, in a form that only has to be compared; empty when unknown. */
async function startOf(pid: number): Promise<string> {
  try {
    const [boot, status] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ]);
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    return `${boot.trim()}/${fields[START_TIME_FIELD]}`;
  } catch {
    return '';
  }
}

/** Held for a few milliseconds. Only a lock whose maker is dead is broken: a machine may pause for any time. */
async function lock(folder: string): Promise<() => Promise<void>> {
  const name = path.join(folder, OWNER_FILE);
  for (;;) {
    try {
      await mkdir(folder);
      await writeFile(name, JSON.stringify(await self()));
      return () => rm(folder, { recursive: true, force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const maker = await readOwner(name);
    const made = maker ? undefined : await stat(folder).catch(() => undefined);
    const isNameless = made && Date.now() - made.mtimeMs > NAMELESS_LOCK_MILLISECONDS;
    if (isNameless || (maker && !(await isAlive(maker)))) {
      await rm(folder, { recursive: true, force: true });
    } else {
      await sleep(LOCK_RETRY_MILLISECONDS);
    }
  }
}
