import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';

const ROOT = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

/** The top-level folders that a folder imports from, itself among them, and so on. */
function foldersOf(folder: string, found = new Set<string>()): Set<string> {
  found.add(folder);
  for (const file of readdirSync(path.join(ROOT, folder), { recursive: true })) {
    if (!/\.(ts|js)$/.test(String(file))) continue;
    const place = path.join(folder, String(file));
    for (const [, name = ''] of read(place).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      const other = path.join(path.dirname(place), name).split(path.sep)[0] ?? '';
      if (!found.has(other)) foldersOf(other, found);
    }
  }
  return found;
}

t.test('the image has every folder that its processes import', async (t) => {
  const copied = Array.from(read('Dockerfile').matchAll(/^COPY (\w+) \1$/gm), ([, name]) => name);
  for (const start of ['server', 'worker', 'db']) {
    for (const folder of foldersOf(start)) t.ok(copied.includes(folder), `${folder} for ${start}`);
  }
});

t.test('the package has every folder that a command imports', async (t) => {
  const { files } = JSON.parse(read('package.json')) as { files: string[] };
  for (const folder of foldersOf('cli')) t.ok(files.includes(folder), folder);
});
