const DEFAULT_LIMIT = 10_000;

/** @import { MemoryStoreOptions, ReceiverStore } from './index.js' */

/** @implements {ReceiverStore} */
export class MemoryStore {
  /** @type {Set<string>} in the order in which they were finished */
  #done = new Set();
  /** @type {Set<string>} */
  #claimed = new Set();
  /** @type {number} */
  #limit;
  /** @type {number | null} */
  #position;

  /** @param {MemoryStoreOptions} [options] */
  constructor({ limit = DEFAULT_LIMIT, position } = {}) {
    this.#limit = limit;
    this.#position = position ?? null;
  }

  /**
   * @param {string} id
   * @returns {'mine' | 'done' | 'busy'}
   */
  claim(id) {
    if (this.#done.has(id)) return 'done';
    if (this.#claimed.has(id)) return 'busy';
    this.#claimed.add(id);
    return 'mine';
  }

  /** @param {string} id */
  finish(id) {
    this.#claimed.delete(id);
    this.#done.add(id);
    if (this.#done.size <= this.#limit) return;
    const [oldest = ''] = this.#done;
    this.#done.delete(oldest);
  }

  /** @param {string} id */
  release(id) {
    this.#claimed.delete(id);
  }

  position() {
    return this.#position;
  }

  /** @param {number} position */
  setPosition(position) {
    this.#position = Math.max(position, this.#position ?? position);
  }
}
