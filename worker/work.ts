import type { WorkerDatabase } from './database.ts';
import type { Drain } from './drain.ts';
import type { Logger } from './logger.ts';
import type { Pump } from './webhooks/pump.ts';

/** What the tasks work with: one of each per process. */
export interface Work {
  database: WorkerDatabase;
  sequencer: Drain;
  pump: Pump;
  /** Undefined while e-mail is off: then nothing is claimed and rows stay pending. */
  emails: Drain | undefined;
  fanOut: Drain;
  /** Seals secrets that are stored plain or under an older key. */
  sealer: Drain;
  /** Puts a task into the queue for whichever worker is free; failures are logged, not thrown. */
  enqueue: (task: TaskName) => Promise<void>;
  /** Deletes jobs that will never run again. */
  cleanUpQueue: () => Promise<void>;
  isStopping: () => boolean;
  logger: Logger;
}

export type TaskName =
  | 'webhooks-sequence'
  | 'webhooks-pump'
  | 'emails-drain'
  | 'fan-out-drain'
  | 'secrets-seal'
  | 'rows-prune'
  | 'backlog-sweep';
