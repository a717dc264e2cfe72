import t from 'tap';
import { createStage, refused, type Stage } from '../fixtures.ts';
import { hold, refusals, ruleFailures, untilBlocked } from './parallel.ts';

const ROUNDS = 15;
const MOVE = 'select from api.move_document($1, $2)';
const BAD_PARENT = { code: '22023', detail: 'bad_parent' };

async function documents(stage: Stage, count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let number = 1; number <= count; number += 1)
    ids.push(await stage.createDocument(stage.people.member, `D${number}`));
  return ids;
}

/** Each of them below the next, and the last below the first, all at once. */
async function moveInACircle(stage: Stage, ids: number[]) {
  const { owner, member, colleague } = stage.people;
  const movers = [owner, member, colleague];
  return Promise.allSettled(
    ids.map((id, index) =>
      stage.by(movers[index % movers.length] as number, MOVE, [id, ids[(index + 1) % ids.length]]),
    ),
  );
}

/** Ids among these that are their own ancestor. */
async function inACircle(stage: Stage, ids: number[]): Promise<number[]> {
  const rows = await stage.look(
    `with recursive up as (
       select log.id as start, log.parent_id, 1 as depth from suite.logs as log where log.id = any ($1)
       union all
       select up.start, log.parent_id, up.depth + 1
       from up join suite.logs as log on log.id = up.parent_id where up.depth < 10
     )
     select distinct start from up where parent_id = start order by start`,
    [ids],
  );
  return rows.map((row) => row.start as number);
}

for (const size of [2, 3, 4]) {
  t.test(`a circle of ${size} moves at once: all but one pass`, async (t) => {
    const stage = await createStage(t);
    for (let round = 0; round < ROUNDS; round += 1) {
      const ids = await documents(stage, size);
      let results: PromiseSettledResult<unknown>[] = [];
      const entries = await stage.recorded(async () => {
        results = await moveInACircle(stage, ids);
      });
      t.strictSame(refusals(results), ['22023'], 'exactly one is refused, and for the circle');
      t.strictSame(await inACircle(stage, ids), []);
      t.equal(entries.filter((entry) => entry.action === 'log.move').length, size - 1);
    }
    t.strictSame(await ruleFailures(stage), []);
  });
}

t.test('two moves of one document at once: each names the parent it replaced', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  const [first, second, moved] = (await documents(stage, 3)) as [number, number, number];
  const entries = await stage.recorded(async () => {
    const held = await hold(stage, member);
    await held.query(MOVE, [moved, first]);
    const other = stage.by(colleague, MOVE, [moved, second]);
    await untilBlocked(stage);
    await held.end('commit');
    await other;
  });
  t.match(entries, [
    { actor_id: member, metadata: { parent_id: first, previous_parent_id: null } },
    { actor_id: colleague, metadata: { parent_id: second, previous_parent_id: first } },
  ]);
});

t.test('a move that is undone lets the opposite one pass', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  const [a, b] = (await documents(stage, 2)) as [number, number];
  const entries = await stage.recorded(async () => {
    const held = await hold(stage, member);
    await held.query(MOVE, [a, b]);
    const other = stage.by(colleague, MOVE, [b, a]);
    await untilBlocked(stage);
    await held.end('rollback');
    await other;
  });
  t.match(entries, [{ action: 'log.move', actor_id: colleague, ref: String(b) }]);
  t.equal(entries.length, 1);
});

t.test('one statement that would close a circle by itself', async (t) => {
  const stage = await createStage(t);
  const [a, b] = (await documents(stage, 2)) as [number, number];
  const swap =
    'update suite.logs set parent_id = $1 + $2 - id where id = any (array[$1, $2]::bigint[])';
  await refused(t, stage.by(stage.people.member, swap, [a, b]), BAD_PARENT, 'each below the other');
  t.strictSame(await inACircle(stage, [a, b]), []);
});

t.test('a new document below one that is being moved below it, or deleted', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  const [parent] = (await documents(stage, 1)) as [number];
  const held = await hold(stage, member);
  await held.query('select api.delete_document($1)', [parent]);
  const child = Promise.allSettled([stage.createDocument(colleague, 'Child', '', parent)]);
  await untilBlocked(stage);
  await held.end('commit');
  const [code] = refusals(await child);
  t.match(code, /^(22023|23503)$/, 'a parent that is gone is none');
  t.equal(await stage.value('select count(*) from suite.logs where parent_id = $1', [parent]), 0);
});

t.test('a move that could not see another one is refused', async (t) => {
  const stage = await createStage(t);
  const [first, second] = await documents(stage, 2);
  const move = async (level: string) => {
    const client = await stage.database.admin.connect();
    try {
      await client.query(`begin isolation level ${level}`);
      await client.query('update suite.logs set parent_id = $2 where id = $1', [first, second]);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
  };
  await t.rejects(move('repeatable read'), { code: '22023', message: /REPEATABLE READ/ });
  await move('serializable');
  t.match(await stage.look('select parent_id from suite.logs where id = $1', [first]), [
    { parent_id: second },
  ]);
});
