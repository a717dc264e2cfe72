import type { Demo, Subscription } from '../demo.ts';
import type { Received } from '../receiver.ts';
import { BACKOFF_SECONDS } from '../stage.ts';
import { until } from '../until.ts';

/** The actions whose events leave the house. */
const EMITTED = new Set([
  'archive.rename',
  'archive.delete',
  'log.update',
  'log.rename',
  'log.move',
  'log.delete',
  'log.publish',
  'log.restore',
]);
const POSITION_HEADER = 'x-codex-position';
const RETRY_STATUS = 503;

interface Row {
  event_id: string;
  type: string;
  sequence: number;
  position: number;
  attempts: number;
  state: string;
  body: Buffer;
}

const DELIVERIES =
  'select event.event_id, event.type, event.sequence::int as sequence, event.body, ' +
  'delivery.position::int as position, delivery.attempts, delivery.state ' +
  'from bellwire.webhook_deliveries as delivery ' +
  'join bellwire.webhook_events as event on event.id = delivery.event_id ' +
  'where delivery.subscription_id = $1 order by event.sequence';

/** A receiver of everything got every event, in order, without a gap, byte by byte. */
export async function checkWebhooks(demo: Demo): Promise<string> {
  const rows = await deliveredRows(demo, demo.everything);
  const requests = demo.stage.receiver.on(demo.everything.path);
  const expected = [...demo.ledger.activity()]
    .filter(([action]) => EMITTED.has(action))
    .reduce((sum, [, count]) => sum + count, 0);
  if (rows.length !== expected || requests.length !== expected || expected === 0) {
    throw new Error(`${expected} events, ${rows.length} in the outbox, ${requests.length} arrived`);
  }
  for (const [index, row] of rows.entries()) {
    if (row.sequence !== index + 1)
      throw new Error(`event ${index + 1} has number ${row.sequence}`);
    compare(row, requests[index], index + 1);
  }
  const types = new Set(rows.map(({ type }) => type)).size;
  return (
    `${requests.length} webhooks of ${types} types arrived in order without a gap, ` +
    'byte for byte as stored, every signature verified by standardwebhooks'
  );
}

/** A receiver that answered 503 once got the same bytes again, and only then the next event. */
export async function checkRetry(demo: Demo): Promise<string> {
  const rows = await deliveredRows(demo, demo.stumbling);
  const [failed, ...accepted] = demo.stage.receiver.on(demo.stumbling.path);
  const [again] = accepted;
  if (failed?.status !== RETRY_STATUS || !again) throw new Error('nothing was sent a second time');
  if (!again.body.equals(failed.body)) throw new Error('the second attempt has other bytes');
  if (failed.signatureProblem) throw new Error(`first attempt: ${failed.signatureProblem}`);
  if (accepted.length !== rows.length) {
    throw new Error(`${rows.length} events, ${accepted.length} accepted`);
  }
  for (const [index, row] of rows.entries()) compare(row, accepted[index], index + 1);
  if (rows[0]?.attempts !== 1) throw new Error(`${rows[0]?.attempts} failed attempts are noted`);
  const seconds = (again.arrivedAt - failed.arrivedAt) / 1000;
  if (seconds < BACKOFF_SECONDS) throw new Error(`the retry came after ${seconds} s already`);
  return (
    `a receiver that answered ${RETRY_STATUS} once got the same event again after ` +
    `${seconds.toFixed(1)} s, then the ${rows.length - 1} behind it in order`
  );
}

function compare(row: Row, request: Received | undefined, position: number): void {
  const difference = differenceOf(row, request, position);
  if (difference) throw new Error(`webhook ${position} (${row.type}) ${difference}`);
}

function differenceOf(row: Row, request: Received | undefined, position: number) {
  if (!request) return 'did not arrive';
  const { headers, body, signatureProblem } = request;
  if (signatureProblem) return `is not signed well: ${signatureProblem}`;
  if (headers['webhook-id'] !== row.event_id) return 'arrived out of order';
  if (!body.equals(row.body)) return 'has other bytes than stored';
  const shown = headers[POSITION_HEADER];
  if (row.position !== position || shown !== String(position)) return `has position ${shown}`;
  if (JSON.parse(body.toString()).sequence !== row.sequence) return 'tells another number';
  return undefined;
}

/** The deliveries of a subscription once they are all through. */
async function deliveredRows(demo: Demo, subscription: Subscription): Promise<Row[]> {
  let rows: Row[] = [];
  await until(demo.interruption, async () => {
    ({ rows } = await demo.stage.admin.query<Row>(DELIVERIES, [subscription.id]));
    const open = rows.filter(({ state }) => state !== 'delivered').length;
    return open > 0 ? `${open} of ${rows.length} webhooks are not delivered` : undefined;
  });
  return rows;
}
