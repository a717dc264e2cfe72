import { execFile } from 'node:child_process';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import * as handler from '../../receiver/handler.js';
import * as receiver from '../../receiver/index.js';
import { MemoryStore } from '../../receiver/memory-store.js';
import { readPage } from '../docs/markdown.ts';
import { newSecret, signedRequest } from './sign.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');

const PROGRAM = `
import { verify } from 'bellwire/receiver';

const [body, headers, secret] = process.argv.slice(2);
console.log(verify(body, JSON.parse(headers), secret).data.previous);
`;

const TYPED_PROGRAM = `
import { createServer } from 'node:http';
import { type Envelope, type KnownEvent, verify, webhookHandler } from 'bellwire/receiver';

type TicketClosed = Envelope<'ticket.close', { ticket_id: number }>;
const handle = (event: KnownEvent | TicketClosed): number | null => {
  if (event.type === 'ticket.close') return event.data.ticket_id;
  if (event.type === 'log.move') return event.data.previous_parent_id;
  // @ts-expect-error there is no such type
  if (event.type === 'log.mov') return null;
  // @ts-expect-error no other type has it
  return event.data.previous_parent_id;
};
createServer(webhookHandler({ secrets: 'whsec_', handle }));
export const title: string = verify<TicketClosed>('', {}, '').type;
`;

/** A project of somebody else with the package as npm would publish it. */
async function createProject(t: Test): Promise<string> {
  const folder = t.testdir({ 'program.mjs': PROGRAM, 'typed.mts': TYPED_PROGRAM });
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: ROOT,
  });
  const [{ filename }] = JSON.parse(stdout);
  await run('tar', ['-xzf', path.join(folder, filename), '-C', folder]);
  await mkdir(path.join(folder, 'node_modules/@types'), { recursive: true });
  await symlink('../package', path.join(folder, 'node_modules/bellwire'));
  await symlink(
    path.join(ROOT, 'node_modules/@types/node'),
    path.join(folder, 'node_modules/@types/node'),
  );
  await symlink(
    path.join(ROOT, 'node_modules/undici-types'),
    path.join(folder, 'node_modules/undici-types'),
  );
  const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', types: ['node'] };
  const tsconfig = { compilerOptions, files: ['typed.mts'] };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  return folder;
}

t.test('the published package, in plain Node and for the compiler', async (t) => {
  const folder = await createProject(t);
  const secret = newSecret();
  const { body, headers } = signedRequest(secret);
  const parameters = ['program.mjs', body, JSON.stringify(headers), secret];
  const { stdout } = await run(process.execPath, parameters, { cwd: folder });
  t.equal(stdout, 'Minutes\n');
  await t.resolves(
    run(process.execPath, [path.join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder]),
  );
});

t.test('what is declared is what is there', async (t) => {
  const declared = readPage('receiver/index.d.ts').matchAll(/^export (?:class|function) (\w+)/gm);
  t.strictSame(Object.keys(receiver).sort(), Array.from(declared, ([, name]) => name).sort());
  // Compiles only if the files behind it are as declared.
  const asDeclared: [typeof receiver.MemoryStore, typeof receiver.webhookHandler] = [
    MemoryStore,
    handler.webhookHandler,
  ];
  t.strictSame(asDeclared, [receiver.MemoryStore, receiver.webhookHandler]);
});

t.test('the kit asks for nothing but Node', async (t) => {
  const names = await readdir(path.join(ROOT, 'receiver'));
  for (const file of names.filter((name) => /\.(js|d\.ts)$/.test(name))) {
    const sources = readPage(`receiver/${file}`).matchAll(/(?:from |import\()'([^']+)'/g);
    for (const [, name] of sources) t.match(name, /^(\.\/|node:|bellwire\/receiver$)/, file);
  }
});
