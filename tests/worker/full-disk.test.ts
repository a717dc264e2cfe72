import t from 'tap';
import type { Logger } from '../../worker/logger.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { fillDisk, noFullDevice, useOwnCluster } from '../support/full-disk.ts';
import { actAs, type Stage, setStage, startMailServer, startWorker, until } from './support.ts';

const POLL_SECONDS = 0.2;
const NO_SPACE = /53100/;

t.test('a worker on a full disk', { skip: noFullDevice }, async (t) => {
  t.setTimeout(120_000);
  await useOwnCluster(t);

  t.test('a drain fails cleanly and goes on when there is room', async (t) => {
    const { database, stage, lines, logger } = await open(t);
    await comment(database, stage);
    t.equal(await count(database, 'fan_out_queue'), 1, 'the audience is left to the worker');
    const free = await fillDisk(database, 'bellwire.notifications');
    const mail = await startMailServer(t);
    await startWorker(t, {
      databaseUrl: database.workerUrl,
      smtpUrl: mail.url,
      pollSeconds: POLL_SECONDS,
      logger,
    });
    const failed = () => lines.filter((line) => NO_SPACE.test(line)).length;
    await until('it has tried three times', () => failed() >= 3);
    t.equal(await count(database, 'fan_out_queue'), 1, 'the event waits');
    t.equal(await count(database, 'notifications'), 0);
    t.equal(await count(database, 'rule_failures'), 0, 'the disk is not taken for its failure');
    t.equal(mail.mails.length, 0);

    await free();
    await until('it is told', async () => (await count(database, 'fan_out_queue')) === 0);
    await t.test('by the same worker, once', async (t) => {
      t.strictSame(await told(database), stage.memberIds.map(String));
      await until('and mailed', () => mail.mails.length === stage.memberIds.length);
      t.equal(await count(database, 'rule_failures'), 0);
    });
  });

  t.test('no room for mail only: nobody is told half, and with room all of it', async (t) => {
    const { database, stage, lines, logger } = await open(t);
    const free = await fillDisk(database, 'bellwire.email_outbox');
    const mail = await startMailServer(t);
    await startWorker(t, {
      databaseUrl: database.workerUrl,
      smtpUrl: mail.url,
      pollSeconds: POLL_SECONDS,
      logger,
    });
    await comment(database, stage);
    await until('it was tried', () => lines.some((line) => NO_SPACE.test(line)));
    t.strictSame(await told(database), [], 'in no inbox');
    t.equal(await count(database, 'rule_failures'), 0);
    await free();
    await until('mailed', () => mail.mails.length === stage.memberIds.length);
    t.strictSame(await told(database), stage.memberIds.map(String));
  });

  t.test('no room for jobs: the work is done without the queue', async (t) => {
    const { database, stage, lines, logger } = await open(t);
    const free = await fillDisk(database, 'graphile_worker._private_jobs');
    await startWorker(t, { databaseUrl: database.workerUrl, pollSeconds: POLL_SECONDS, logger });
    await until('a job could not be added, and people are told all the same', async () => {
      await database.admin.query('delete from bellwire.notifications');
      await comment(database, stage);
      await until('it is told', async () => (await count(database, 'fan_out_queue')) === 0);
      return lines.some((line) => NO_SPACE.test(line));
    });
    t.strictSame(await told(database), stage.memberIds.map(String));
    await free();
    await database.asWorker((client) =>
      client.query("select graphile_worker.add_job('backlog-sweep')"),
    );
    await until('jobs run again', async () => {
      const { rows } = await database.admin.query(
        `select from graphile_worker._private_jobs as job
         join graphile_worker._private_tasks as task on task.id = job.task_id
         where task.identifier = 'backlog-sweep' and job.key is null`,
      );
      return rows.length === 0;
    });
    t.equal(await count(database, 'rule_failures'), 0);
  });
});

/** An audience of two, which is left to the worker. */
async function open(t: Parameters<typeof createDatabase>[0]) {
  const database = await createDatabase(t);
  const stage = await setStage(database, 2);
  await database.admin.query(
    "update bellwire.settings set value = 1 where name = 'sync_fanout_limit'",
  );
  for (const id of stage.memberIds)
    await actAs(database, id, "select api.watch('log', $1)", [String(stage.logId)]);
  const lines: string[] = [];
  const note = (fields: object, message: string) => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  const logger: Logger = { debug: () => {}, info: () => {}, warn: note, error: note };
  return { database, stage, lines, logger };
}

async function comment(database: TestDatabase, stage: Stage): Promise<void> {
  await actAs(
    database,
    stage.ownerId,
    'insert into suite.comments (log_id, body, author_id) values ($1, $2, $3)',
    [stage.logId, 'Rising', stage.ownerId],
  );
}

async function count(database: TestDatabase, table: string): Promise<number> {
  const { rows } = await database.admin.query(
    `select count(*)::int as count from bellwire.${table}`,
  );
  return rows[0].count;
}

async function told(database: TestDatabase): Promise<string[]> {
  const { rows } = await database.admin.query<{ user_id: string }>(
    'select user_id from bellwire.notifications order by user_id, id',
  );
  return rows.map((row) => row.user_id);
}
