import type { TaskName } from './work.ts';

/** What empties one outbox: it runs until there is nothing left. */
interface Runnable {
  readonly isRunning: boolean;
  run(): Promise<void>;
}

interface SchedulerOptions {
  pollSeconds: number;
  /** Rejects while the queue cannot be used. */
  addJob: (task: TaskName) => Promise<void>;
  onFailure: (task: TaskName, error: unknown) => void;
}

const TASK_FOR_CHANNEL: Record<string, TaskName> = {
  bellwire_webhooks: 'webhooks-sequence',
  bellwire_emails: 'emails-drain',
  bellwire_secrets: 'secrets-seal',
  bellwire_fan_out: 'fan-out-drain',
};
const RUN_SOON_MS = 500;
const MILLISECONDS_PER_SECOND = 1000;

/** Where NOTIFY says that there is work. */
export const CHANNELS = Object.keys(TASK_FOR_CHANNEL);

/** When what empties an outbox runs in this process: at a wake-up, after a failure, at each poll. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  #runnables: Partial<Record<TaskName, Runnable>> = {};
  /** Tasks a job is being added for, and whether it was asked for again meanwhile. */
  readonly #beingAdded = new Map<TaskName, boolean>();
  /** Tasks that were run once more after a failure since the last poll. */
  readonly #runsSoon = new Set<TaskName>();
  #pollTimer: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** The first poll is one interval away. */
  start(runnables: Partial<Record<TaskName, Runnable>>): void {
    this.#runnables = runnables;
    this.#schedulePoll();
  }

  /** Begins nothing more; what runs goes on. */
  stop(): void {
    this.#isStopping = true;
    clearTimeout(this.#pollTimer);
  }

  /**
   * What is running here looks again by itself; otherwise the queue picks one worker, so that a
   * single commit does not make every worker of an installation ask the database.
   */
  wake(channel: string): void {
    const task = TASK_FOR_CHANNEL[channel];
    if (!task || this.#isStopping) return;
    const runnable = this.#runnables[task];
    if (runnable?.isRunning) this.run(task);
    else if (runnable) void this.enqueue(task);
  }

  /** Here, without the queue. */
  run(task: TaskName): void {
    this.#runnables[task]?.run().catch((error: unknown) => {
      this.report(task, error);
      this.#runSoon(task);
    });
  }

  /** One at a time per task: a hundred wake-ups while one job is being added become one more. */
  async enqueue(task: TaskName): Promise<void> {
    if (this.#beingAdded.has(task)) {
      this.#beingAdded.set(task, true);
      return;
    }
    do {
      if (this.#isStopping) break;
      this.#beingAdded.set(task, false);
      await this.#addJob(task);
    } while (this.#beingAdded.get(task));
    this.#beingAdded.delete(task);
  }

  /** A failure of a task; during a stop they are expected. */
  report(task: TaskName, error: unknown): void {
    if (!this.#isStopping) this.#options.onFailure(task, error);
  }

  /**
   * Once more after a failure, and not again before the next poll: a wake-up may have met a
   * connection whose end was not noticed yet, and nobody wakes us twice.
   */
  #runSoon(task: TaskName): void {
    if (this.#runsSoon.has(task) || this.#isStopping) return;
    this.#runsSoon.add(task);
    setTimeout(() => this.run(task), RUN_SOON_MS).unref();
  }

  async #addJob(task: TaskName): Promise<void> {
    try {
      await this.#options.addJob(task);
    } catch (error) {
      this.report(task, error);
      // The queue is a convenience; the work is done without it.
      if (!this.#isStopping) this.run(task);
    }
  }

  #schedulePoll(): void {
    const milliseconds = this.#options.pollSeconds * MILLISECONDS_PER_SECOND;
    this.#pollTimer = setTimeout(() => this.#poll(), milliseconds);
  }

  /** Needs neither NOTIFY nor the queue: this is what recovery rests on. */
  #poll(): void {
    this.#runsSoon.clear();
    for (const task of Object.values(TASK_FOR_CHANNEL)) this.run(task);
    this.#schedulePoll();
  }
}
