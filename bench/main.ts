/**
 * `npm run bench [-- figure …] [--json]`: measures the figures of ARCHITECTURE.md on this machine.
 *
 * Every figure is a ratio between two ways of doing the same thing in the same run, because
 * absolute numbers say more about the machine than about the code.
 */
import { parseArgs } from 'node:util';
import { openBenchDatabase } from './database.ts';
import { bulkWrite } from './figures/bulk-write.ts';
import { commitToDelivery } from './figures/commit-to-delivery.ts';
import { deliver } from './figures/deliver.ts';
import { emitConcurrent } from './figures/emit-concurrent.ts';
import { fanout } from './figures/fanout.ts';
import { inboxRead } from './figures/inbox-read.ts';
import { push } from './figures/push.ts';
import { ruledWrite } from './figures/ruled-write.ts';
import type { Figure, Measurement } from './measure.ts';

const FIGURES: Record<string, Figure> = {
  fanout,
  'ruled-write': ruledWrite,
  'bulk-write': bulkWrite,
  push,
  deliver,
  'emit-concurrent': emitConcurrent,
  'commit-to-delivery': commitToDelivery,
  'inbox-read': inboxRead,
};

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  const names = positionals.length > 0 ? positionals : Object.keys(FIGURES);
  const unknown = names.filter((name) => !(name in FIGURES));
  if (values.help || unknown.length > 0) {
    if (unknown.length > 0) console.error(`no such figure: ${unknown.join(', ')}`);
    console.log(
      `usage: npm run bench -- [figure …] [--json]\nfigures: ${Object.keys(FIGURES).join(', ')}`,
    );
    return unknown.length > 0 ? 2 : 0;
  }
  const log = (line: string) => console.error(line);
  for (const name of names) {
    log(`${name}: preparing`);
    // A database of its own, so that no figure is measured on what another left behind.
    const database = await openBenchDatabase();
    try {
      const measurements = await (FIGURES[name] as Figure)(database, log);
      print(measurements, values.json ?? false);
    } finally {
      await database.close();
    }
  }
  return 0;
}

function print(measurements: Measurement[], asJson: boolean): void {
  for (const measurement of measurements) {
    if (asJson) {
      console.log(JSON.stringify(measurement));
      continue;
    }
    const { figure, value, unit, against, ratio, goal } = measurement;
    const verdict =
      goal === undefined ? '' : ratio >= goal ? `  goal ${goal}: met` : `  goal ${goal}: MISSED`;
    console.log(
      `${figure.padEnd(14)}${String(value).padStart(10)} ${unit}  ${ratio}× ${against}${verdict}`,
    );
  }
}

process.exitCode = await main();
