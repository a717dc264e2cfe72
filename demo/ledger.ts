/** The actions that watchers are told of. */
const TOLD_ACTIONS = new Set([
  'log.update',
  'log.publish',
  'log.restore',
  'comment.create',
  'comment.reply',
]);

export interface Deed {
  action: string;
  /** Who did it. */
  by: number;
  /** The document it was done to, for whatever is done to one. */
  document?: number;
  /** Who is newly mentioned in the text. */
  mentions?: readonly number[];
}

/**
 * The demo's own account of what it did, kept apart from the database, and what should come of it
 * by the rules as they are documented. The checks compare it with what the database recorded.
 */
export class Ledger {
  readonly #deeds: (Deed & { isRecorded: boolean })[] = [];
  readonly #edits = new Set<string>();

  write(deed: Deed): void {
    // Two edits of one document by one person within five minutes count as one; the demo is
    // quicker than that.
    const edit = `${deed.by} edits ${deed.document}`;
    const isRepeated = deed.action === 'log.update' && this.#edits.has(edit);
    if (deed.action === 'log.update') this.#edits.add(edit);
    this.#deeds.push({ ...deed, isRecorded: !isRepeated });
  }

  /** Edits that belong to an entry already there. */
  get mergedCount(): number {
    return this.#deeds.filter((deed) => !deed.isRecorded).length;
  }

  /** How many entries the activity log should have, by action. */
  activity(): Map<string, number> {
    return this.#count(({ action }) => action);
  }

  /** The same by action and person, like "log.create by 7". */
  activityByPerson(): Map<string, number> {
    return this.#count(({ action, by }) => `${action} by ${by}`);
  }

  /** How often somebody who watches everything is told something, but for one muted document. */
  tellings(userId: number, mutedDocument?: number): number {
    return this.#deeds.filter(
      (deed) =>
        deed.by !== userId &&
        deed.document !== undefined &&
        deed.document !== mutedDocument &&
        ((deed.isRecorded && TOLD_ACTIONS.has(deed.action)) || deed.mentions?.includes(userId)),
    ).length;
  }

  /** How often somebody is told that they were mentioned. */
  mentions(userId: number, mutedDocument?: number): number {
    return this.#deeds.filter(
      (deed) =>
        deed.by !== userId && deed.document !== mutedDocument && deed.mentions?.includes(userId),
    ).length;
  }

  #count(keyOf: (deed: Deed) => string): Map<string, number> {
    const counts = new Map<string, number>();
    for (const deed of this.#deeds.filter(({ isRecorded }) => isRecorded)) {
      counts.set(keyOf(deed), (counts.get(keyOf(deed)) ?? 0) + 1);
    }
    return counts;
  }
}
