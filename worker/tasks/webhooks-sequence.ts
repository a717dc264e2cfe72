import type { Task } from 'graphile-worker';
import type { Work } from '../work.ts';

/** Numbers committed events. The sequencer itself starts the pump, without a detour by the queue. */
export function webhooksSequence(work: Work): Task {
  return async () => {
    await work.sequencer.run();
  };
}
