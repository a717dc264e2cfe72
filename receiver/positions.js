/** @import { Gap, ReceiverStore } from './index.js' */

/**
 * The count of deliveries. What counts is what was dealt with, not what arrived: a delivery whose
 * every attempt failed until the sender gave it up is missing as much as one that never came.
 */
export class Positions {
  /** @type {ReceiverStore} */
  #store;
  /** One step at a time, so that two requests do not compare with the same position. */
  #last = Promise.resolve();

  /** @param {ReceiverStore} store */
  constructor(store) {
    this.#store = store;
  }

  /**
   * Before a delivery is handled. An older position is a repetition, no gap. A gap is told before it
   * is noted: if telling fails, the next attempt finds it again.
   *
   * @param {number | null} position
   * @param {(gap: Gap) => unknown} onGap
   */
  arrive(position, onGap) {
    return this.#next(async () => {
      if (position === null) return;
      const last = await this.#store.position();
      if (last !== null && position <= last + 1) return;
      if (last !== null) await onGap({ expected: last + 1, received: position });
      await this.#store.setPosition(position - 1);
    });
  }

  /**
   * Once it is dealt with.
   *
   * @param {number | null} position
   */
  settle(position) {
    return this.#next(async () => {
      if (position === null) return;
      const last = await this.#store.position();
      if (last === null || position > last) await this.#store.setPosition(position);
    });
  }

  /** @param {() => Promise<void>} step */
  #next(step) {
    const done = this.#last.then(step);
    this.#last = done.catch(() => {});
    return done;
  }
}
