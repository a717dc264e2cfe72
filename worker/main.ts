import { setTimeout as delay } from 'node:timers/promises';
import type { Task, TaskList } from 'graphile-worker';
import { NOT_MIGRATED, Readiness } from '../operations/readiness.ts';
import { parseAllowList } from '../outgoing/allow-list.ts';
import { checkTarget, type GuardOptions } from '../outgoing/guard.ts';
import { DEFAULT_PORTS, parsePorts } from '../outgoing/ports.ts';
import { RESOLVE_TIMEOUT_MS, type Resolve, resolveHostname } from '../outgoing/resolve.ts';
import { Keyring } from '../secrets/keyring.ts';
import { openCheckPool, openDrainPool, openQueuePool, WorkerDatabase } from './database.ts';
import { Drain } from './drain.ts';
import { EmailSender } from './email/drain.ts';
import { parseSmtpUrl } from './email/smtp.ts';
import { describeError, type Logger, lineLogger } from './logger.ts';
import { WorkerMetrics } from './metrics.ts';
import { ProbeListener, type ProbeOptions } from './probes.ts';
import { Queue } from './queue.ts';
import { CHANNELS, Scheduler } from './scheduler.ts';
import { sealSecrets } from './seal.ts';
import { taskList } from './tasks/index.ts';
import { WakeListener } from './wake.ts';
import { deliverRun, type WebhookAttempt } from './webhooks/deliver.ts';
import { Ledger } from './webhooks/ledger.ts';
import { Pump } from './webhooks/pump.ts';
import { openingSecrets } from './webhooks/secrets.ts';
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
  /** Ports webhooks may go to: single ones and ranges. */
  webhookPorts?: readonly string[];
  /** `X-<prefix>-Signature-256` and its siblings. */
  webhookHeaderPrefix?: string;
  /** Told of each attempt to send a webhook whose outcome is written down. */
  onWebhookAttempt?: (attempt: WebhookAttempt) => void;
  /** Where to answer probes; without it the worker listens nowhere. */
  probes?: ProbeOptions;
  /** Statements that take as long or longer are logged; default 500. */
  slowQueryMs?: number;
  /** Open and seal the secrets of webhook subscriptions and second factors, the newest first. */
  secretsKeys?: readonly string[];
  /** How often to look without having been woken. */
  pollSeconds?: number;
  logger?: Logger;
  /** For tests, which cannot wait for ten seconds or rely on a name server. */
  sendTimeoutMs?: number;
  resolve?: Resolve;
}

export interface RunningWorker {
  /** Where it answers probes, like http://127.0.0.1:9464; undefined: nowhere. */
  address: string | undefined;
  /**
   * Finishes what is in flight within six seconds, closes everything. May be called twice.
   * @returns what did not end as it should, a sentence each; everything else is done all the same
   */
  stop(): Promise<readonly string[]>;
}

const DEFAULT_POLL_SECONDS = 5;
const DEFAULT_HEADER_PREFIX = 'Codex';
const DEFAULT_MAIL_FROM = 'Bellwire <bellwire@localhost>';
const SEQUENCE_BATCH = 500;
const FAN_OUT_CHUNKS = 10;
const EMAIL_ROUNDS_PER_RUN = 10;
/** Above the number of subscriptions an installation usually has, so that hanging ones take no place from others. */
const MAX_SENDS_IN_FLIGHT = 64;
const DEFAULT_SLOW_QUERY_MS = 500;
/** With the graces that follow, within the ten seconds that a process has to end. */
const STOP_TIMEOUT_MS = 6_000;
/** One after the other, under one lease: what a claim costs is shared by so many deliveries. */
const MAX_RUN = 32;
/** For writing down what was cut off. */
const STOP_GRACE_MS = 1_000;

/**
 * Starts a worker in this process. Any number may run on one database: what must be shared is in
 * its rows. Rejects when the database cannot be used or a setting cannot be read.
 */
export async function runWorker(options: WorkerOptions): Promise<RunningWorker> {
  const worker = new Worker(options);
  await worker.start();
  return { address: worker.address, stop: () => worker.stop() };
}

class Worker {
  readonly #options: WorkerOptions;
  readonly #logger: Logger;
  readonly #keyring: Keyring;
  readonly #drainPool;
  readonly #queuePool;
  readonly #sender: Sender;
  readonly #ledger: Ledger;
  readonly #emailSender: EmailSender | undefined;
  readonly #scheduler: Scheduler;
  readonly #work: Work;
  readonly #queue: Queue;
  readonly #listener: WakeListener;
  readonly #readiness: Readiness;
  readonly #metrics: WorkerMetrics;
  readonly #probes: ProbeListener | undefined;
  /** Where it answers probes, once it is started. */
  address: string | undefined;
  #stopped: Promise<readonly string[]> | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#logger = options.logger ?? lineLogger();
    const guard = {
      ports: parsePorts(options.webhookPorts ?? DEFAULT_PORTS),
      allow: parseAllowList(options.webhookAllow ?? []),
      resolve: options.resolve ?? resolveHostname,
      resolveTimeoutMs: RESOLVE_TIMEOUT_MS,
    };
    this.#keyring = new Keyring(options.secretsKeys);
    const smtp = options.smtpUrl ? parseSmtpUrl(options.smtpUrl) : undefined;
    this.#drainPool = openDrainPool(options.databaseUrl, this.#logger);
    this.#queuePool = openQueuePool(options.databaseUrl, this.#logger);
    const slowQueryMs = options.slowQueryMs ?? DEFAULT_SLOW_QUERY_MS;
    const database = new WorkerDatabase(this.#drainPool, (statement, ms) => {
      if (ms >= slowQueryMs) this.#logger.warn({ statement, ms }, 'slow query');
    });
    this.#metrics = new WorkerMetrics(database);
    this.#readiness = new Readiness(() => database.isMigrated());
    this.#probes = this.#makeProbes();
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
        onResult: (result) => this.#metrics.email(result),
      });
    this.#scheduler = new Scheduler({
      pollSeconds: options.pollSeconds ?? DEFAULT_POLL_SECONDS,
      addJob: (task) => this.#queue.add(task),
      onFailure: (task, error) => {
        this.#metrics.failure(task);
        this.#logger.warn(
          { task, error: describeError(error) },
          'a drain failed; it is tried again',
        );
      },
    });
    this.#work = this.#makeWork(database, guard);
    this.#queue = new Queue({
      pool: this.#queuePool,
      tasks: this.#counted(taskList(this.#work)),
      logger: this.#logger,
    });
    this.#listener = new WakeListener({
      databaseUrl: options.databaseUrl,
      channels: CHANNELS,
      onWake: (channel) => this.#scheduler.wake(channel),
      logger: this.#logger,
    });
  }

  async start(): Promise<void> {
    try {
      // One that is not there at all is told by the queue, with the reason.
      if ((await this.#readiness.reason()) === 'migrations') throw new Error(NOT_MIGRATED);
      await this.#queue.start();
      this.address = await this.#probes?.start();
    } catch (error) {
      await this.stop();
      throw await this.#explain(error);
    }
    if (!this.#work.emails) {
      this.#logger.info({}, 'e-mail is off (no SMTP address): rows stay pending');
    }
    this.#listener.start();
    this.#scheduler.start({
      'webhooks-sequence': this.#work.sequencer,
      'webhooks-pump': this.#work.pump,
      'emails-drain': this.#work.emails,
      'fan-out-drain': this.#work.fanOut,
      'secrets-seal': this.#work.sealer,
    });
    this.#logger.info({ emails: Boolean(this.#work.emails) }, 'worker started');
  }

  /** The failure of a start, as a sentence for the operator where it is the database's. */
  async #explain(error: unknown): Promise<unknown> {
    const pool = openCheckPool(this.#options.databaseUrl, this.#logger);
    const database = new WorkerDatabase(pool);
    const reason = await new Readiness(() => database.isMigrated()).reason();
    await pool.end();
    if (reason === undefined) return error;
    const sentence =
      reason === 'migrations'
        ? NOT_MIGRATED
        : `The worker cannot use its database (DATABASE_WORKER_URL): ${describeError(error)}`;
    return new Error(sentence, { cause: error });
  }

  stop(): Promise<readonly string[]> {
    this.#stopped ??= this.#shutDown();
    return this.#stopped;
  }

  #makeProbes(): ProbeListener | undefined {
    const { probes } = this.#options;
    if (probes === undefined) return undefined;
    if (probes.metricsToken !== undefined) this.#metrics.collectProcess();
    const [readiness, metrics, logger] = [this.#readiness, this.#metrics, this.#logger];
    return new ProbeListener(probes, { readiness, metrics, logger });
  }

  /** The tasks of the queue, which logs what they throw and runs them again by itself. */
  #counted(tasks: Record<TaskName, Task>): TaskList {
    const counted = Object.entries(tasks).map(([name, task]): [string, Task] => [
      name,
      async (payload, helpers) => {
        try {
          return await task(payload, helpers);
        } catch (error) {
          this.#metrics.failure(name as TaskName);
          throw error;
        }
      },
    ]);
    return Object.fromEntries(counted);
  }

  #makeWork(database: WorkerDatabase, guard: GuardOptions): Work {
    const enqueue = (task: TaskName) => this.#scheduler.enqueue(task);
    const pump = this.#makePump(database, guard);
    return {
      database,
      pump,
      sequencer: new Drain({
        step: async () => {
          const numbered = await database.sequenceWebhooks(SEQUENCE_BATCH);
          this.#metrics.numbered(numbered);
          // Also after a zero: another worker may be numbering, and this one can help it send.
          this.#scheduler.run('webhooks-pump');
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
      fanOut: new Drain({
        step: async () => {
          const chunks = await database.drainFanOut(FAN_OUT_CHUNKS);
          this.#metrics.fanOut(chunks);
          return chunks > 0;
        },
      }),
      sealer: new Drain({
        step: () => sealSecrets({ keyring: this.#keyring, database, logger: this.#logger }),
      }),
      enqueue,
      cleanUpQueue: () => this.#queue.cleanUp(),
      isStopping: () => this.#stopped !== undefined,
      logger: this.#logger,
    };
  }

  #makePump(database: WorkerDatabase, guard: GuardOptions): Pump {
    const delivery = {
      database,
      check: (url: string) => checkTarget(url, guard),
      sender: this.#sender,
      ledger: this.#ledger,
      headerPrefix: checkHeaderPrefix(this.#options.webhookHeaderPrefix ?? DEFAULT_HEADER_PREFIX),
      logger: this.#logger,
      onAttempt: (attempt: WebhookAttempt) => {
        this.#metrics.webhookAttempt(attempt);
        this.#options.onWebhookAttempt?.(attempt);
      },
    };
    return new Pump({
      maxInFlight: MAX_SENDS_IN_FLIGHT,
      claim: (maxCount) => database.claimWebhooks(maxCount, MAX_RUN),
      deliver: openingSecrets(
        { keyring: this.#keyring, database, ledger: this.#ledger, logger: this.#logger },
        (run) => deliverRun(run, delivery),
      ),
      millisecondsToNext: () => database.millisecondsToNextWebhook(),
      onMuch: () => void this.#scheduler.enqueue('webhooks-pump'),
      onTimerError: (error) => this.#scheduler.report('webhooks-pump', error),
    });
  }

  /** Every step runs, whatever became of those before it. */
  async #shutDown(): Promise<readonly string[]> {
    this.#readiness.isShuttingDown = true;
    this.#scheduler.stop();
    const { sequencer, pump, emails, fanOut, sealer } = this.#work;
    const failures: string[] = [];
    const step = async (name: string, work: Promise<unknown>, milliseconds = STOP_GRACE_MS) => {
      const problem = await settledWithin(work, milliseconds);
      if (problem !== undefined) failures.push(`${name}: ${problem}`);
    };
    this.#ledger.stop();
    const drained = Promise.all([
      this.#listener.stop(),
      sequencer.stop(),
      fanOut.stop(),
      sealer.stop(),
      pump.stop(),
      emails?.stop(),
    ]);
    await step('what was under way', drained, STOP_TIMEOUT_MS);
    this.#sender.close();
    this.#emailSender?.close();
    // Always before its pool ends, whatever hangs: the queue does not survive a pool that is gone.
    await step('the job queue', this.#queue.stop());
    await settledWithin(drained, STOP_GRACE_MS);
    const ended = Promise.all([this.#drainPool.end(), this.#queuePool.end()]);
    await step('the database connections', ended);
    // Last, so that a probe is told until the end that this is a stop.
    if (this.#probes) await step('the probes', this.#probes.stop());
    this.#logger.info({ failures }, 'worker stopped');
    return failures;
  }
}

/** Waits, but not for ever; what went wrong, if anything. A timer of its own would keep the process alive. */
async function settledWithin(
  promise: Promise<unknown>,
  milliseconds: number,
): Promise<string | undefined> {
  const timer = new AbortController();
  const late = delay(milliseconds, 'it took too long', { signal: timer.signal }).catch(() => '');
  const settled = promise.then(
    () => undefined,
    (error: unknown) => describeError(error),
  );
  const problem = await Promise.race([settled, late]);
  timer.abort();
  return problem;
}
