import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { createStage, type Row, type Stage } from '../fixtures.ts';
import { holdsForAll } from './property.ts';

const RUNS = 40;
const MAX_STEPS = 24;
/** Few moments for many rows, a microsecond apart: most rows share theirs with others. */
const MOMENTS = 6;
const MAX_PAGE = 5;

const moment = fc.nat({ max: MOMENTS });

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('insert' as const),
      moments: fc.array(moment, { minLength: 1, maxLength: 6 }),
      /** Where the list has several sources, which of them. */
      source: fc.nat({ max: 2 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('page' as const),
      size: fc.integer({ min: 1, max: MAX_PAGE }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);
type Step = Exclude<ReturnType<typeof step.generate>['value'], undefined>;

interface Item {
  id: number;
  moment: number;
}

/** A list that is paged, as the model needs it. */
interface List {
  clear(): Promise<void>;
  /** Adds a row for each moment; says which of them the list shows. */
  insert(moments: number[], source: number): Promise<Item[]>;
  page(cursor: string | null, size: number): Promise<Row[]>;
}

/**
 * Pages by a keyset: what comes after the last row seen, newest first, the higher id first where
 * the moment is the same, as the list is at that time. So nothing is repeated, and nothing skipped
 * that was there from the beginning.
 */
async function play(list: List, sequence: Step[]): Promise<number> {
  await list.clear();
  const all: Item[] = [];
  let owed: Item[] = [];
  let seen: Item[] = [];
  let cursor: string | null = null;
  let pages = 0;
  const read = async (size: number) => {
    if (cursor === null) owed = [...all];
    const last = seen.at(-1);
    const expected = all
      .filter((item) => last === undefined || compare(last, item) < 0)
      .sort(compare)
      .slice(0, size);
    const rows = await list.page(cursor, size);
    assert.deepEqual(
      rows.map((row) => row.id),
      expected.map((item) => item.id),
    );
    seen.push(...expected);
    cursor = (rows.at(-1)?.cursor as string | undefined) ?? cursor;
    pages += 1;
    return rows.length;
  };
  for (const one of sequence) {
    if (one.do === 'insert') all.push(...(await list.insert(one.moments, one.source)));
    else if (one.do === 'page') await read(one.size);
    else [seen, cursor] = [[], null];
  }
  // To the end: then everything that was there at the beginning has come, once.
  while ((await read(MAX_PAGE)) > 0);
  const ids = seen.map((item) => item.id);
  assert.equal(new Set(ids).size, ids.length, 'nothing twice');
  assert.ok(
    owed.every((item) => ids.includes(item.id)),
    'nothing left out',
  );
  return pages;
}

function compare(left: Item, right: Item): number {
  return right.moment - left.moment || right.id - left.id;
}

/** Ends in digits that a cursor of milliseconds would lose. */
const BASE = "'2026-01-01 00:00:00.000997Z'::timestamptz";

function inbox(stage: Stage, unreadOnly: boolean): List {
  const { member, colleague } = stage.people;
  return {
    clear: () => stage.clearMail(),
    async insert(moments, source) {
      // Source 1 is read already, source 2 is somebody else's.
      const rows = await stage.look(
        `insert into bellwire.notifications (workspace_id, user_id, kind, title, read_at, created_at)
         select $1, $2, 'mention', 'x', $3, ${BASE} + moment * interval '1 microsecond'
         from unnest($4::integer[]) as moment returning id`,
        [
          stage.workspaceId,
          source === 2 ? colleague : member,
          source === 1 ? new Date() : null,
          moments,
        ],
      );
      const items = rows.map((row, index) => ({
        id: row.id as number,
        moment: moments[index] as number,
      }));
      return source === 2 || (source === 1 && unreadOnly) ? [] : items;
    },
    page: (cursor, size) =>
      stage.by(member, 'select id, cursor from api.list_notifications($1, $2, $3)', [
        cursor,
        size,
        unreadOnly,
      ]),
  };
}

type Filter = 'none' | 'workspace' | 'resource';

function feed(stage: Stage, filter: Filter): List {
  const { member } = stage.people;
  const arguments_ = {
    none: [null, null, null],
    workspace: [stage.workspaceId, null, null],
    resource: [null, 'log', String(stage.documentId)],
  }[filter];
  return {
    clear: () => quietly(stage, 'delete from bellwire.activity_log').then(() => {}),
    async insert(moments, source) {
      // In the squad on the document; on the workspace itself; in a workspace one is not in.
      const types = ['log', 'workspace', 'workspace'];
      const refs = [stage.documentId, stage.workspaceId, stage.strangerWorkspaceId];
      const rows = await quietly(
        stage,
        `insert into bellwire.activity_log (workspace_id, scope_id, action, resource_id, created_at)
         select resource.workspace_id, resource.scope_id, 'log.publish', resource.id,
           ${BASE} + moment * interval '1 microsecond'
         from unnest($1::integer[]) as moment
         cross join bellwire.resources as resource where resource.type = $2 and resource.ref = $3
         returning id`,
        [moments, types[source], String(refs[source])],
      );
      const items = rows.map((row, index) => ({
        id: row.id as number,
        moment: moments[index] as number,
      }));
      return source === 2 || (source === 1 && filter === 'resource') ? [] : items;
    },
    page: (cursor, size) =>
      stage.by(member, 'select id, cursor from api.list_activity($1, $2, $3, $4, $5)', [
        ...arguments_,
        cursor,
        size,
      ]),
  };
}

/** Past the guard and the rules of the log. */
async function quietly(stage: Stage, sql: string, values: unknown[] = []): Promise<Row[]> {
  const client = await stage.database.admin.connect();
  try {
    await client.query('begin; set local session_replication_role = replica');
    const { rows } = await client.query(sql, values);
    await client.query('commit');
    return rows;
  } finally {
    client.release();
  }
}

t.test('pages of the inbox and of the feed', async (t) => {
  const stage = await createStage(t);
  const lists: [string, List][] = [
    ['the inbox', inbox(stage, false)],
    ['what is unread', inbox(stage, true)],
    ['the feed', feed(stage, 'none')],
    ['the feed of a workspace', feed(stage, 'workspace')],
    ['the feed of a document', feed(stage, 'resource')],
  ];
  for (const [name, list] of lists) {
    await t.test(`${name}: nothing skipped, nothing repeated`, async (t) => {
      let pages = 0;
      await holdsForAll(step, { runs: RUNS, maxSteps: MAX_STEPS }, async (sequence) => {
        pages += await play(list, sequence);
      });
      t.ok(pages > 0, `${pages} pages`);
    });
  }
});
