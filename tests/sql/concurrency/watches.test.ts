import t from 'tap';
import { createStage, type Stage } from '../fixtures.ts';
import {
  drainAll,
  hold,
  queued,
  refusals,
  ruleFailures,
  untilBlocked,
  withoutWaiting,
} from './parallel.ts';

const ROUNDS = 8;
const WATCH = "select from api.watch('log', $1, $2)";
const UNWATCH = "select from api.unwatch('log', $1)";
const COMMENT = "select from api.create_comment($1, 'x')";

const tellings = (stage: Stage, person: number, documentId: number) =>
  stage.value<number>(
    `select coalesce(sum(1 + notification.coalesced_count), 0)::int
     from bellwire.notifications as notification
     join bellwire.resources as resource on resource.id = notification.resource_id
     where notification.user_id = $1 and resource.type = 'log' and resource.ref = $2`,
    [person, String(documentId)],
  );

t.test('unwatching and muting wait for no fan-out, and none for them', async (t) => {
  const stage = await createStage(t);
  const { member, colleague, guest } = stage.people;
  const id = stage.documentId;
  for (const person of [colleague, guest]) await stage.watch(person, 'log', id);

  t.test('a fan-out is open', async (t) => {
    const held = await hold(stage, member);
    await held.query(COMMENT, [id]);
    await withoutWaiting(stage, colleague, UNWATCH, [String(id)]);
    await withoutWaiting(stage, guest, WATCH, [String(id), 'ignored']);
    await held.end('commit');
    t.equal(await tellings(stage, colleague, id), 1, 'what was said before they left is theirs');
    await stage.comment(member, id, 'next');
    t.equal(await tellings(stage, colleague, id), 1, 'what comes after is not');
    t.equal(await tellings(stage, guest, id), 1);
  });

  t.test('the unwatch and the mute are open', async (t) => {
    await stage.clearMail();
    for (const person of [colleague, guest]) await stage.watch(person, 'log', id);
    const leaving = await hold(stage, colleague);
    await leaving.query(UNWATCH, [String(id)]);
    const muting = await hold(stage, guest);
    await muting.query(WATCH, [String(id), 'ignored']);
    await withoutWaiting(stage, member, COMMENT, [id]);
    await leaving.end('commit');
    await muting.end('rollback');
    await stage.comment(member, id, 'next');
    t.equal(await tellings(stage, colleague, id), 1, 'until it is committed');
    t.equal(await tellings(stage, guest, id), 2, 'a mute that is undone was none');
  });
  t.strictSame(await ruleFailures(stage), []);
});

t.test('losing access waits for no fan-out, and shows nothing of what it told', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague } = stage.people;
  const REMOVE = 'select from api.remove_squad_member($1, $2)';
  const inbox = () => stage.by(colleague, 'select from api.list_notifications()');
  await stage.watch(colleague, 'log', stage.documentId);

  t.test('a fan-out is open', async (t) => {
    const held = await hold(stage, member);
    await held.query(COMMENT, [stage.documentId]);
    await withoutWaiting(stage, owner, REMOVE, [stage.squadId, colleague]);
    await held.end('commit');
    t.equal(await tellings(stage, colleague, stage.documentId), 1);
    t.strictSame(await inbox(), []);
  });

  t.test('the removal is open', async (t) => {
    await stage.by(owner, "select api.add_squad_member($1, $2, 'member')", [
      stage.squadId,
      colleague,
    ]);
    await stage.clearMail();
    const held = await hold(stage, owner);
    await held.query(REMOVE, [stage.squadId, colleague]);
    await withoutWaiting(stage, member, COMMENT, [stage.documentId]);
    t.equal((await inbox()).length, 1, 'until it is committed');
    await held.end('commit');
    t.strictSame(await inbox(), []);
    await stage.ageNotifications(61);
    await stage.comment(member, stage.documentId, 'later');
    t.equal(await tellings(stage, colleague, stage.documentId), 1, 'and no other is written');
  });
  t.strictSame(await ruleFailures(stage), []);
});

t.test('an event in the queue reaches who watches when it is told', async (t) => {
  const stage = await createStage(t);
  const { member, colleague, guest } = stage.people;
  const id = stage.documentId;
  for (const person of [colleague, guest]) await stage.watch(person, 'log', id);
  await stage.set('sync_fanout_limit', 1);
  await stage.comment(member, id, 'queued');
  t.equal(await queued(stage), 1);
  await stage.by(colleague, UNWATCH, [String(id)]);
  await stage.watch(guest, 'log', id, 'ignored');
  await drainAll(stage);
  t.equal(await tellings(stage, colleague, id), 0, 'left before it was told');
  t.equal(await tellings(stage, guest, id), 0, 'muted before it was told');
  t.equal(await tellings(stage, stage.people.owner, id), 1, 'the others are told');
});

t.test(
  'toggling at full speed beside comments: no deadlock, and the last word holds',
  async (t) => {
    const stage = await createStage(t);
    const { owner, member, colleague, guest } = stage.people;
    for (let round = 0; round < ROUNDS; round += 1) {
      const id = await stage.createDocument(owner, 'Busy');
      const toggle = async (person: number, last: () => Promise<unknown>) => {
        for (let count = 0; count < 3; count += 1) {
          await stage.watch(person, 'log', id);
          await stage.by(person, UNWATCH, [String(id)]);
          await stage.watch(person, 'log', id, 'ignored');
        }
        await last();
      };
      const results = await Promise.allSettled([
        toggle(colleague, () => stage.by(colleague, UNWATCH, [String(id)])),
        toggle(guest, () => stage.watch(guest, 'log', id, 'ignored')),
        ...Array.from({ length: 6 }, () => stage.comment(member, id, 'x')),
      ]);
      t.strictSame(refusals(results), []);
      await drainAll(stage, 10);
      const before = await Promise.all([colleague, guest].map((who) => tellings(stage, who, id)));
      await stage.comment(member, id, 'last');
      await drainAll(stage, 10);
      const after = await Promise.all([colleague, guest].map((who) => tellings(stage, who, id)));
      t.strictSame(after, before, 'neither hears of what comes after');
      t.equal(await tellings(stage, owner, id), 7, 'the owner heard of each');
    }
    t.strictSame(await ruleFailures(stage), []);
  },
);

t.test('by hand against by itself: by hand holds, whichever came first', async (t) => {
  const stage = await createStage(t);
  const { owner, member, colleague } = stage.people;

  t.test('a save is open, the same person watches', async (t) => {
    for (const [how, level] of [
      ['commit', 'watching'],
      ['commit', 'ignored'],
      ['rollback', 'watching'],
    ] as const) {
      const id = await stage.createDocument(owner, 'Mine');
      const held = await hold(stage, member);
      await held.query("select from api.save_document($1, 'new')", [id]);
      await withoutWaiting(stage, colleague, WATCH, [String(id), 'watching']);
      const byHand = stage.watch(member, 'log', id, level);
      await untilBlocked(stage);
      await held.end(how);
      await byHand;
      t.match(await stage.watchState(member, 'log', id), { source: 'manual', level });
      t.match(await stage.watchState(colleague, 'log', id), { source: 'manual' });
    }
  });

  t.test('a watch is open, the same person saves', async (t) => {
    for (const how of ['commit', 'rollback'] as const) {
      const id = await stage.createDocument(owner, 'Mine');
      const held = await hold(stage, member);
      await held.query(WATCH, [String(id), 'ignored']);
      await withoutWaiting(stage, colleague, "select from api.save_document($1, 'new')", [id]);
      const save = stage.save(member, id, 'newer');
      await untilBlocked(stage);
      await held.end(how);
      await save;
      t.match(
        await stage.watchState(member, 'log', id),
        how === 'commit'
          ? { source: 'manual', level: 'ignored' }
          : { source: 'auto_edit', level: 'watching' },
        how,
      );
    }
  });

  t.test('at once', async (t) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const id = await stage.createDocument(owner, 'Mine');
      const results = await Promise.allSettled([
        stage.save(member, id, 'a'),
        stage.watch(member, 'log', id),
        stage.comment(member, id, 'b'),
      ]);
      t.strictSame(refusals(results), []);
      t.match(await stage.watchState(member, 'log', id), { source: 'manual' });
    }
  });
  t.strictSame(await ruleFailures(stage), []);
});
