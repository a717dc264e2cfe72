import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { FILES_VARIABLE, markerOf } from './markers.ts';

/**
 * Runs the test files it was given one after the other in this process, which loads
 * what they share once. An assertion after each says where the next one begins.
 */
const files: string[] = JSON.parse(process.env[FILES_VARIABLE] ?? '[]');
for (const file of files) {
  try {
    await import(pathToFileURL(path.resolve(file)).href);
  } catch (error) {
    const stack = error instanceof Error ? error.stack : String(error);
    t.fail(`${file} cannot be loaded`, { stack });
  }
  // Tests of a file wait in a queue, so this one is the last of it.
  await t.test(markerOf(file), async (t) => {
    t.pass(markerOf(file));
  });
}
