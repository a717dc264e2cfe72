import type { Task } from 'graphile-worker';
import type { Work } from '../work.ts';

/** Sends what is numbered. Added when another worker's places are all taken. */
export function webhooksPump(work: Work): Task {
  return async () => {
    await work.pump.run();
  };
}
