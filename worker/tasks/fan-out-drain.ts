import type { Task } from 'graphile-worker';
import type { Work } from '../work.ts';

/** Tells the audiences that were too large for the transaction that made the event. */
export function fanOutDrain(work: Work): Task {
  return async () => {
    await work.fanOut.run();
  };
}
