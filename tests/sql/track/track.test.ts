import t from 'tap';
import { createStage, type Stage } from '../fixtures.ts';
import { addActions, createNeighbour, type Neighbour } from './dba.ts';

const TABLE = '"Ship Yard"."Work Order"';

const ACTIONS = [
  { on: 'insert', action: 'order.open' },
  { on: 'update', of: ['State', 'Title'], action: 'order.change' },
  {
    on: 'update',
    of: ['State'],
    when: `new."State" = 'closed' and old."State" <> 'closed'`,
    action: 'order.close',
    metadata: { state: 'new."State"', was: 'old."State"' },
  },
  { on: 'delete', action: 'order.drop' },
];

async function setUp(t: Parameters<typeof createStage>[0]) {
  const stage = await createStage(t);
  const neighbour = await createNeighbour(t, stage, 'Ship Yard');
  await addActions(stage);
  await neighbour.dba(
    `create table ${TABLE} (
       "Id" uuid primary key default gen_random_uuid(),
       "Title" text, "State" text not null default 'open', "Body" text,
       "Owner" bigint, "Workspace" bigint, "Note" text)`,
  );
  return { stage, neighbour };
}

function track(neighbour: Neighbour, actions: unknown = ACTIONS) {
  return neighbour.dba(
    `select bellwire.track('${TABLE}', 'work_order', workspace => '"Workspace"', title => '"Title"',
       owner => '"Owner"', mentions => 'Body', link_template => '/orders/{ref}', actions => $1)`,
    [JSON.stringify(actions)],
  );
}

async function insert(stage: Stage, neighbour: Neighbour, title = 'Hull', person?: number) {
  const [row] = await neighbour.app(
    person ?? stage.people.member,
    `insert into ${TABLE} ("Title", "Owner", "Workspace") values ($1, $2, $3) returning "Id" as id`,
    [title, stage.people.owner, stage.workspaceId],
  );
  return row?.id as string;
}

t.test('a table with a uuid key and quoted names in a schema of its own', async (t) => {
  const { stage, neighbour } = await setUp(t);
  const { owner, member, colleague } = stage.people;
  await track(neighbour);

  let id = '';
  const opened = await stage.recorded(async () => {
    id = await insert(stage, neighbour);
  });
  t.strictSame(
    opened,
    [
      {
        action: 'order.open',
        actor_id: member,
        type: 'work_order',
        ref: id,
        metadata: { title: 'Hull' },
      },
    ],
    'an insert by a role that knows nothing of Bellwire; the title is the default metadata',
  );
  const [resource] = await stage.look('select * from bellwire.resources where ref = $1', [id]);
  t.match(resource, {
    type: 'work_order',
    title: 'Hull',
    owner_id: owner,
    workspace_id: stage.workspaceId,
    scope_id: await stage.resourceId('workspace', stage.workspaceId),
    deleted_at: null,
  });

  const changed = await stage.recorded(() =>
    neighbour.app(member, `update ${TABLE} set "Title" = 'Keel' where "Id" = $1`, [id]),
  );
  t.strictSame(
    changed.map((row) => [row.action, row.metadata]),
    [
      [
        'order.change',
        {
          title: 'Keel',
          Title: 'Keel',
          previous_Title: 'Hull',
          State: 'open',
          previous_State: 'open',
        },
      ],
    ],
    'each column of "of" with its new and its previous value; the entry with "when" did not fire',
  );

  await stage.by(colleague, "select api.watch('work_order', $1)", [id]);
  let closed: unknown;
  const told = await stage.told(async () => {
    closed = await stage.recorded(() =>
      neighbour.app(member, `update ${TABLE} set "State" = 'closed' where "Id" = $1`, [id]),
    );
  });
  t.match(closed, [
    { action: 'order.change' },
    { action: 'order.close', metadata: { state: 'closed', was: 'open' } },
  ]);
  t.match(
    told.filter((row) => row.kind !== 'watched_log_update'),
    [
      { user_id: owner, kind: 'comment_on_my_doc', link_path: `/orders/${id}` },
      { user_id: colleague, kind: 'watched_publish' },
    ],
    'people are told as by any other table',
  );

  const silent = await stage.recorded(() =>
    neighbour.app(member, `update ${TABLE} set "Note" = 'x', "State" = "State" where "Id" = $1`, [
      id,
    ]),
  );
  t.strictSame(silent, [], 'a column that is not in "of", and one that did not change');

  const dropped = await stage.recorded(() =>
    neighbour.app(null, `delete from ${TABLE} where "Id" = $1`, [id]),
  );
  t.match(dropped, [
    { action: 'order.drop', actor_id: null, ref: id, metadata: { title: 'Keel' } },
  ]);
  t.not(
    await stage.value('select deleted_at from bellwire.resources where ref = $1', [id]),
    null,
    'the registry keeps the row, marked',
  );
  t.strictSame(await stage.byAdministrator('select rule, message from bellwire.rule_failures'), []);
});

t.test('rows that are there are registered without activity', async (t) => {
  const { stage, neighbour } = await setUp(t);
  const id = await insert(stage, neighbour);
  t.strictSame(await stage.recorded(() => track(neighbour)), []);
  t.equal(await stage.value('select title from bellwire.resources where ref = $1', [id]), 'Hull');
  const changed = await stage.recorded(() =>
    neighbour.app(null, `update ${TABLE} set "State" = 'closed'`),
  );
  t.equal(changed.length, 2, 'and are followed from then on');
});

t.test('one statement over many rows: COPY, ON CONFLICT, MERGE', async (t) => {
  const { stage, neighbour } = await setUp(t);
  await track(neighbour);
  const copied = await stage.recorded(() =>
    stage.look(
      `copy ${TABLE} ("Title", "Workspace")
       from program $$printf 'One\\t${stage.workspaceId}\\nTwo\\t${stage.workspaceId}\\n'$$`,
    ),
  );
  t.strictSame(
    copied.map((row) => [row.action, row.metadata]),
    [
      ['order.open', { title: 'One' }],
      ['order.open', { title: 'Two' }],
    ],
  );

  const id = copied[0]?.ref;
  const upserted = await stage.recorded(() =>
    neighbour.app(
      stage.people.member,
      `insert into ${TABLE} ("Id", "Title", "Workspace")
       values ($1, 'One again', $2), (gen_random_uuid(), 'Three', $2)
       on conflict ("Id") do update set "Title" = excluded."Title"`,
      [id, stage.workspaceId],
    ),
  );
  t.strictSame(
    upserted.map((row) => [row.action, row.metadata.title]).sort(),
    [
      ['order.change', 'One again'],
      ['order.open', 'Three'],
    ],
    'what was inserted is opened, what was there is changed',
  );

  const merged = await stage.recorded(() =>
    stage.look(
      `merge into ${TABLE} as kept
       using (values ('One again', 'x'), ('Four', 'y')) as given(title, note) on kept."Title" = given.title
       when matched then update set "State" = 'merged'
       when not matched then insert ("Title", "Workspace") values (given.title, ${stage.workspaceId})`,
    ),
  );
  t.strictSame(merged.map((row) => [row.action, row.metadata.title]).sort(), [
    ['order.change', 'One again'],
    ['order.open', 'Four'],
  ]);

  const all = await stage.recorded(() => neighbour.app(null, `delete from ${TABLE}`));
  t.equal(all.length, 4);
});

t.test('a mention in a column, a list of names, and an entry that only tells', async (t) => {
  const { stage, neighbour } = await setUp(t);
  const { member, colleague, guest } = stage.people;
  await track(neighbour, [
    { on: 'insert', action: 'order.open' },
    { on: 'update', of: ['Body'], action: 'order.change', record: false },
    { on: 'update', of: ['Owner'], action: 'order.close', names: 'array[new."Owner"]' },
  ]);
  const id = await insert(stage, neighbour);
  const body = `<span data-type="mention" data-id="${colleague}">@Cleo</span>`;
  let entries: unknown[] = [];
  const told = await stage.told(async () => {
    entries = await stage.recorded(() =>
      neighbour.app(member, `update ${TABLE} set "Body" = $2 where "Id" = $1`, [id, body]),
    );
  });
  t.strictSame(entries, [], 'record false: no entry');
  t.match(told, [{ user_id: colleague, kind: 'mention' }], 'but the mentioned is told');
  t.equal(told.length, 1);

  const named = await stage.told(() =>
    neighbour.app(member, `update ${TABLE} set "Owner" = $2 where "Id" = $1`, [id, guest]),
  );
  t.match(named, [{ user_id: guest, kind: 'mention' }], 'named, before being the owner');
});

t.test('what has no workspace records nothing and breaks nothing', async (t) => {
  const { stage, neighbour } = await setUp(t);
  await track(neighbour);
  const entries = await stage.recorded(() =>
    neighbour.app(stage.people.member, `insert into ${TABLE} ("Title") values ('Lost')`),
  );
  t.strictSame(entries, []);
  const others = await stage.recorded(() =>
    neighbour.app(
      stage.people.member,
      `insert into ${TABLE} ("Title", "Workspace") values ('Nowhere', 999999), ('Here', $1)`,
      [stage.workspaceId],
    ),
  );
  t.match(
    others,
    [{ action: 'order.open', metadata: { title: 'Here' } }],
    'one that nobody made is none',
  );
  t.equal(others.length, 1);
  t.strictSame(await stage.byAdministrator('select from bellwire.rule_failures'), []);
});

t.test('a value too large for the log does not undo the change', async (t) => {
  const { stage, neighbour } = await setUp(t);
  await track(neighbour, [{ on: 'update', of: ['Body'], action: 'order.change' }]);
  const id = await insert(stage, neighbour);
  await neighbour.app(null, `update ${TABLE} set "Body" = repeat('x', 20000) where "Id" = $1`, [
    id,
  ]);
  t.equal(await stage.value(`select length("Body") from ${TABLE}`), 20000);
});
