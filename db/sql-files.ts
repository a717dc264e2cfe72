import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** Folders of db/functions in the order of who calls whom; others follow by name. */
const FIRST_AREAS = [
  'access',
  'identity',
  'activity',
  'watches',
  'notifications',
  'outbox',
  'email',
  'track',
];

/** Applied after the views its functions return. */
const LAST_AREA = 'api';

export interface SqlFile {
  /** Relative to the db folder, with forward slashes: its name in `applied_files`. */
  path: string;
  text: string;
  sha256: string;
}

/** All repeatable files in the order in which they may rely on each other. */
export async function repeatableFiles(directory: string): Promise<SqlFile[]> {
  const areas = (
    await readdir(path.join(directory, 'functions'), { withFileTypes: true }).catch(noFolder)
  )
    .filter((entry) => entry.isDirectory() && entry.name !== LAST_AREA)
    .map((entry) => entry.name)
    .sort((left, right) => areaRank(left) - areaRank(right) || compareNames(left, right));
  const folders = [
    ...areas.map((area) => `functions/${area}`),
    'policies',
    'triggers',
    'views',
    `functions/${LAST_AREA}`,
    'suite',
  ];
  const files: SqlFile[] = [];
  for (const folder of folders)
    files.push(...(await readFolder(path.join(directory, folder), folder)));
  return files;
}

function areaRank(area: string): number {
  const rank = FIRST_AREAS.indexOf(area);
  return rank < 0 ? FIRST_AREAS.length : rank;
}

/** By code point: the same order on every machine, whatever its locale. */
function compareNames(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The .sql files of one folder by name; none when the folder does not exist. */
export async function readFolder(folder: string, prefix: string): Promise<SqlFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(noFolder);
  const names = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.sql'))
    .map((entry) => entry.name)
    .sort(compareNames);
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(path.join(folder, name), 'utf8');
      const sha256 = createHash('sha256').update(text).digest('hex');
      return { path: `${prefix}/${name}`, text, sha256 };
    }),
  );
}

function noFolder(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
