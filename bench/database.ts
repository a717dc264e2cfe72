import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startEmbedded } from '../db/embedded.ts';
import { migrate } from '../db/migrate.ts';

export interface BenchDatabase {
  /** A superuser's connection string. */
  adminUrl: string;
  /** A superuser's pool. */
  admin: pg.Pool;
  /** A pool of so many connections as the role an application connects with. */
  connect(clients: number): pg.Pool;
  close(): Promise<void>;
}

/**
 * A throw-away server. Not durable: without waiting for the disk the cost of the rules is a larger
 * part of every figure, so the ratios are on the strict side.
 */
export async function openBenchDatabase(): Promise<BenchDatabase> {
  const directory = await mkdtemp(path.join(tmpdir(), 'bellwire-bench-'));
  await chmod(directory, 0o711);
  const server = await startEmbedded({ dataDir: path.join(directory, 'data'), durable: false });
  await migrate(server.adminUrl);
  const pools: pg.Pool[] = [];
  const connect = (clients: number) => {
    const pool = new pg.Pool({ connectionString: server.adminUrl, max: clients });
    // The server may be gone before the last connection has said goodbye.
    pool.on('error', () => {});
    pools.push(pool);
    return pool;
  };
  return {
    adminUrl: server.adminUrl,
    admin: connect(4),
    connect,
    async close() {
      await Promise.all(pools.map((pool) => pool.end()));
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
