import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import type { BenchDatabase } from '../database.ts';
import { startWorkerProcess, stopProcess } from '../delivery.ts';
import { type Measurement, median, percentile, rounded } from '../measure.ts';

const WRITES = 100;
const WARM_UP_WRITES = 10;
/** Longer than the worker looks again after it found something: each write finds it idle. */
const REST_MS = 160;
const MEDIAN_LIMIT_MS = 50;

/**
 * From sending COMMIT to the request at the receiver, with a worker process that has nothing to do.
 */
export async function commitToDelivery(
  database: BenchDatabase,
  log: (line: string) => void,
): Promise<Measurement[]> {
  const receiver = http.createServer((request, response) => {
    request.resume();
    response.writeHead(204).end();
    receiver.emit('arrived');
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  await prepare(database.admin, port);
  const worker = await startWorkerProcess(database.adminUrl);
  const times: number[] = [];
  try {
    const writer = await database.connect(1).connect();
    for (let write = 0; write < WARM_UP_WRITES + WRITES; write++) {
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
      const time = await timed(writer, receiver, write);
      if (write >= WARM_UP_WRITES) times.push(time);
    }
    writer.release();
  } finally {
    await stopProcess(worker);
    receiver.closeAllConnections();
    receiver.close();
  }
  const middle = median(times);
  log(
    `commit-to-delivery: median ${rounded(middle)} ms, 99th percentile ${rounded(percentile(times, 0.99))} ms`,
  );
  const common = { figure: 'commit-to-delivery', unit: 'ms' };
  return [
    {
      ...common,
      value: rounded(middle),
      against: `${MEDIAN_LIMIT_MS} ms, median`,
      ratio: rounded(MEDIAN_LIMIT_MS / middle),
      goal: 1,
    },
    {
      ...common,
      value: rounded(percentile(times, 0.99)),
      against: 'its median, 99th percentile',
      ratio: rounded(middle / percentile(times, 0.99)),
    },
  ];
}

async function prepare(admin: pg.Pool, port: number): Promise<void> {
  await admin.query(`
    insert into bellwire.users (name, email) values ('User', 'user@example.com');
    insert into bellwire.workspaces (name) values ('Bench');
    insert into suite.squads (workspace_id, name) values (1, 'Bench');
    insert into suite.archives (squad_id, name) values (1, 'Bench');
    select bellwire.create_webhook_subscription('http://127.0.0.1:${port}/');
  `);
}

/** Milliseconds. */
async function timed(writer: pg.PoolClient, receiver: http.Server, write: number): Promise<number> {
  await writer.query('begin');
  await writer.query('update suite.archives set name = $1', [`Name ${write}`]);
  const arrived = once(receiver, 'arrived', { signal: AbortSignal.timeout(10_000) });
  const startedAt = performance.now();
  const committed = writer.query('commit');
  await arrived;
  const elapsed = performance.now() - startedAt;
  await committed;
  return elapsed;
}
