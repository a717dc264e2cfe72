import { readFileSync } from 'node:fs';
import type pg from 'pg';
import t, { type Test } from 'tap';
import '../sql/stage.ts';
import { createDatabase } from '../support/database.ts';

const FOLDER = new URL('../../examples/helpdesk/', import.meta.url);
const APP = 'helpdesk_app';

type Row = Record<string, unknown>;

/** The help desk with its people, watched, and an application that writes to it as its own role. */
async function createHelpDesk(t: Test) {
  const database = await createDatabase(t);
  const dba = `${database.name}_dba`;
  const look = async (sql: string, values: unknown[] = []): Promise<Row[]> =>
    (await database.admin.query(sql, values)).rows;
  await look(
    `create role ${dba} login in role bellwire_admin; create role ${APP} login;
     grant create on database ${database.name} to ${dba}`,
  );
  t.teardown(async () => {
    await look(`drop owned by ${dba}, ${APP} cascade; drop role ${dba}, ${APP}`);
  });
  const as = async (role: string, use: (client: pg.PoolClient) => Promise<unknown>) => {
    const client = await database.admin.connect();
    try {
      await client.query(`set session authorization ${role}`);
      return await use(client);
    } finally {
      client.release(true);
    }
  };
  const file = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8');
  const people: Record<string, string> = {};

  await as(dba, async (client) => {
    await client.query(file('schema.sql'));
    const { rows } = await client.query(
      `insert into helpdesk.users (email, display_name)
       select lower(name) || '@desk.example', name from unnest('{Sue,Amir,Bea,Cato,Dee,Carl}'::text[]) as name
       returning display_name, id`,
    );
    for (const row of rows) people[row.display_name] = row.id;
    await client.query(
      `insert into helpdesk.agents select id, display_name = 'Sue' from helpdesk.users where display_name <> 'Carl';
       insert into helpdesk.teams (name) values ('Network'), ('Billing');
       insert into helpdesk.team_agents select team.id, person.id, person.display_name = 'Amir'
         from helpdesk.teams as team, helpdesk.users as person
         where team.name = 'Network' and person.display_name in ('Amir', 'Bea', 'Cato')
           or team.name = 'Billing' and person.display_name = 'Dee';
       insert into helpdesk.customers (company, contact_id) select 'Carl & Co', id from helpdesk.users where display_name = 'Carl'`,
    );
    await client.query(file('watch.sql'));
  });

  /** One transaction of the application, for one of its people. */
  const app = (name: string, sql: string, values: unknown[] = []) =>
    as(APP, async (client) => {
      await client.query('begin');
      await client.query("select set_config('helpdesk.user_id', $1, true)", [people[name]]);
      const { rows } = await client.query(sql, values);
      await client.query('commit');
      return rows;
    }) as Promise<Row[]>;
  const idOf = async (name: string) =>
    (await look('select bellwire.user_id($1) as id', [people[name]]))[0]?.id as number;
  /** What this tells whom. */
  const told = async (change: () => Promise<unknown>) => {
    const [before] = await look('select coalesce(max(id), 0) as id from bellwire.notifications');
    await change();
    const rows = await look(
      `select person.name || ': ' || notification.kind || ': ' || notification.title as line
       from bellwire.notifications as notification join bellwire.users as person on person.id = notification.user_id
       where notification.id > $1 and notification.deleted_at is null order by 1`,
      [before?.id],
    );
    return rows.map((row) => row.line);
  };
  const recorded = async (change: () => Promise<unknown>) => {
    const [before] = await look('select coalesce(max(id), 0) as id from bellwire.activity_log');
    await change();
    const rows = await look(
      `select concat_ws(' ', person.name, activity.action, resource.type, resource.ref) as line
       from bellwire.activity_log as activity
       join bellwire.resources as resource on resource.id = activity.resource_id
       left join bellwire.users as person on person.id = activity.actor_id
       where activity.id > $1 order by activity.id`,
      [before?.id],
    );
    return rows.map((row) => row.line);
  };
  const failures = () => look('select rule, message, context from bellwire.rule_failures');
  const open = async (subject: string, team: string | null, assignee: string | null) => {
    const [ticket] = await app(
      'Sue',
      `insert into helpdesk.tickets (customer_id, team_id, assignee_id, subject)
       select id, (select id from helpdesk.teams where name = $2), $3, $1 from helpdesk.customers returning id`,
      [subject, team, assignee && people[assignee]],
    );
    return ticket?.id as number;
  };
  const reply = (name: string, ticket: number, html: string) =>
    app(
      name,
      'insert into helpdesk.replies (ticket_id, author_id, body_html) values ($1, $2, $3)',
      [ticket, people[name], html],
    );
  const mention = (name: string) =>
    `<span data-type="mention" data-id="${people[name]}">@${name}</span>`;
  const watch = async (name: string, ticket: number, level = 'watching') =>
    database.asUser(await idOf(name), (client) =>
      client.query("select api.watch('ticket', $1, $2)", [String(ticket), level]),
    );
  return {
    database,
    people,
    look,
    app,
    as,
    idOf,
    told,
    recorded,
    failures,
    open,
    reply,
    mention,
    watch,
  };
}

t.test('the help desk', async (t) => {
  const desk = await createHelpDesk(t);
  const { look, app, told, recorded, open, reply, mention, watch } = desk;

  t.strictSame(
    await look(
      "select has_schema_privilege('helpdesk_app', 'bellwire', 'usage') as engine, has_schema_privilege('helpdesk_app', 'api', 'usage') as api",
    ),
    [{ engine: false, api: false }],
    'the application has no right on Bellwire',
  );
  t.equal((await look('select from bellwire.users where external_id is not null')).length, 6);
  await look("select bellwire.create_webhook_subscription('https://receiver.example/hooks')");

  let ticket = 0;
  await t.test('a ticket in the registry, and its activity', async (t) => {
    const entries = await recorded(async () => {
      ticket = await open('  No link ', 'Network', 'Bea');
    });
    t.strictSame(entries, [`Sue ticket.open ticket ${ticket}`]);
    t.match(
      await look(
        `select ticket.title, ticket.link_path, owner.name as owner, scope.title as scope
         from bellwire.resources as ticket join bellwire.users as owner on owner.id = ticket.owner_id
         join bellwire.resources as scope on scope.id = ticket.scope_id where ticket.type = 'ticket'`,
      ),
      [{ title: 'No link', link_path: `/tickets/${ticket}`, owner: 'Bea', scope: 'Network' }],
      'as the triggers of the help desk left it',
    );
  });

  await t.test('a reply: its author watches, owner and watchers are told', async (t) => {
    await watch('Cato', ticket);
    t.strictSame(await told(() => reply('Amir', ticket, '<p>Which cable?</p>')), [
      'Bea: my_ticket_reply: Amir replied on your ticket “No link”',
      'Cato: ticket_reply: Amir replied on “No link”',
    ]);
    t.match(
      await look(`select watch.source from bellwire.watches as watch where watch.user_id = $1`, [
        await desk.idOf('Amir'),
      ]),
      [{ source: 'auto_reply' }],
    );
    t.match(await look("select body from bellwire.notifications where kind = 'my_ticket_reply'"), [
      { body: 'Which cable?' },
    ]);
  });

  await t.test('a mention: once, and only who may read it', async (t) => {
    const other = await open('No power', 'Network', 'Bea');
    await watch('Cato', other);
    t.strictSame(
      await told(() =>
        reply(
          'Amir',
          other,
          `<p>${mention('Cato')} ${mention('Dee')} ${mention('Carl')} ${mention('Amir')}?</p>`,
        ),
      ),
      [
        'Bea: my_ticket_reply: Amir replied on your ticket “No power”',
        'Cato: mention: Amir mentioned you in “No power”',
      ],
      'Cato as mentioned, not as watcher too; Dee is of another team, Carl a customer, Amir the author',
    );
  });

  await t.test('a ticket is given, solved, and woken by its customer', async (t) => {
    const given = await open('Slow', 'Network', null);
    t.strictSame(
      await told(() =>
        app('Sue', 'update helpdesk.tickets set assignee_id = $2 where id = $1', [
          given,
          desk.people.Bea,
        ]),
      ),
      ['Bea: ticket_assigned: Sue gave you “Slow”'],
    );
    await watch('Cato', given);
    t.strictSame(
      await told(() =>
        app('Bea', "update helpdesk.tickets set status = 'solved' where id = $1", [given]),
      ),
      ['Cato: ticket_solved: Bea solved “Slow”'],
    );
    const entries = await recorded(() => reply('Carl', given, 'Still slow.'));
    t.strictSame(entries.map((line) => String(line).replace(/ reply \d+$/, ' reply')).sort(), [
      `Carl ticket.reopen ticket ${given}`,
      'Carl ticket.reply reply',
    ]);
  });

  await t.test('a mute', async (t) => {
    const muted = await open('Noise', 'Network', 'Bea');
    await watch('Bea', muted, 'ignored');
    await watch('Cato', muted);
    t.strictSame(
      await told(() => reply('Amir', muted, `<p>${mention('Bea')}</p>`)),
      ['Cato: ticket_reply: Amir replied on “Noise”'],
      'neither as owner nor as mentioned',
    );
  });

  await t.test('a ticket that moves to another team', async (t) => {
    const moved = await open('Invoice', 'Network', 'Bea');
    await watch('Cato', moved);
    await app(
      'Sue',
      "update helpdesk.tickets set team_id = (select id from helpdesk.teams where name = 'Billing') where id = $1",
      [moved],
    );
    t.strictSame(
      await told(() => reply('Dee', moved, `${mention('Amir')} ${mention('Sue')}`)),
      ['Sue: mention: Dee mentioned you in “Invoice”'],
      'the former team is told nothing any more',
    );
    const triage = await open('Which team?', null, null);
    t.match(
      await look(
        "select scope.type from bellwire.resources as ticket join bellwire.resources as scope on scope.id = ticket.scope_id where ticket.type = 'ticket' and ticket.ref = $1",
        [String(triage)],
      ),
      [{ type: 'workspace' }],
      'in triage it is in the workspace',
    );
  });

  await t.test('an agent who leaves', async (t) => {
    const left = await open('Farewell', 'Network', 'Cato');
    await desk.as(APP, (client) =>
      client.query('delete from helpdesk.team_agents where user_id = $1', [desk.people.Cato]),
    );
    t.strictSame(
      await told(() => reply('Amir', left, mention('Cato'))),
      [],
      'the team: is told nothing of it',
    );
    await desk.as(APP, (client) =>
      client.query('update helpdesk.users set is_disabled = true where id = $1', [desk.people.Bea]),
    );
    t.strictSame(
      await told(() => reply('Amir', ticket, mention('Bea'))),
      [],
      'the company: is told nothing at all',
    );
  });

  await t.test('webhooks', async (t) => {
    const events = await look(
      'select type, count(*) from bellwire.webhook_events group by type order by type',
    );
    t.match(
      events.map((row) => row.type),
      ['ticket.assign', 'ticket.open', 'ticket.reopen', 'ticket.reply', 'ticket.solve'],
    );
    t.equal(
      (await look('select count(*) from bellwire.webhook_deliveries'))[0]?.count,
      events.reduce((sum, row) => sum + Number(row.count), 0),
    );
  });

  t.strictSame(await desk.failures(), []);
});
