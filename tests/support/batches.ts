import { readFile } from 'node:fs/promises';

/** So many files share a process at most: what one of them breaks costs no more than these. */
const MAX_BATCH_FILES = 8;

/** Folders whose files load the same modules, which takes many of them longer than their tests. */
const SHARING_FOLDERS = [
  'tests/config/',
  'tests/docs/',
  'tests/outgoing/',
  'tests/receiver/',
  'tests/server/',
  'tests/sql/',
  'tests/worker/',
];

/** Whose batches take longest come first, so that none of them is what everything waits for at the end. */
const FIRST_FOLDERS = ['tests/worker/', 'tests/boot/', 'tests/demo/'];

/** What a file does to its whole process, so that it needs one of its own. */
const PROCESS_WIDE = /useOwnCluster|memoryUsage/;

/** Which files run together in a process: the longest first, the others in the order given. */
export async function makeBatches(files: readonly string[]): Promise<string[][]> {
  const batches: string[][] = [];
  let open: { folder: string; files: string[] } | undefined;
  for (const file of files) {
    const folder = SHARING_FOLDERS.find((each) => file.startsWith(each));
    if (folder === undefined || PROCESS_WIDE.test(await readFile(file, 'utf8'))) {
      batches.push([file]);
    } else if (open?.folder === folder && open.files.length < MAX_BATCH_FILES) {
      open.files.push(file);
    } else {
      open = { folder, files: [file] };
      batches.push(open.files);
    }
  }
  return batches.sort((left, right) => turnOf(left) - turnOf(right));
}

function turnOf([file = '']: readonly string[]): number {
  const turn = FIRST_FOLDERS.findIndex((each) => file.startsWith(each));
  return turn < 0 ? FIRST_FOLDERS.length : turn;
}
