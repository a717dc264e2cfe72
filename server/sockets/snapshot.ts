/** What was committed at a moment, as Postgres writes it: `xmin:xmax:running,running`. */
export class Snapshot {
  readonly #xmin: number;
  readonly #xmax: number;
  readonly #running: ReadonlySet<number>;

  constructor(text: string) {
    const [xmin, xmax, running = ''] = text.split(':');
    this.#xmin = Number(xmin);
    this.#xmax = Number(xmax);
    this.#running = new Set(running.split(',').filter(Boolean).map(Number));
  }

  /** pg_visible_in_snapshot(), for a transaction that did commit. */
  sees(xid: number): boolean {
    return xid < this.#xmin || (xid < this.#xmax && !this.#running.has(xid));
  }
}
