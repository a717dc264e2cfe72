import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { createStage, type Stage } from '../fixtures.ts';
import { holdsForAll } from './property.ts';

const RUNS = 60;
const EVENTS_PER_RUN = 4;
const PEOPLE = 7;

const word = fc.constantFrom(null, null, 'watching', 'ignored');
const choice = fc.constantFrom(null, null, true, false);

/** A person: what they are, what they follow, what they want to hear of, and how. */
const person = fc.record({
  role: fc.constantFrom(null, 'guest', 'member', 'member', 'member', 'admin'),
  isInSquad: fc.boolean(),
  isDeactivated: fc.nat({ max: 7 }).map((number) => number === 0),
  document: word,
  archive: word,
  inApp: choice,
  email: choice,
  isMentioned: fc.nat({ max: 3 }).map((number) => number === 0),
});
type Person = ReturnType<typeof person.generate>['value'];

const event = fc.record({
  what: fc.constantFrom('comment', 'reply', 'save', 'publish'),
  /** Null is the system. */
  actor: fc.option(fc.nat({ max: PEOPLE - 1 }), { freq: 8 }),
  people: fc.array(person, { minLength: PEOPLE, maxLength: PEOPLE }),
});
type Event = ReturnType<typeof event.generate>['value'];

const WATCHER_KINDS = {
  comment: 'watched_comment',
  reply: 'watched_comment',
  save: 'watched_log_update',
  publish: 'watched_publish',
} as const;

/** The one kind that is not mailed unless asked for. */
const NOT_MAILED = 'watched_log_update';

/**
 * Who is told, as it is written: active members of the workspace who read the scope, but not the
 * actor; nobody who has muted it, the nearest word counting; once each, as mentioned before as
 * the owner before as a watcher; and in the way they want that kind.
 */
function told({ what, actor, people }: Event): string[] {
  return people.flatMap((who, index) => {
    const isReader = who.role !== null && (who.role === 'admin' || who.isInSquad);
    const level = who.document ?? who.archive;
    if (index === actor || !isReader || who.isDeactivated || level === 'ignored') return [];
    let kind: string | undefined;
    if (who.isMentioned && what !== 'publish') kind = 'mention';
    else if (index === 0 && (what === 'comment' || what === 'reply')) kind = 'comment_on_my_doc';
    else if (level === 'watching') kind = WATCHER_KINDS[what as keyof typeof WATCHER_KINDS];
    if (!kind) return [];
    const inApp = who.inApp ?? true;
    const email = who.email ?? kind !== NOT_MAILED;
    if (!inApp && !email) return [];
    return [`${index} ${kind}${inApp ? '' : ', not in the bell'}${email ? ', mailed' : ''}`];
  });
}

t.test('who is told, in the transaction and by the worker', async (t) => {
  const stage = await createStage(t);
  const cast: number[] = [];
  for (let index = 0; index < PEOPLE; index += 1)
    cast.push(await stage.addPerson(`Person ${index}`));
  let count = 0;
  for (const limit of [1000, 1]) {
    await t.test(`up to ${limit} at once`, async (t) => {
      await stage.set('sync_fanout_limit', limit);
      await stage.set('fanout_chunk', 2);
      await holdsForAll(event, { runs: RUNS / 2, maxSteps: EVENTS_PER_RUN }, async (events) => {
        for (const one of events) {
          await stage.clearMail();
          await arrange(stage, cast, one.people);
          const documentId = await addDocument(stage, cast, one.people);
          await happen(stage, cast, one, documentId);
          const actual = await inboxes(stage, cast);
          assert.deepEqual(actual, told(one));
          count += actual.length;
        }
      });
      t.strictSame(await stage.byAdministrator('select from bellwire.rule_failures'), []);
    });
  }
  t.ok(count > 0, `people were told ${count} times`);
});

/** Makes the people what they are, and has them follow the archive as they do. */
async function arrange(stage: Stage, cast: number[], people: Person[]): Promise<void> {
  const roles = people.map((who) => who.role);
  await stage.look('delete from suite.squad_members where user_id = any ($1)', [cast]);
  await stage.look('delete from suite.workspace_members where user_id = any ($1)', [cast]);
  await stage.look('delete from bellwire.notification_preferences where user_id = any ($1)', [
    cast,
  ]);
  await stage.look('delete from bellwire.watches where user_id = any ($1)', [cast]);
  await stage.look(
    `insert into suite.workspace_members (workspace_id, user_id, role)
     select $1, given.id, given.role from unnest($2::bigint[], $3::text[]) as given(id, role)
     where given.role is not null`,
    [stage.workspaceId, cast, roles],
  );
  await stage.look(
    `insert into suite.squad_members (squad_id, user_id)
     select $1, given.id from unnest($2::bigint[], $3::text[], $4::boolean[]) as given(id, role, is_in)
     where given.role is not null and given.is_in`,
    [stage.squadId, cast, roles, people.map((who) => who.isInSquad)],
  );
  await stage.look(
    `insert into bellwire.notification_preferences (user_id, kind, in_app, email)
     select given.id, kind.kind, given.in_app, given.email
     from unnest($1::bigint[], $2::boolean[], $3::boolean[]) as given(id, in_app, email)
     cross join bellwire.notification_kinds as kind`,
    [cast, people.map((who) => who.inApp), people.map((who) => who.email)],
  );
  await stage.look(
    `update bellwire.users as person
     set deactivated_at = case when given.is_gone then now() end
     from unnest($1::bigint[], $2::boolean[]) as given(id, is_gone) where person.id = given.id`,
    [cast, people.map((who) => who.isDeactivated)],
  );
  await follow(
    stage,
    cast,
    'archive',
    stage.archiveId,
    people.map((who) => who.archive),
  );
}

/** A document of person 0's with a comment, followed as they do. */
async function addDocument(stage: Stage, cast: number[], people: Person[]): Promise<number> {
  const [row] = await stage.look(
    'insert into suite.logs (archive_id, title, created_by) values ($1, $2, $3) returning id',
    [stage.archiveId, 'Widely read', cast[0]],
  );
  const id = row?.id as number;
  await stage.look("insert into suite.comments (log_id, body) values ($1, 'First')", [id]);
  await stage.clearMail();
  await follow(
    stage,
    cast,
    'log',
    id,
    people.map((who) => who.document),
  );
  return id;
}

async function follow(
  stage: Stage,
  cast: number[],
  type: string,
  ref: number,
  levels: (string | null)[],
): Promise<void> {
  await stage.look(
    `insert into bellwire.watches (resource_id, user_id, source, level)
     select resource.id, given.id, 'manual', given.level
     from unnest($1::bigint[], $2::text[]) as given(id, level)
     join bellwire.resources as resource on resource.type = $3 and resource.ref = $4
     where given.level is not null`,
    [cast, levels, type, String(ref)],
  );
}

/** The event, and whatever of it is left to the worker. */
async function happen(stage: Stage, cast: number[], one: Event, id: number): Promise<void> {
  const mentions = one.people
    .map((who, index) =>
      who.isMentioned ? `<span data-type="mention" data-id="${cast[index]}">@x</span>` : '',
    )
    .join('');
  const text = `Read this ${mentions}`;
  const statements = {
    comment: ['insert into suite.comments (log_id, body) values ($1, $2)', [id, text]],
    reply: [
      `insert into suite.comments (log_id, body, parent_id)
       select log_id, $2, id from suite.comments where log_id = $1`,
      [id, text],
    ],
    save: ['update suite.logs set html = $2 where id = $1', [id, text]],
    publish: ["insert into suite.versions (log_id, title, html) values ($1, 'v', '')", [id]],
  } as const;
  const [sql, values] = statements[one.what as keyof typeof statements];
  const actor = one.actor === null ? null : (cast[one.actor] as number);
  await bySuperuserAs(stage, actor, sql, [...values]);
  let done = 1;
  while (done > 0) {
    const [row] = await stage.byWorker('select bellwire.drain_fan_out(1) as done');
    done = row?.done as number;
  }
}

/** Whatever the person may do themselves: whether they are told is what is asked here. */
async function bySuperuserAs(
  stage: Stage,
  actor: number | null,
  sql: string,
  values: unknown[],
): Promise<void> {
  const client = await stage.database.admin.connect();
  try {
    await client.query('begin');
    const claims = actor === null ? '' : JSON.stringify({ sub: String(actor) });
    await client.query("select set_config('request.jwt.claims', $1, true)", [claims]);
    await client.query(sql, values);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

async function inboxes(stage: Stage, cast: number[]): Promise<string[]> {
  const rows = await stage.look(
    `select notification.user_id, notification.kind, notification.deleted_at is not null as is_hidden,
       outbox.id is not null as is_mailed, notification.coalesced_count as count
     from bellwire.notifications as notification
     left join bellwire.email_outbox as outbox on outbox.notification_id = notification.id
     order by notification.user_id, notification.id`,
  );
  return rows.map(
    (row) =>
      `${cast.indexOf(row.user_id as number)} ${row.kind}` +
      `${row.is_hidden ? ', not in the bell' : ''}${row.is_mailed ? ', mailed' : ''}` +
      `${row.count === 0 ? '' : ` and ${row.count} more`}`,
  );
}
