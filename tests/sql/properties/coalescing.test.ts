import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { createStage, type Stage } from '../fixtures.ts';
import { holdsForAll } from './property.ts';

const RUNS = 40;
const MAX_STEPS = 24;
const PEOPLE = 3;
const DOCUMENTS = 2;
const TEXTS = ['<p>one</p>', '<p>two</p>', '<p>three</p>'];
/**
 * Sums of these are never shortly before five minutes, so that the time the test itself takes
 * decides nothing.
 */
const PAUSES_SECONDS = [100, 160, 310];

const person = fc.nat({ max: PEOPLE - 1 });
const document = fc.nat({ max: DOCUMENTS - 1 });
const text = fc.nat({ max: TEXTS.length - 1 });

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('save' as const), person, document, text }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('saveAll' as const), person, text }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('saveAndRename' as const), person, document, text }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('systemSave' as const), document, text }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('undoneSave' as const), person, document, text }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('rename' as const), person, document, text }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('publish' as const), person, document }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('comment' as const), person, document }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      seconds: fc.constantFrom(...PAUSES_SECONDS),
    }),
  },
);
type Step = Exclude<ReturnType<typeof step.generate>['value'], undefined>;

/** An entry as action, person (null for the system) and document, all by their place in the lists. */
type Recorded = string;

const WINDOW_SECONDS = 5 * 60;

/**
 * The rule as it is written in the reference: a log.update of one person on one document within
 * five minutes of one that was recorded is dropped; nothing else ever is; nothing changed is
 * nothing recorded.
 */
class Model {
  #now = 0;
  readonly #recordedAt = new Map<string, number>();
  readonly #texts = Array.from({ length: DOCUMENTS }, () => '');
  readonly #titles = Array.from({ length: DOCUMENTS }, (_, index) => `Document ${index}`);

  wait(seconds: number): void {
    this.#now += seconds;
  }

  save(who: number | null, what: number, html: string): Recorded[] {
    if (this.#texts[what] === html) return [];
    this.#texts[what] = html;
    const key = `${who}/${what}`;
    const before = this.#recordedAt.get(key);
    if (who !== null && before !== undefined && this.#now - before < WINDOW_SECONDS) return [];
    this.#recordedAt.set(key, this.#now);
    return [`log.update ${who} ${what}`];
  }

  rename(who: number, what: number, title: string): Recorded[] {
    if (this.#titles[what] === title) return [];
    this.#titles[what] = title;
    return [`log.rename ${who} ${what}`];
  }
}

t.test('activity coalesces as the reference says, whatever the sequence', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague } = stage.people;
  const people = [owner, member, colleague];
  let steps = 0;
  let dropped = 0;
  await holdsForAll(step, { runs: RUNS, maxSteps: MAX_STEPS }, async (sequence) => {
    const model = new Model();
    const documents: number[] = [];
    for (let index = 0; index < DOCUMENTS; index += 1)
      documents.push(await stage.createDocument(owner, `Document ${index}`));
    for (const one of sequence) {
      const expected: Recorded[] = [];
      const entries = await stage.recorded(async () => {
        expected.push(...(await perform(stage, model, people, documents, one)));
      });
      const actual = entries.map(({ action, actor_id, ref, metadata }) => {
        const log = Number(action.startsWith('comment.') ? metadata.log_id : ref);
        const who = actor_id === null ? null : people.indexOf(actor_id);
        return `${action} ${who} ${documents.indexOf(log)}`;
      });
      assert.deepEqual(actual.sort(), expected.sort(), JSON.stringify(one));
      steps += 1;
      if (one.do === 'save' && actual.length === 0) dropped += 1;
    }
  });
  t.ok(dropped > 0, `${steps} steps, of which ${dropped} were dropped`);
});

/** Does the step in the database and in the model; returns what the model says is recorded. */
async function perform(
  stage: Stage,
  model: Model,
  people: number[],
  documents: number[],
  one: Step,
): Promise<Recorded[]> {
  if (one.do === 'wait') {
    model.wait(one.seconds);
    await stage.ageActivity(one.seconds);
    return [];
  }
  const who = 'person' in one ? one.person : 0;
  const what = 'document' in one ? one.document : 0;
  const html = TEXTS['text' in one ? one.text : 0] as string;
  const by = people[who] as number;
  const id = documents[what] as number;
  switch (one.do) {
    case 'save':
      await stage.save(by, id, html);
      return model.save(who, what, html);
    case 'saveAll':
      await stage.by(by, 'update suite.logs set html = $2 where id = any ($1)', [documents, html]);
      return documents.flatMap((_, index) => model.save(who, index, html));
    case 'saveAndRename':
      await stage.by(by, 'update suite.logs set html = $2, title = $2 where id = $1', [id, html]);
      return [...model.save(who, what, html), ...model.rename(who, what, html)];
    case 'systemSave':
      await stage.look('update suite.logs set html = $2 where id = $1', [id, html]);
      return model.save(null, what, html);
    case 'undoneSave':
      await undone(stage, by, id, html);
      return [];
    case 'rename':
      await stage.by(by, 'select api.rename_document($1, $2)', [id, html]);
      return model.rename(who, what, html);
    case 'publish':
      await stage.by(by, "select api.publish_document($1, 'v')", [id]);
      return [`log.publish ${who} ${what}`];
    case 'comment':
      await stage.comment(by, id, 'Noted');
      return [`comment.create ${who} ${what}`];
  }
}

/** A save that is rolled back: it opens no window. */
async function undone(stage: Stage, by: number, id: number, html: string): Promise<void> {
  const rollback = new Error('undone');
  await stage.database
    .asUser(by, async (client) => {
      await client.query('select api.save_document($1, $2)', [id, html]);
      throw rollback;
    })
    .catch((error: unknown) => {
      if (error !== rollback) throw error;
    });
}
