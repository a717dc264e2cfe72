import type { Task } from 'graphile-worker';
import type { Work } from '../work.ts';

const BATCH_ROWS = 1_000;
/** Ten million rows of each kind a day; what is left after that waits for the next day. */
const MAX_BATCHES = 10_000;

interface Pruned {
  deleted: number;
  refused: number;
}

/**
 * Deletes what is past its retention, each batch in a transaction of its own. What goes wrong with
 * one kind of rows does not keep the others; the job fails at the end, and is tried again.
 */
export function rowsPrune(work: Work): Task {
  return async () => {
    const pruned: Record<string, Pruned> = {};
    const errors: unknown[] = [];
    for (const what of await work.database.retentions()) {
      try {
        pruned[what] = await pruneAll(work, what);
      } catch (error) {
        errors.push(error);
      }
    }
    await work.cleanUpQueue();
    work.logger.info({ pruned }, 'pruned rows past their retention');
    if (errors.length > 0) throw errors[0];
  };
}

async function pruneAll(work: Work, what: string): Promise<Pruned> {
  const total: Pruned = { deleted: 0, refused: 0 };
  let after: unknown = null;
  for (let batch = 0; batch < MAX_BATCHES && !work.isStopping(); batch += 1) {
    const { deleted, refused, next } = await work.database.pruneBatch(what, BATCH_ROWS, after);
    total.deleted += deleted;
    total.refused += refused;
    if (next === null) break;
    after = next;
  }
  return total;
}
