import pg from 'pg';
import t from 'tap';
import type { Logger } from '../../worker/logger.ts';
import { Queue } from '../../worker/queue.ts';
import { createDatabase } from '../support/database.ts';
import { holdWriteBacks, until } from './support.ts';

const quiet: Logger = { debug() {}, info() {}, warn() {}, error() {} };

t.test('a runner that has failed is started again, also while one of its jobs hangs', async (t) => {
  const database = await createDatabase(t);
  const pool = new pg.Pool({ connectionString: database.workerUrl });
  pool.on('error', () => {});
  let letGo = () => {};
  const hanging = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let started = 0;
  let done = 0;
  const tasks = {
    'webhooks-pump': async () => {
      started += 1;
      await hanging;
    },
    'fan-out-drain': async () => {
      done += 1;
    },
    'backlog-sweep': async () => {},
    'rows-prune': async () => {},
  };
  const queue = new Queue({ pool, tasks, logger: quiet });
  t.teardown(async () => {
    letGo();
    await queue.stop();
    await pool.end();
  });
  await queue.start();
  await queue.add('webhooks-pump');
  await until('a job hangs', () => started === 1);

  const letWriteBack = await holdWriteBacks(database);
  await queue.add('fan-out-drain');
  await until('another cannot be written back', async () => {
    const { rowCount } = await database.admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event = 'advisory'`,
    );
    return (rowCount ?? 0) > 0;
  });
  await letWriteBack();

  const doneBefore = done;
  await until('jobs are done again', async () => {
    if (
      await queue.add('fan-out-drain').then(
        () => false,
        () => true,
      )
    )
      return false;
    return done > doneBefore;
  });
  t.pass();
});
