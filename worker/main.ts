import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { openDrainPool, openQueuePool, WorkerDatabase } from './database.ts';
import { Drain } from './drain.ts';
import { EmailSender } from './email/drain.ts';
import { parseSmtpUrl } from './email/smtp.ts';
import { describeError, type Logger, lineLogger } from './logger.ts';
import { Queue } from './queue.ts';
import { taskList } from './tasks/index.ts';
import { WakeListener } from './wake.ts';
import { deliverRun, type WebhookAttempt } from './webhooks/deliver.ts';
import {
  type AllowList,
  checkTarget,
  parseAllowList,
  RESOLVE_TIMEOUT_MS,
  type Resolve,
  resolveHostname,
} from './webhooks/guard.ts';
import { Ledger } from './webhooks/ledger.ts';
import { Pump } from './webhooks/pump.ts';
import { SEND_TIMEOUT_MS, Sender } from './webhooks/send.ts';
import { checkHeaderPrefix } from './webhooks/signature.ts';
import type { TaskName, Work } from './work.ts';

export interface WorkerOptions {
  /** Connects as `bellwire_worker`. */
  databaseUrl: string;
  /** `smtp://user:password@host:port`; without it e-mail is off. */
  smtpUrl?: string;
  /** `Bellwire <bell@example.com>` */
  mailFrom?: string;
  /** Where the app is reached; links in e-mails begin with it. */
  appUrl?: string;
  /** Private receivers the operator vouches for: networks, addresses, hosts, host:port. */
  webhookAllow?: readonly string[];
  /** `X-<prefix>-Signature-256` and its siblings. */
  webhookHeaderPrefix?: string;
  /** How often to look without having been woken. */
  pollSeconds?: number;
  logger?: Logger;
  /** Told of every webhook attempt that was written down. */
  onWebhookAttempt?: (attempt: WebhookAttempt) => void;
  /** For tests, which cannot wait for ten seconds or rely on a name server. */
  sendTimeoutMs?: number;
  resolve?: Resolve;
}

export interface RunningWorker {
  /** Finishes what is in flight within ten seconds, closes everything. May be called twice. */
  stop(): Promise<void>;
}

const DEFAULT_POLL_SECONDS = 5;
const DEFAULT_HEADER_PREFIX = 'Codex';
const DEFAULT_MAIL_FROM = 'Bellwire <bellwire@localhost>';
const SEQUENCE_BATCH = 500;
const FAN_OUT_CHUNKS = 10;
const EMAIL_ROUNDS_PER_RUN = 10;
/** Above the number of subscriptions an installation usually has, so that hanging ones take no place from others. */
const MAX_SENDS_IN_FLIGHT = 64;
/** One after the other, under one lease: what a claim costs is shared by so many deliveries. */
const MAX_RUN = 32;
const STOP_TIMEOUT_MS = 10_000;
/** For writing down what was cut off. */
const STOP_GRACE_MS = 1_000;
const IDLE_LOOK_MS = 10;

const TASK_FOR_CHANNEL: Record<string, TaskName> = {
  bellwire_webhooks: 'webhooks-sequence',
  bellwire_emails: 'emails-drain',
  bellwire_fan_out: 'fan-out-drain',
};

/**
 * Starts a worker in this process. Any number may run on one database: what must be shared is in
 * its rows. Rejects when the database cannot be reached or a setting cannot be read.
 */
export async function runWorker(options: WorkerOptions): Promise<RunningWorker> {
  const worker = new Worker(options);
  await worker.start();
  return { stop: () => worker.stop() };
}

class Worker {
  readonly #options: WorkerOptions;
  readonly #logger: Logger;
  readonly #drainPool;
  readonly #queuePool;
  readonly #sender: Sender;
  readonly #ledger: Ledger;
  readonly #emailSender: EmailSender | undefined;
  readonly #work: Work;
  readonly #queue: Queue;
  readonly #listener: WakeListener;
  /** Tasks a job is being added for, and whether it was asked for again meanwhile. */
  readonly #beingAdded = new Map<TaskName, boolean>();
  #pollTimer: NodeJS.Timeout | undefined;
  #stopped: Promise<void> | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#logger = options.logger ?? lineLogger();
    const allow = parseAllowList(options.webhookAllow ?? []);
    const smtp = options.smtpUrl ? parseSmtpUrl(options.smtpUrl) : undefined;
    this.#drainPool = openDrainPool(options.databaseUrl, this.#logger);
    this.#queuePool = openQueuePool(options.databaseUrl, this.#logger);
    const database = new WorkerDatabase(this.#drainPool);
    this.#ledger = new Ledger((finished, isStopping) =>
      database.finishWebhooks(finished, isStopping),
    );
    this.#sender = new Sender(options.sendTimeoutMs ?? SEND_TIMEOUT_MS);
    this.#emailSender =
      smtp &&
      new EmailSender({
        database,
        smtp,
        from: options.mailFrom ?? DEFAULT_MAIL_FROM,
        appUrl: options.appUrl,
        logger: this.#logger,
      });
    this.#work = this.#makeWork(database, allow);
    this.#queue = new Queue({
      pool: this.#queuePool,
      tasks: taskList(this.#work),
      logger: this.#logger,
    });
    this.#listener = new WakeListener({
      databaseUrl: options.databaseUrl,
      channels: Object.keys(TASK_FOR_CHANNEL),
      onWake: (channel) => this.#wake(channel),
      logger: this.#logger,
    });
  }

  async start(): Promise<void> {
    try {
      await this.#queue.start();
    } catch (error) {
      await this.stop();
      throw error;
    }
    if (!this.#work.emails) {
      this.#logger.info({}, 'e-mail is off (no SMTP address): rows stay pending');
    }
    this.#listener.start();
    this.#schedulePoll();
    this.#logger.info({ emails: Boolean(this.#work.emails) }, 'worker started');
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#shutDown();
    return this.#stopped;
  }

  #makeWork(database: WorkerDatabase, allow: AllowList): Work {
    const enqueue = (task: TaskName) => this.#enqueue(task);
    const pump = this.#makePump(database, allow);
    const startPump = () => {
      pump.run().catch((error: unknown) => this.#reportFailure('webhooks-pump', error));
    };
    return {
      database,
      pump,
      sequencer: new Drain({
        step: async () => {
          const numbered = await database.sequenceWebhooks(SEQUENCE_BATCH);
          // Also after a zero: another worker may be numbering, and this one can help it send.
          startPump();
          return numbered > 0;
        },
      }),
      emails:
        this.#emailSender &&
        new Drain({
          step: () => this.#emailSender?.round() ?? Promise.resolve(false),
          maxSteps: EMAIL_ROUNDS_PER_RUN,
          onUnfinished: () => void enqueue('emails-drain'),
        }),
      fanOut: new Drain({ step: async () => (await database.drainFanOut(FAN_OUT_CHUNKS)) > 0 }),
      enqueue,
      cleanUpQueue: () => this.#queue.cleanUp(),
      isStopping: () => this.#stopped !== undefined,
      logger: this.#logger,
    };
  }

  #makePump(database: WorkerDatabase, allow: AllowList): Pump {
    const guard = {
      allow,
      resolve: this.#options.resolve ?? resolveHostname,
      resolveTimeoutMs: RESOLVE_TIMEOUT_MS,
    };
    const delivery = {
      database,
      check: (url: string) => checkTarget(url, guard),
      sender: this.#sender,
      ledger: this.#ledger,
      headerPrefix: checkHeaderPrefix(this.#options.webhookHeaderPrefix ?? DEFAULT_HEADER_PREFIX),
      logger: this.#logger,
      onAttempt: this.#options.onWebhookAttempt,
    };
    return new Pump({
      maxInFlight: MAX_SENDS_IN_FLIGHT,
      claim: (maxCount) => database.claimWebhooks(maxCount, MAX_RUN),
      deliver: (run) => deliverRun(run, delivery),
      millisecondsToNext: () => database.millisecondsToNextWebhook(),
      onMuch: () => void this.#enqueue('webhooks-pump'),
      onTimerError: (error) => this.#reportFailure('webhooks-pump', error),
    });
  }

  /**
   * A drain that is running here looks again by itself; otherwise the queue picks one worker, so
   * that a single commit does not make every worker of an installation ask the database.
   */
  #wake(channel: string): void {
    const task = TASK_FOR_CHANNEL[channel];
    if (!task || this.#work.isStopping()) return;
    const drain = this.#drainFor(task);
    if (drain?.isRunning) this.#runDirectly(task);
    else if (drain) void this.#enqueue(task);
  }

  #drainFor(task: TaskName): Drain | Pump | undefined {
    switch (task) {
      case 'webhooks-sequence':
        return this.#work.sequencer;
      case 'webhooks-pump':
        return this.#work.pump;
      case 'emails-drain':
        return this.#work.emails;
      case 'fan-out-drain':
        return this.#work.fanOut;
      default:
        return undefined;
    }
  }

  #runDirectly(task: TaskName): void {
    this.#drainFor(task)
      ?.run()
      .catch((error: unknown) => this.#reportFailure(task, error));
  }

  /** One at a time per task: a hundred wake-ups while one job is being added become one more. */
  async #enqueue(task: TaskName): Promise<void> {
    if (this.#beingAdded.has(task)) {
      this.#beingAdded.set(task, true);
      return;
    }
    do {
      if (this.#work.isStopping()) break;
      this.#beingAdded.set(task, false);
      await this.#addJob(task);
    } while (this.#beingAdded.get(task));
    this.#beingAdded.delete(task);
  }

  async #addJob(task: TaskName): Promise<void> {
    try {
      await this.#queue.add(task);
    } catch (error) {
      this.#reportFailure(task, error);
      // The queue is a convenience; the work is done without it.
      if (!this.#work.isStopping()) this.#runDirectly(task);
    }
  }

  #schedulePoll(): void {
    const seconds = this.#options.pollSeconds ?? DEFAULT_POLL_SECONDS;
    this.#pollTimer = setTimeout(() => void this.#poll(), seconds * 1000);
  }

  /** Needs neither NOTIFY nor the queue: this is what recovery rests on. */
  async #poll(): Promise<void> {
    for (const task of Object.values(TASK_FOR_CHANNEL)) this.#runDirectly(task);
    if (!this.#work.isStopping()) this.#schedulePoll();
  }

  #reportFailure(task: TaskName, error: unknown): void {
    if (this.#work.isStopping()) return;
    this.#logger.warn({ task, error: describeError(error) }, 'a drain failed; it is tried again');
  }

  async #shutDown(): Promise<void> {
    clearTimeout(this.#pollTimer);
    const { sequencer, pump, emails, fanOut } = this.#work;
    this.#ledger.stop();
    const drained = Promise.all([
      this.#listener.stop(),
      sequencer.stop(),
      fanOut.stop(),
      pump.stop(),
      emails?.stop(),
    ]);
    await settledWithin(drained, STOP_TIMEOUT_MS);
    this.#sender.close();
    this.#emailSender?.close();
    // Always before its pool ends, whatever hangs: the queue does not survive a pool that is gone.
    await settledWithin(this.#queue.stop(), STOP_GRACE_MS);
    await settledWithin(drained, STOP_GRACE_MS);
    // Now and then the runner says that it has stopped while a job is still being written off. That
    // job would wait in vain for a connection, and its failure would end the whole process.
    await settledWithin(untilIdle(this.#queuePool), STOP_GRACE_MS);
    const ended = Promise.allSettled([this.#drainPool.end(), this.#queuePool.end()]);
    await settledWithin(ended, STOP_GRACE_MS);
    this.#logger.info({}, 'worker stopped');
  }
}

/** Resolves when nobody uses or waits for a connection, twice in a row, or the pool is ended. */
async function untilIdle(pool: pg.Pool): Promise<void> {
  for (let idleLooks = 0; idleLooks < 2 && !pool.ending; ) {
    await delay(IDLE_LOOK_MS);
    idleLooks = pool.waitingCount === 0 && pool.idleCount === pool.totalCount ? idleLooks + 1 : 0;
  }
}

/** Waits, but not for ever; a timer of its own would keep the process alive. */
async function settledWithin(promise: Promise<unknown>, milliseconds: number): Promise<void> {
  const timer = new AbortController();
  const timeout = delay(milliseconds, undefined, { signal: timer.signal }).catch(() => {});
  await Promise.race([promise.catch(() => {}), timeout]);
  timer.abort();
}
