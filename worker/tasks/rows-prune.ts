import type { Task } from 'graphile-worker';
import type { Work } from '../work.ts';

const BATCH_ROWS = 1_000;
/** Ten million rows a day; what is left after that waits for the next day. */
const MAX_BATCHES = 10_000;

/** Deletes what is past its retention, in batches so that no lock is held for long. */
export function rowsPrune(work: Work): Task {
  return async () => {
    const totals: Record<string, number> = {};
    for (let batch = 0; batch < MAX_BATCHES && !work.isStopping(); batch += 1) {
      const pruned = await work.database.prune(BATCH_ROWS);
      for (const { what, deleted } of pruned) totals[what] = (totals[what] ?? 0) + deleted;
      if (pruned.every(({ deleted }) => deleted === 0)) break;
    }
    await work.cleanUpQueue();
    work.logger.info({ deleted: totals }, 'pruned rows past their retention');
  };
}
