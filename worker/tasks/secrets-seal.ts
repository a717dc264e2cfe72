import type { Task } from 'graphile-worker';
import type { Work } from '../work.ts';

/** Seals the secrets that are stored plain or under an older key. */
export function secretsSeal(work: Work): Task {
  return async () => {
    await work.sealer.run();
  };
}
