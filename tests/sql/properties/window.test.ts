import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { createStage, type Stage } from '../fixtures.ts';
import { holdsForAll } from './property.ts';

const RUNS = 60;
const MAX_STEPS = 24;
const PEOPLE = 4;
const DOCUMENTS = 2;
const KINDS = ['mention', 'watched_comment', 'watched_publish'] as const;
/** No sum of these is shortly before a minute: the time the test itself takes decides nothing. */
const PAUSES_SECONDS = [20, 65];

const person = fc.nat({ max: PEOPLE - 1 });
const document = fc.nat({ max: DOCUMENTS - 1 });

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('comment' as const),
      person,
      document,
      mentioned: fc.option(person, { freq: 2 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reply' as const), person, document }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('publish' as const), person, document }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('notify' as const),
      person,
      document: fc.option(document, { freq: 3 }),
      kind: fc.constantFrom(...KINDS),
      /** The last call that had a key, once more. */
      again: fc.boolean(),
      keyed: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('readAll' as const), person }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      seconds: fc.constantFrom(...PAUSES_SECONDS),
    }),
  },
);
type Step = Exclude<ReturnType<typeof step.generate>['value'], undefined>;

const WINDOW_SECONDS = 60;

interface Row {
  person: number;
  kind: string;
  document: number | null;
  count: number;
  at: number;
}

/**
 * The rule as it is written: the same person, kind and resource within 60 seconds is one row,
 * which only counts; without a resource nothing coalesces; one event tells a person once, by a
 * mention before as the owner before as a watcher; nobody is told of what they did.
 */
class Model {
  #now = 0;
  readonly rows: Row[] = [];
  /** Person 0 makes the documents, and so owns and watches them. */
  readonly #watchers = Array.from({ length: DOCUMENTS }, () => new Set([0]));

  wait(seconds: number): void {
    this.#now += seconds;
  }

  /** Returns the place of the row that tells it, and whether it is new. */
  write(who: number, kind: string, what: number | null): { index: number; created: boolean } {
    const index = this.rows.findLastIndex(
      (row) =>
        what !== null &&
        row.person === who &&
        row.kind === kind &&
        row.document === what &&
        this.#now - row.at < WINDOW_SECONDS,
    );
    const row = this.rows[index];
    if (row) {
      row.count += 1;
      return { index, created: false };
    }
    this.rows.push({ person: who, kind, document: what, count: 0, at: this.#now });
    return { index: this.rows.length - 1, created: true };
  }

  comment(actor: number, what: number, mentioned: number | null, isReply: boolean): void {
    const told = new Set([actor]);
    const tell = (who: number, kind: string) => {
      if (told.has(who)) return;
      told.add(who);
      this.write(who, kind, what);
    };
    if (mentioned !== null) tell(mentioned, 'mention');
    tell(0, 'comment_on_my_doc');
    for (const who of this.#watchers[what] ?? []) tell(who, 'watched_comment');
    if (!isReply) this.#watchers[what]?.add(actor);
  }

  publish(actor: number, what: number): void {
    for (const who of this.#watchers[what] ?? [])
      if (who !== actor) this.write(who, 'watched_publish', what);
  }
}

t.test('within a minute a row only counts, whatever the sequence', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague, guest } = stage.people;
  const cast = [owner, member, colleague, guest];
  let counted = 0;
  let written = 0;
  await holdsForAll(step, { runs: RUNS, maxSteps: MAX_STEPS }, async (sequence) => {
    await stage.clearMail();
    const model = new Model();
    const play = new Play(stage, model, cast);
    await play.begin();
    for (const one of sequence) {
      await play.step(one);
      const expected = model.rows.map(({ person, kind, document, count }) =>
        [person, kind, document, count].join(' '),
      );
      assert.deepEqual(await play.inboxes(), expected.sort(), JSON.stringify(one));
    }
    written += model.rows.length;
    counted += model.rows.filter((row) => row.count > 0).length;
  });
  t.ok(counted > 0, `${written} rows, of which ${counted} stand for several events`);
  t.strictSame(await stage.byAdministrator('select from bellwire.rule_failures'), []);
});

/** So many source keys were made up: none is used for two things. */
let keys = 0;

/** One sequence in the database, with the model beside it. */
class Play {
  readonly #stage: Stage;
  readonly #model: Model;
  readonly #cast: number[];
  readonly #documents: number[] = [];
  readonly #comments: number[] = [];
  /** What was written under a key: its id, and the call. */
  readonly #keyed: { key: string; id: number; values: unknown[] }[] = [];

  constructor(stage: Stage, model: Model, cast: number[]) {
    this.#stage = stage;
    this.#model = model;
    this.#cast = cast;
  }

  async begin(): Promise<void> {
    const owner = this.#cast[0] as number;
    for (let index = 0; index < DOCUMENTS; index += 1) {
      const id = await this.#stage.createDocument(owner, `Document ${index}`);
      this.#documents.push(id);
      // By the system, whom nobody follows; there to be replied to. It tells the owner.
      const [row] = await this.#stage.look(
        "insert into suite.comments (log_id, body) values ($1, 'First') returning id",
        [id],
      );
      this.#comments.push(row?.id as number);
    }
    await this.#stage.clearMail();
  }

  async step(one: Step): Promise<void> {
    if (one.do === 'wait') {
      this.#model.wait(one.seconds);
      return this.#stage.ageNotifications(one.seconds);
    }
    if (one.do === 'notify') return this.#notify(one);
    const by = this.#cast[one.person] as number;
    if (one.do === 'readAll') {
      await this.#stage.by(by, 'select api.mark_all_notifications_read()');
      return;
    }
    const id = this.#documents[one.document] as number;
    if (one.do === 'publish') {
      await this.#stage
        .by(by, "select api.publish_document($1, 'v')", [id])
        .catch(noGuest(by, this.#cast));
      if (one.person !== GUEST) this.#model.publish(one.person, one.document);
    } else if (one.do === 'reply') {
      await this.#stage.comment(by, id, 'So it is', this.#comments[one.document]);
      this.#model.comment(one.person, one.document, null, true);
    } else {
      const named = one.mentioned === null ? '' : mention(this.#cast[one.mentioned] as number);
      await this.#stage.comment(by, id, `Look ${named}`);
      this.#model.comment(one.person, one.document, one.mentioned, false);
    }
  }

  async #notify(one: Extract<Step, { do: 'notify' }>): Promise<void> {
    const earlier = one.again ? this.#keyed.at(-1) : undefined;
    if (earlier) {
      const retried = await this.#call(earlier.values);
      assert.deepEqual(retried, { id: earlier.id, created: false }, 'a retry is the first one');
      return;
    }
    const what = one.document === null ? null : (this.#documents[one.document] as number);
    keys += 1;
    const key = one.keyed ? `key ${keys}` : null;
    const values = [
      this.#cast[one.person],
      this.#stage.workspaceId,
      one.kind,
      'Told by hand',
      what === null ? null : 'log',
      what === null ? null : String(what),
      key,
    ];
    const result = await this.#call(values);
    const expected = this.#model.write(one.person, one.kind, one.document);
    assert.equal(result.created, expected.created);
    // A key that came within a window is not kept: the row is another event's.
    if (key && result.created) this.#keyed.push({ key, id: result.id as number, values });
  }

  async #call(values: unknown[]) {
    const [row] = await this.#stage.byAdministrator(
      `select * from bellwire.notify($1, $2, $3, $4, resource_type => $5, resource_ref => $6, source_key => $7)`,
      values,
    );
    return { id: row?.id, created: row?.created };
  }

  /** What is in the inboxes, in the model's terms. */
  async inboxes(): Promise<string[]> {
    const rows = await this.#stage.look(
      `select notification.user_id, notification.kind, resource.ref::bigint as log_id, notification.coalesced_count
       from bellwire.notifications as notification
       left join bellwire.resources as resource on resource.id = notification.resource_id`,
    );
    return rows
      .map((row) =>
        [
          this.#cast.indexOf(row.user_id as number),
          row.kind,
          row.log_id === null ? null : this.#documents.indexOf(row.log_id as number),
          row.coalesced_count,
        ].join(' '),
      )
      .sort();
  }
}

const GUEST = 3;

/** A guest may not publish; then nothing happens. */
function noGuest(by: number, cast: number[]) {
  return (error: Error & { code?: string }) => {
    if (by !== cast[GUEST] || error.code !== '42501') throw error;
  };
}

function mention(person: number): string {
  return `<span data-type="mention" data-id="${person}">@x</span>`;
}
