import type { Task } from 'graphile-worker';
import type { TaskName, Work } from '../work.ts';

/** The parts of `worker_backlog()` and what works each of them off. */
const TASK_FOR: Record<string, TaskName> = {
  webhooks_unsequenced: 'webhooks-sequence',
  webhooks_pending: 'webhooks-pump',
  emails: 'emails-drain',
  fan_out: 'fan-out-drain',
};

/** Adds a job for whatever has a backlog, so that a lost wake-up never costs more than a minute. */
export function backlogSweep(work: Work): Task {
  return async () => {
    for (const { what, waiting } of await work.database.backlog()) {
      const task = TASK_FOR[what];
      if (task && waiting > 0) await work.enqueue(task);
    }
  };
}
