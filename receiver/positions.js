/**
 * The count of deliveries. What counts is what was dealt with, not what arrived: a delivery whose
 * every attempt failed until the sender gave it up is missing as much as one that never came.
 *
 * @import { Gap, ReceiverStore } from './index.js'
 */

/**
 * Before a delivery is handled. An older position is a repetition, no gap. A gap is told before it is
 * noted: if telling fails, the next attempt finds it again.
 *
 * @param {ReceiverStore} store
 * @param {number} position
 * @param {(gap: Gap) => unknown} onGap
 */
export async function noteArrival(store, position, onGap) {
  const last = await store.position();
  if (last !== null && position <= last + 1) return;
  if (last !== null) await onGap({ expected: last + 1, received: position });
  await store.setPosition(position - 1);
}
