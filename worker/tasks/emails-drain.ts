import type { Task } from 'graphile-worker';
import type { Work } from '../work.ts';

/** Sends what the e-mail outbox holds; returns quietly while e-mail is off. */
export function emailsDrain(work: Work): Task {
  return async () => {
    await work.emails?.run();
  };
}
