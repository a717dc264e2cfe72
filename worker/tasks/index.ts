import type { Task } from 'graphile-worker';
import type { TaskName, Work } from '../work.ts';
import { backlogSweep } from './backlog-sweep.ts';
import { emailsDrain } from './emails-drain.ts';
import { fanOutDrain } from './fan-out-drain.ts';
import { rowsPrune } from './rows-prune.ts';
import { secretsSeal } from './secrets-seal.ts';
import { webhooksPump } from './webhooks-pump.ts';
import { webhooksSequence } from './webhooks-sequence.ts';

/** Every task under its name in the queue. */
export function taskList(work: Work): Record<TaskName, Task> {
  return {
    'webhooks-sequence': webhooksSequence(work),
    'webhooks-pump': webhooksPump(work),
    'emails-drain': emailsDrain(work),
    'fan-out-drain': fanOutDrain(work),
    'secrets-seal': secretsSeal(work),
    'rows-prune': rowsPrune(work),
    'backlog-sweep': backlogSweep(work),
  };
}
