import { setTimeout as delay } from 'node:timers/promises';
import type { Interruption } from './interruption.ts';

const LIMIT_SECONDS = 30;
const LOOK_EVERY_MILLISECONDS = 50;

/**
 * Looks again and again until nothing is missing.
 *
 * @param missing what is still missing, as a sentence; undefined once it is all there
 * @throws with the last sentence when it is not all there within 30 seconds
 */
export async function until(
  interruption: Interruption,
  missing: () => Promise<string | undefined> | string | undefined,
): Promise<void> {
  const deadline = Date.now() + LIMIT_SECONDS * 1000;
  for (;;) {
    interruption.checkpoint();
    const problem = await missing();
    if (problem === undefined) return;
    if (Date.now() > deadline) throw new Error(`${problem} (after ${LIMIT_SECONDS} s)`);
    await delay(LOOK_EVERY_MILLISECONDS);
  }
}
