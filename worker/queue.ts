import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  makeWorkerUtils,
  parseCronItems,
  Logger as QueueLogger,
  type Runner,
  run,
  type Task,
  type TaskList,
  type WorkerEvents,
} from 'graphile-worker';
import type pg from 'pg';
import { describeError, type Logger } from './logger.ts';
import type { TaskName } from './work.ts';

/** One place per task, and one to spare for the daily prune beside a long drain. */
const CONCURRENT_JOBS = 6;
/** Only retries wait for it: a new job is announced by NOTIFY. */
const POLL_INTERVAL_MS = 10_000;
const MAX_ATTEMPTS = 5;
const RESTART_AFTER_MS = 5_000;
/** For the jobs of a runner that has failed: a drain may go on for as long as there is work. */
const FAILED_RUNNER_PATIENCE_MS = 2_000;
const LISTEN_TIMEOUT_MS = 5_000;
const PRUNE_AT = '17 3 * * *';
/**
 * The runner does not wait until a job is written back. In a batch, of one mostly, a failure of that
 * ends the runner; without batches it is a rejection without a handler, and ends the process.
 */
const WRITE_BACK_AFTER_MS = 0;

interface QueueOptions {
  pool: pg.Pool;
  tasks: TaskList;
  logger: Logger;
}

/**
 * The graphile-worker runner of this process. If it ends by itself (a job could not be written
 * back, say) it is started again; until then the slow poll does its work.
 */
export class Queue {
  readonly #options: QueueOptions;
  #runner: Runner | undefined;
  #restarting: Promise<void> | undefined;
  #isStopping = false;
  readonly #stopped = new AbortController();

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Rejects when the queue's tables are missing or closed to this role. */
  async start(): Promise<void> {
    const { pool, tasks, logger } = this.#options;
    const events: WorkerEvents = new EventEmitter();
    const failed = new AbortController();
    const isListening = once(events, 'pool:listen:success', {
      signal: AbortSignal.timeout(LISTEN_TIMEOUT_MS),
    }).catch(() => {});
    const runner = await run({
      pgPool: pool,
      events,
      taskList: heldBackBy(failed.signal, tasks),
      parsedCronItems: cronItems(),
      concurrency: CONCURRENT_JOBS,
      pollInterval: POLL_INTERVAL_MS,
      noHandleSignals: true,
      logger: new QueueLogger(() => queueLog(logger)),
      preset: {
        worker: {
          completeJobBatchDelay: WRITE_BACK_AFTER_MS,
          failJobBatchDelay: WRITE_BACK_AFTER_MS,
        },
      },
    });
    let forcing: NodeJS.Timeout | undefined;
    events.once('pool:fatalError', ({ workerPool }) => {
      const end = async () => {
        failed.abort();
        await workerPool.forcefulShutdown('the queue starts again');
      };
      forcing = setTimeout(() => end().catch(() => {}), FAILED_RUNNER_PATIENCE_MS);
    });
    // Why it ended it has logged by then.
    const restart = () => {
      clearTimeout(forcing);
      this.#restarting = this.#restart();
    };
    runner.promise.then(restart, restart);
    // A runner that is stopped before it listens takes twelve seconds to notice.
    await isListening;
    this.#runner = runner;
  }

  /**
   * Adds a job under a key of its own name. Mode `replace`: a job that waits is merged with this
   * one, and a job that runs (here, elsewhere, or in a worker that was killed) gets a successor,
   * so a wake-up during a run is not lost and a dead worker's lock blocks nothing.
   */
  async add(task: TaskName): Promise<void> {
    if (!this.#runner) throw new Error('The job queue is not running.');
    await this.#runner.addJob(
      task,
      {},
      { jobKey: task, jobKeyMode: 'replace', maxAttempts: MAX_ATTEMPTS },
    );
  }

  /**
   * Deletes jobs that are out of attempts: those that failed, and what killed workers left behind
   * once its lock has lapsed.
   */
  async cleanUp(): Promise<void> {
    const { pool, logger } = this.#options;
    const utilities = await makeWorkerUtils({
      pgPool: pool,
      logger: new QueueLogger(() => queueLog(logger)),
    });
    try {
      await utilities.cleanup({ tasks: ['DELETE_PERMAFAILED_JOBS'] });
    } finally {
      await utilities.release();
    }
  }

  /** Takes no more jobs and waits for those that run. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#stopped.abort();
    // A start that is under way would leave its runner behind.
    await this.#restarting;
    const runner = this.#runner;
    this.#runner = undefined;
    await runner?.stop().catch(() => {});
  }

  async #restart(): Promise<void> {
    this.#runner = undefined;
    while (!this.#isStopping && !this.#runner) {
      await delay(RESTART_AFTER_MS, undefined, { signal: this.#stopped.signal }).catch(() => {});
      if (this.#isStopping) return;
      await this.start().catch((error: unknown) => {
        this.#options.logger.warn({ error: describeError(error) }, 'the job queue could not start');
      });
    }
  }
}

/**
 * The tasks, of which none ends any more once the signal is given: a runner that was ended by force
 * answers a job that ends later with a rejection nobody handles.
 */
function heldBackBy(signal: AbortSignal, tasks: TaskList): TaskList {
  const heldBack = ([name, task]: [string, TaskList[string]]): [string, Task] => [
    name,
    (payload, helpers) =>
      new Promise((resolve, reject) => {
        Promise.resolve(task?.(payload, helpers)).then(
          () => signal.aborted || resolve(),
          (error: unknown) => signal.aborted || reject(error),
        );
      }),
  ];
  return Object.fromEntries(Object.entries(tasks).map(heldBack));
}

function cronItems() {
  return parseCronItems([
    { task: 'backlog-sweep', match: '* * * * *', options: cronOptions('backlog-sweep') },
    { task: 'rows-prune', match: PRUNE_AT, options: cronOptions('rows-prune') },
  ]);
}

function cronOptions(task: TaskName) {
  return {
    jobKey: task,
    jobKeyMode: 'replace' as const,
    maxAttempts: MAX_ATTEMPTS,
    backfillPeriod: 0,
  };
}

/** The queue's own messages: one line each, its per-job chatter only for debugging. */
function queueLog(logger: Logger) {
  return (level: string, message: string, meta?: { error?: unknown }) => {
    const text = meta?.error ? describeError(meta.error) : (message.split('\n')[0] ?? '');
    if (level === 'error') logger.error({ error: text }, 'job queue');
    else if (level === 'warning') logger.warn({ warning: text }, 'job queue');
    else logger.debug({ text }, 'job queue');
  };
}
