import { createHash } from 'node:crypto';
import t from 'tap';
import { createStage, type Row, refused, type Stage } from '../fixtures.ts';

const TAKE = 'select * from identity.take_attempt($1, $2, $3, $4)';

const take = async (stage: Stage, key: string, most = 3, bucket = 'credentials') =>
  (await stage.byServer(TAKE, [bucket, key, most, 900]))[0] as Row;

t.test('attempts are counted by bucket and key until the window ends', async (t) => {
  const stage = await createStage(t);
  const rows = () => stage.look('select * from identity.rate_limits order by ends_at');
  for (const remaining of [2, 1, 0]) {
    t.match(await take(stage, 'a'), { is_allowed: true, remaining });
  }
  const [before] = await rows();
  const last = await take(stage, 'a');
  t.match(last, { is_allowed: false, remaining: 0 });
  t.ok(Number(last.retry_after_seconds) > 890 && Number(last.retry_after_seconds) <= 900);
  t.strictSame(await rows(), [before], 'a refusal writes nothing');
  t.equal(before?.key_digest, createHash('sha256').update('credentials a').digest('hex'));

  t.match(await take(stage, 'b'), { is_allowed: true, remaining: 2 }, 'another key');
  t.match(await take(stage, 'a', 3, 'people'), { remaining: 2 }, 'another bucket');
  t.match(await take(stage, 'a', 5), { is_allowed: true, remaining: 1 }, 'a limit that was raised');

  await stage.look('update identity.rate_limits set ends_at = now() where key_digest = $1', [
    before?.key_digest,
  ]);
  t.match(await take(stage, 'a'), { is_allowed: true, remaining: 2, retry_after_seconds: 900 });
  await refused(t, take(stage, 'a', 3, ''), { code: '23514' }, 'a bucket has a name');
});

t.test('together they count exactly, and different keys do not wait', async (t) => {
  const stage = await createStage(t);
  const answers = await Promise.all(Array.from({ length: 40 }, () => take(stage, 'same', 15)));
  t.equal(answers.filter((answer) => answer.is_allowed).length, 15);

  const holder = await stage.database.admin.connect();
  await holder.query('begin');
  await holder.query(TAKE, ['credentials', 'held', 3, 900]);
  const waits = async (key: string) => {
    const client = await stage.database.admin.connect();
    try {
      await client.query("set lock_timeout = '100ms'");
      await client.query(TAKE, ['credentials', key, 3, 900]);
      return false;
    } catch {
      return true;
    } finally {
      client.release(true);
    }
  };
  t.equal(await waits('held'), true, 'the same key does');
  t.equal(await waits('other'), false);
  await holder.query('rollback');
  holder.release();
  t.equal(await waits('held'), false);
});

t.test('rows of windows that ended go with new ones; counting touches no index', async (t) => {
  const stage = await createStage(t);
  const count = () => stage.value<number>('select count(*)::integer from identity.rate_limits');
  for (let key = 0; key < 10; key += 1) await take(stage, `old ${key}`);
  await stage.look("update identity.rate_limits set ends_at = now() - interval '1 second'");
  for (let key = 0; key < 5; key += 1) await take(stage, `new ${key}`);
  t.equal(await count(), 5, 'two for one');
  for (let key = 0; key < 5; key += 1) await take(stage, `newer ${key}`);
  t.equal(await count(), 10, 'and none whose window runs');

  const stats = `select pg_stat_get_xact_tuples_updated(oid)::integer as updated,
      pg_stat_get_xact_tuples_hot_updated(oid)::integer as hot
    from pg_class where oid = 'identity.rate_limits'::regclass`;
  await stage.database.admin.query('vacuum identity.rate_limits');
  const client = await stage.database.admin.connect();
  await client.query('begin');
  const [before] = (await client.query(stats)).rows;
  for (let attempt = 0; attempt < 20; attempt += 1) {
    await client.query(TAKE, ['credentials', 'new 1', 100, 900]);
  }
  const [counted] = (await client.query(stats)).rows;
  await client.query('commit');
  client.release();
  t.equal(counted.updated - before.updated, 20);
  t.equal(counted.hot - before.hot, 20);
});
