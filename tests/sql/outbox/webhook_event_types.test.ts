import t from 'tap';
import { z } from 'zod';
import { createStage, type Row, type Stage } from '../fixtures.ts';
import { emit, sequence, subscribe, Worker } from './webhooks.ts';

const CATALOGUE = 'select * from bellwire.webhook_event_types()';

async function entry(stage: Stage, type: string) {
  const row = (await stage.byAdministrator(CATALOGUE)).find((each) => each.type === type);
  return row as { description: string; data_schema: Row; example: Row; is_documented: boolean };
}

t.test('the built-in types: schema, example and what is sent have the same keys', async (t) => {
  const stage = await createStage(t);
  const rows = await stage.byAdministrator(CATALOGUE);
  t.equal(rows.length, 9);
  for (const { type, data_schema, example, is_documented } of rows as unknown as Row[]) {
    const schema = data_schema as { properties: Row; required: string[] };
    const keys = Object.keys(example as Row).sort();
    t.strictSame(Object.keys(schema.properties).sort(), keys, String(type));
    t.strictSame(schema.required.sort(), keys, `${type}: required`);
    t.equal(is_documented, true);
  }
  await subscribe(stage);
  await emit(stage, ['First']);
  const claim = await new Worker(stage).claimOne();
  const { data } = JSON.parse(claim.body.toString());
  t.strictSame(
    Object.keys(data).sort(),
    Object.keys((await entry(stage, 'log.rename')).example).sort(),
  );
});

t.test('an action of a table of yours is worked out from how it is tracked', async (t) => {
  const stage = await createStage(t);
  await stage.look(`
    create table tickets (id bigint primary key, workspace_id bigint, subject text, status text);
    insert into bellwire.action_rules (action, verb, emits)
    values ('ticket.open', 'opened', false), ('ticket.close', 'closed', true), ('ticket.tag', 'tagged', true);
    select bellwire.track('tickets', 'ticket', workspace => 'workspace_id', title => 'subject', actions => '[
      {"on": "insert", "action": "ticket.open"},
      {"on": "update", "of": ["status"], "action": "ticket.close"},
      {"on": "delete", "action": "ticket.tag", "metadata": {"tag": "old.status"}}]')`);
  const closed = await entry(stage, 'ticket.close');
  t.match(closed, { description: 'Somebody closed a ticket.', is_documented: false });
  const { id } = await subscribe(stage, { workspaceId: stage.workspaceId });
  await stage.look(`insert into tickets values (1, ${stage.workspaceId}, 'Fire', 'open')`);
  await stage.look("update tickets set status = 'closed'");
  await stage.byWorker('select bellwire.sequence_webhooks(10)');
  const { data } = JSON.parse((await new Worker(stage).claimOne()).body.toString());
  t.strictSame(Object.keys(closed.example).sort(), Object.keys(data).sort());
  t.match(closed.data_schema, {
    properties: { title: { maxLength: 255 }, status: {}, truncated: { const: true } },
    required: [],
  });
  t.strictSame(Object.keys((await entry(stage, 'ticket.tag')).example), ['tag', 'ticket_id']);
  t.equal(await entry(stage, 'ticket.open'), undefined, 'what is not emitted is not in it');

  await stage.byAdministrator(
    `update bellwire.action_rules set event_description = 'It is out.', event_example = '{"status": "closed"}'
     where action = 'ticket.close'`,
  );
  t.match(await entry(stage, 'ticket.close'), {
    description: 'It is out.',
    example: { status: 'closed' },
    is_documented: true,
  });
  t.ok(id);
});

t.test(
  'what is sent fits the schema, whatever the keys of a table and however long its texts',
  async (t) => {
    const stage = await createStage(t);
    await stage.look(`
    create table tickets (id uuid primary key, workspace_id bigint, agent_id uuid, subject text, status text, labels jsonb);
    insert into bellwire.action_rules (action, verb, emits, event_data, event_example) values
      ('ticket.open', 'opened', true, null, null),
      ('ticket.close', 'closed', true, null,
        '{"title": "Fire", "status": "closed", "ticket_id": "9e85", "previous_status": "open"}'),
      ('ticket.assign', 'assigned', true, '{"ticket_id": "ref", "agent_id": "metadata.agent_id", "title": "title"}', null),
      ('ticket.label', 'labelled', true, '{"ticket_id": "ref", "labels": "metadata.labels"}', null);
    select bellwire.track('tickets', 'ticket', workspace => 'workspace_id', title => 'subject', actions => '[
      {"on": "insert", "action": "ticket.open"},
      {"on": "update", "of": ["status"], "action": "ticket.close"},
      {"on": "update", "of": ["agent_id"], "action": "ticket.assign"},
      {"on": "update", "of": ["labels"], "action": "ticket.label"}]')`);
    await subscribe(stage);
    await stage.look(
      `insert into tickets values (gen_random_uuid(), ${stage.workspaceId}, null, repeat('\u0001', 300), 'open', '[]')`,
    );
    await stage.look(
      `update tickets set status = repeat('"', 300), agent_id = gen_random_uuid(),
       labels = (select jsonb_agg(repeat('x', 100)) from generate_series(1, 60))`,
    );
    await sequence(stage);
    const bodies = await stage.look('select type, body from bellwire.webhook_events order by type');
    t.equal(bodies.length, 4);
    for (const { type, body } of bodies) {
      const { data_schema, example } = await entry(stage, String(type));
      const schema = z.fromJSONSchema({ ...(data_schema as object) });
      const { data } = JSON.parse(String(body));
      t.strictSame(schema.safeParse(data).error, undefined, `${type}: what is sent`);
      t.strictSame(schema.safeParse(example).error, undefined, `${type}: its example`);
      if ('title' in data)
        t.equal(Array.from(data.title as string).length, 255, 'texts are bounded');
    }
  },
);

t.test('who may', async (t) => {
  const stage = await createStage(t);
  const call = 'select type from api.list_webhook_event_types()';
  for (const person of [stage.people.guest, stage.people.stranger]) {
    t.equal((await stage.by(person, call)).length, 9);
  }
  await stage.look('update bellwire.users set deactivated_at = now() where id = $1', [
    stage.people.guest,
  ]);
  t.strictSame(await stage.by(stage.people.guest, call), []);
  await t.rejects(stage.byAnonymous(call), { code: '42501' });
  t.equal((await stage.byServer(CATALOGUE)).length, 9, 'the server, for /docs');
});
