import t from 'tap';
import { z } from 'zod';
import { createStage, type Row, type Stage } from '../fixtures.ts';
import { sequence, subscribe } from './webhooks.ts';

/** The bodies of all events, once the sequencer has been at it. */
async function events(stage: Stage): Promise<Row[]> {
  await sequence(stage);
  const rows = await stage.look('select body from bellwire.webhook_events order by sequence');
  return rows.map((row) => JSON.parse(String(row.body)) as Row);
}

const deliveries = (stage: Stage) =>
  stage.look(
    `select delivery.subscription_id, event.type from bellwire.webhook_deliveries as delivery
     join bellwire.webhook_events as event on event.id = delivery.event_id order by delivery.id`,
  );

const rename = (stage: Stage, title: string) =>
  stage.by(stage.people.member, 'select api.rename_document($1, $2)', [stage.documentId, title]);

t.test('without a subscription that matches there is no row at all', async (t) => {
  const stage = await createStage(t);
  await rename(stage, 'One');
  t.strictSame(await events(stage), [], 'none at all');
  await subscribe(stage, { workspaceId: stage.strangerWorkspaceId });
  await subscribe(stage, { types: ['log.move', 'archive.delete'] });
  const { id } = await subscribe(stage);
  await stage.look('update bellwire.webhook_subscriptions set is_enabled = false where id = $1', [
    id,
  ]);
  await rename(stage, 'Two');
  t.strictSame(await events(stage), [], 'another workspace, other types, disabled');
});

t.test('a delivery for each that matches by workspace and type', async (t) => {
  const stage = await createStage(t);
  const all = await subscribe(stage);
  const here = await subscribe(stage, { workspaceId: stage.workspaceId, types: ['log.rename'] });
  await subscribe(stage, { workspaceId: stage.strangerWorkspaceId });
  await subscribe(stage, { types: ['log.move'] });
  await rename(stage, 'One');
  t.strictSame(await deliveries(stage), [
    { subscription_id: all.id, type: 'log.rename' },
    { subscription_id: here.id, type: 'log.rename' },
  ]);
  t.equal((await events(stage)).length, 1, 'of one event');
  const paused = 'update bellwire.webhook_subscriptions set paused_until = now() + $1::interval';
  await stage.look(paused, ['1 hour']);
  await rename(stage, 'Two');
  t.equal((await deliveries(stage)).length, 4, 'a paused receiver gets it later');
});

t.test('eight actions are emitted, each with its data', async (t) => {
  const stage = await createStage(t);
  const { owner, member, outsider } = stage.people;
  await subscribe(stage);
  const by = (sql: string, ...values: unknown[]) => stage.by(member, sql, values);
  const log = await stage.createDocument(member, 'Plan', 'one', stage.documentId);
  await stage.save(member, log, 'two');
  const [version] = await by('select id from api.publish_document($1, $2)', log, 'v1');
  await by('select api.rename_document($1, $2)', log, 'The plan');
  await by('select api.move_document($1, null)', log);
  await stage.save(member, log, 'three'); // within five minutes of the last
  await by('select api.restore_document($1, $2)', log, version?.id);
  const comment = await stage.comment(member, log, 'x');
  await stage.comment(member, log, 'y', comment);
  await by('select api.delete_comment($1)', comment);
  await stage.by(owner, 'select api.delete_version($1)', [version?.id]);
  await by('select api.delete_document($1)', log);
  const [archive] = await by('select id from api.create_archive($1, $2)', stage.squadId, 'Maps');
  await by('select api.rename_archive($1, $2)', archive?.id, 'Charts');
  await stage.by(owner, 'select api.delete_archive($1)', [archive?.id]);
  await stage.by(owner, 'select api.invite_to_squad($1, $2)', [stage.squadId, outsider]);

  const found = await events(stage);
  const place = { log_id: log, archive_id: stage.archiveId };
  t.same(
    found.map((row) => [row.type, row.data]),
    [
      ['log.update', { ...place, parent_id: stage.documentId, title: 'Plan' }],
      [
        'log.publish',
        { ...place, parent_id: stage.documentId, title: 'Plan', version_id: version?.id },
      ],
      [
        'log.rename',
        { ...place, parent_id: stage.documentId, title: 'The plan', previous: 'Plan' },
      ],
      [
        'log.move',
        { ...place, parent_id: null, previous_parent_id: stage.documentId, title: 'The plan' },
      ],
      ['log.restore', { ...place, parent_id: null, title: 'The plan', version_id: version?.id }],
      ['log.delete', { ...place, parent_id: null, title: 'The plan' }],
      ['archive.rename', { archive_id: archive?.id, name: 'Charts', previous: 'Maps' }],
      ['archive.delete', { archive_id: archive?.id, name: 'Charts' }],
    ],
  );
  t.ok(
    found.every((row) => row.squad_id === stage.squadId && row.workspace_id === stage.workspaceId),
  );
  t.strictSame([...new Set(found.map((row) => (row.actor as Row).id))], [member, owner]);
  const catalogue = await stage.byAdministrator('select * from bellwire.webhook_event_types()');
  for (const { type, data } of found) {
    const { data_schema, example } = catalogue.find((each) => each.type === type) as Row;
    const schema = z.fromJSONSchema({ ...(data_schema as object), additionalProperties: false });
    t.strictSame(schema.safeParse(data).error, undefined, `${type}: as the catalogue has it`);
    t.strictSame(schema.safeParse(example).error, undefined, `${type}: its example`);
  }
});

t.test('a bulk change writes its events in order, in its own transaction', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  await subscribe(stage);
  const ids: number[] = [];
  for (const title of ['A', 'B', 'C']) ids.push(await stage.createDocument(owner, title));
  await t.rejects(
    stage.database.asUser(member, async (client) => {
      await client.query("update suite.logs set title = title || '!' where id = any ($1)", [ids]);
      throw new Error('rolled back');
    }),
  );
  t.strictSame(await events(stage), [], 'gone with the change');
  await stage.by(member, "update suite.logs set title = title || '?' where id = any ($1)", [ids]);
  t.strictSame(
    (await events(stage)).map((row) => (row.data as Row).title),
    ['A?', 'B?', 'C?'],
  );
});

t.test('writers do not wait for each other', async (t) => {
  const stage = await createStage(t);
  const { member, colleague } = stage.people;
  await subscribe(stage);
  const other = await stage.createDocument(member, 'Other');
  await stage.database.asUser(member, async (first) => {
    await first.query('select api.rename_document($1, $2)', [stage.documentId, 'One']);
    await stage.database.asUser(colleague, async (second) => {
      await second.query("set local lock_timeout = '2s'");
      await second.query('select api.rename_document($1, $2)', [other, 'Two']);
    });
  });
  t.equal((await events(stage)).length, 2);
});

t.test('an event says what was, whatever happened before the sequencer came', async (t) => {
  const stage = await createStage(t);
  const { owner, member } = stage.people;
  await subscribe(stage, { types: ['log.update', 'log.publish'] });
  const log = await stage.createDocument(member, 'Plan');
  await stage.save(member, log, 'two');
  await stage.by(member, 'select api.publish_document($1, $2)', [log, 'v1']);
  await rename(stage, 'Unrelated');
  await stage.by(member, 'select api.rename_document($1, $2)', [log, 'Renamed']);
  await stage.by(member, 'select api.delete_document($1)', [log]);
  await stage.by(owner, 'select api.delete_squad($1)', [stage.squadId]);
  const data = { log_id: log, archive_id: stage.archiveId, parent_id: null, title: 'Plan' };
  t.match(await events(stage), [
    { type: 'log.update', workspace_id: stage.workspaceId, squad_id: stage.squadId, data },
    { type: 'log.publish', workspace_id: stage.workspaceId, squad_id: stage.squadId, data },
  ]);
});
