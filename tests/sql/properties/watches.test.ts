import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { createStage, type Stage } from '../fixtures.ts';
import { holdsForAll } from './property.ts';

const RUNS = 40;
const MAX_STEPS = 24;
const PEOPLE = 3;
const DOCUMENTS = 2;
/** The archive, then the documents in it. */
const ARCHIVE = 0;
const THINGS = 1 + DOCUMENTS;
/** Longer than any window, for both; nothing is then dropped or counted. */
const LONG_SECONDS = 310;

const person = fc.nat({ max: PEOPLE - 1 });
const thing = fc.nat({ max: THINGS - 1 });
const document = fc.integer({ min: 1, max: DOCUMENTS });

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('watch' as const),
      person,
      thing,
      level: fc.constantFrom('watching' as const, 'ignored' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('unwatch' as const), person, thing }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('save' as const), person, document }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('saveAgain' as const), person, document }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('comment' as const), person, document }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reply' as const), person, document }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('publish' as const), person, document }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rename' as const), person, document }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const), person }) },
);
type Step = Exclude<ReturnType<typeof step.generate>['value'], undefined>;

interface Watch {
  source: string;
  level: string;
}

/**
 * The rules as they are written: by hand overwrites; what is automatic never overwrites; a watch
 * can always be ended and comes back with the next edit; the nearest word on the way from the
 * document to its archive counts; one's own doings are no news, and who cannot read is not told.
 */
class Model {
  readonly watches = new Map<string, Watch>();
  /** Who is in the squad. */
  readonly present = new Set(Array.from({ length: PEOPLE }, (_, index) => index));

  watch(who: number, what: number, level: string): void {
    if (this.present.has(who)) this.watches.set(`${who}/${what}`, { source: 'manual', level });
  }

  unwatch(who: number, what: number): void {
    this.watches.delete(`${who}/${what}`);
  }

  auto(who: number, what: number, source: string): void {
    const key = `${who}/${what}`;
    if (!this.watches.has(key)) this.watches.set(key, { source, level: 'watching' });
  }

  word(who: number, what: number): string | undefined {
    return (this.watches.get(`${who}/${what}`) ?? this.watches.get(`${who}/${ARCHIVE}`))?.level;
  }

  /** Who is told of something on a document, and how. Everybody's documents are person 0's. */
  told(actor: number, what: number, watcherKind: string, ownerKind?: string): string[] {
    const told: string[] = [];
    for (const who of this.present) {
      if (who === actor || this.word(who, what) === 'ignored') continue;
      if (ownerKind && who === 0) told.push(`${who} ${ownerKind}`);
      else if (this.word(who, what) === 'watching') told.push(`${who} ${watcherKind}`);
    }
    return told;
  }
}

t.test('watches and who is told, whatever the sequence', async (t) => {
  const stage = await createStage(t);
  const { member, colleague, guest } = stage.people;
  const play = new Play(stage, [member, colleague, guest]);
  let told = 0;
  let steps = 0;
  await holdsForAll(step, { runs: RUNS, maxSteps: MAX_STEPS }, async (sequence) => {
    await play.begin();
    for (const one of sequence) {
      const expected: string[] = [];
      const rows = await stage.told(async () => {
        expected.push(...(await play.step(one)));
      });
      const actual = rows.map((row) => `${play.cast.indexOf(row.user_id)} ${row.kind}`);
      assert.deepEqual(actual.sort(), expected.sort(), `told of ${JSON.stringify(one)}`);
      assert.deepEqual(await play.watches(), play.expectedWatches(), JSON.stringify(one));
      told += actual.length;
      steps += 1;
    }
    await play.checkLookUps();
  });
  t.ok(told > 0, `${steps} steps told people ${told} times`);
  t.strictSame(await stage.byAdministrator('select from bellwire.rule_failures'), []);
});

/** Sequences in the database, with the model beside them. */
class Play {
  readonly cast: number[];
  readonly #stage: Stage;
  #model = new Model();
  #things: number[] = [];
  #comments: number[] = [];
  #texts = 0;

  constructor(stage: Stage, cast: number[]) {
    this.#stage = stage;
    this.cast = cast;
  }

  async begin(): Promise<void> {
    const stage = this.#stage;
    for (const who of this.cast) await this.#join(who);
    this.#model = new Model();
    const [archive] = await stage.by(
      stage.people.owner,
      "select * from api.create_archive($1, 'Kept')",
      [stage.squadId],
    );
    stage.archiveId = archive?.id as number;
    this.#things = [stage.archiveId];
    this.#comments = [0];
    for (let number = 1; number <= DOCUMENTS; number += 1) {
      const id = await stage.createDocument(this.cast[0] as number, `Document ${number}`);
      this.#model.auto(0, number, 'auto_create');
      this.#things.push(id);
      const [row] = await stage.look(
        "insert into suite.comments (log_id, body) values ($1, 'First') returning id",
        [id],
      );
      this.#comments.push(row?.id as number);
    }
    await stage.clearMail();
  }

  /** Does it here and there; returns who is told. */
  async step(one: Step): Promise<string[]> {
    const stage = this.#stage;
    const model = this.#model;
    const by = this.cast[one.person] as number;
    const isPresent = model.present.has(one.person);
    if (one.do === 'leave') {
      await this.#leaveOrReturn(one.person);
      return [];
    }
    if ('thing' in one) {
      const type = one.thing === ARCHIVE ? 'archive' : 'log';
      const ref = this.#things[one.thing] as number;
      if (one.do === 'unwatch') {
        await stage.by(by, 'select api.unwatch($1, $2)', [type, String(ref)]);
        model.unwatch(one.person, one.thing);
      } else {
        await succeedsIf(isPresent, stage.watch(by, type, ref, one.level));
        model.watch(one.person, one.thing, one.level);
      }
      return [];
    }
    await stage.ageNotifications(LONG_SECONDS);
    if (one.do !== 'saveAgain') await stage.ageActivity(LONG_SECONDS);
    return this.#change(one, by, isPresent);
  }

  async #change(
    one: Extract<Step, { document: number }>,
    by: number,
    isPresent: boolean,
  ): Promise<string[]> {
    const stage = this.#stage;
    const model = this.#model;
    const { person, document } = one;
    const id = this.#things[document] as number;
    // A guest of the squad reads and comments.
    const mayEdit = isPresent && person !== GUEST;
    this.#texts += 1;
    const text = `<p>${this.#texts}</p>`;
    switch (one.do) {
      case 'save':
      case 'saveAgain': {
        const isRecorded = one.do === 'save' || !(await this.#savedLately(by, id));
        await succeedsIf(mayEdit, stage.save(by, id, text));
        if (!mayEdit || !isRecorded) return [];
        model.auto(person, document, 'auto_edit');
        return model.told(person, document, 'watched_log_update');
      }
      case 'comment':
      case 'reply': {
        const parent = one.do === 'reply' ? this.#comments[document] : undefined;
        await succeedsIf(isPresent, stage.comment(by, id, text, parent));
        if (!isPresent) return [];
        if (one.do === 'comment') model.auto(person, document, 'auto_comment');
        return model.told(person, document, 'watched_comment', 'comment_on_my_doc');
      }
      case 'publish':
        await succeedsIf(mayEdit, stage.by(by, 'select api.publish_document($1, $2)', [id, text]));
        return mayEdit ? model.told(person, document, 'watched_publish') : [];
      case 'rename':
        await succeedsIf(mayEdit, stage.by(by, 'select api.rename_document($1, $2)', [id, text]));
        return [];
    }
  }

  /** Whether there is an entry for the next one to coalesce with; the rule itself is tested elsewhere. */
  async #savedLately(by: number, id: number): Promise<boolean> {
    const count = await this.#stage.value<number>(
      `select count(*) from bellwire.activity_log as activity
       join bellwire.resources as resource on resource.id = activity.resource_id
       where resource.type = 'log' and resource.ref = $2 and activity.actor_id = $1
         and activity.action = 'log.update' and activity.created_at > now() - interval '5 minutes'`,
      [by, String(id)],
    );
    return count > 0;
  }

  async #leaveOrReturn(who: number): Promise<void> {
    const stage = this.#stage;
    if (this.#model.present.delete(who)) {
      await stage.by(stage.people.owner, 'select api.remove_squad_member($1, $2)', [
        stage.squadId,
        this.cast[who],
      ]);
    } else {
      await this.#join(this.cast[who] as number);
      this.#model.present.add(who);
    }
  }

  async #join(id: number): Promise<void> {
    const stage = this.#stage;
    const role = id === stage.people.guest ? 'guest' : 'member';
    await stage.by(stage.people.owner, 'select api.add_squad_member($1, $2, $3)', [
      stage.squadId,
      id,
      role,
    ]);
  }

  /** Every watch there is on these things, in the model's terms. */
  async watches(): Promise<string[]> {
    const rows = await this.#stage.look(
      `select watch.user_id, resource.type, resource.ref::bigint as ref, watch.source, watch.level
       from bellwire.watches as watch
       join bellwire.resources as resource on resource.id = watch.resource_id
       where (resource.type, resource.ref::bigint) in (select 'archive', $1 union all select 'log', unnest($2::bigint[]))`,
      [this.#things[ARCHIVE], this.#things.slice(1)],
    );
    return rows
      .map((row) => {
        const what = row.type === 'archive' ? ARCHIVE : this.#things.indexOf(row.ref as number, 1);
        return `${this.cast.indexOf(row.user_id as number)}/${what} ${row.source} ${row.level}`;
      })
      .sort();
  }

  expectedWatches(): string[] {
    return [...this.#model.watches]
      .map(([key, { source, level }]) => `${key} ${source} ${level}`)
      .sort();
  }

  /** What each person is shown agrees, too. */
  async checkLookUps(): Promise<void> {
    for (const [who, id] of this.cast.entries()) {
      for (const [what, ref] of this.#things.entries()) {
        const state = await this.#stage.watchState(id, what === ARCHIVE ? 'archive' : 'log', ref);
        const watch = this.#model.watches.get(`${who}/${what}`);
        assert.deepEqual(state, {
          watching: watch?.level === 'watching',
          source: watch?.source ?? null,
          level: watch?.level ?? null,
        });
      }
    }
  }
}

const GUEST = 2;

/** What the person may not do is refused, and what they may succeeds. */
async function succeedsIf(isAllowed: boolean, attempt: Promise<unknown>): Promise<void> {
  const error = await attempt.then(
    () => undefined,
    (reason: Error & { code?: string }) => reason,
  );
  const refusal = error && ['42501', 'P0002'].includes(error.code ?? '');
  if (isAllowed ? error : !refusal) throw error ?? new Error('it was not refused');
}
