import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import ipaddr from 'ipaddr.js';
import t from 'tap';
import { readEnvironment } from '../../config/read.ts';

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

t.test(
  'in containers the gateway is the proxy that is trusted, and each process is probed',
  async (t) => {
    const compose = read('docker-compose.yml');
    const value = (name: string) =>
      new RegExp(`^ +(?:- )?${name}: (.+)$`, 'm').exec(compose)?.[1] ?? '';
    const [, trusted = ''] = /^\$\{TRUST_PROXY:-(.+)\}$/.exec(value('TRUST_PROXY')) ?? [];
    const gateway = value('gateway');
    t.strictSame(readEnvironment({ TRUST_PROXY: trusted }).TRUST_PROXY, [
      ...(readEnvironment({}).TRUST_PROXY as string[]),
      `${gateway}/32`,
    ]);
    t.ok(ipaddr.parse(gateway).match(ipaddr.parseCIDR(value('subnet'))));
    // On one address of IPv4: an IPv6 client of a wider one would come as the gateway, too.
    t.match(compose, /^ +- "127\.0\.0\.1:3000:3000"$/m);
    const probes = Array.from(
      compose.matchAll(/^ +"(fetch\('http:\/\/127\.0\.0\.1:(\d+)\/readyz'\).+)",$/gm),
      ([, program = '', port = '']) => ({ program, port }),
    );
    t.strictSame(
      probes.map(({ port }) => port),
      ['3000', value('WORKER_PORT')],
    );
    for (const status of [200, 503]) {
      const server = createServer((_request, response) => response.writeHead(status).end());
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as { port: number };
      for (const probe of probes) {
        const child = spawn(process.execPath, [
          '-e',
          probe.program.replace(probe.port, String(port)),
        ]);
        const [code] = await once(child, 'exit');
        t.equal(code, status === 200 ? 0 : 1, `${probe.port} ${status}`);
      }
      server.close();
    }
  },
);
