import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { Sender } from '../../worker/webhooks/send.ts';
import { deliveryHeaders } from '../../worker/webhooks/signature.ts';
import type { BenchDatabase } from '../database.ts';
import {
  type Arrived,
  BenchReceiver,
  startWorkerProcess,
  stopProcess,
  untilTrue,
} from '../delivery.ts';
import { type Measurement, median, rounded } from '../measure.ts';

/** So many that one disturbed by something else on the machine does not decide. */
const ROUNDS = 7;
const SUBSCRIPTIONS = 20;
/** Per round of one subscription. */
const EVENTS_TO_ONE = 1_500;
/** Per round; each goes to every one of the twenty. */
const EVENTS_TO_MANY = 250;
const MILLISECONDS_PER_SECOND = 1000;
const WAYS = ['one', 'bare', 'recorded', 'many', 'two'] as const;

/**
 * Deliveries per second of one worker process, from the first arrival to the last, of events that
 * are numbered already. One subscription, in order, against a bare loop over a kept-alive connection
 * with the same client, the same two signatures and a body of the same size, and against that loop
 * when it also waits for the commit of one row, which is the least that order across a crash takes;
 * twenty subscriptions with one worker, and with two. The receiver checks that every position is the next one.
 */
export async function deliver(
  database: BenchDatabase,
  log: (line: string) => void,
): Promise<Measurement[]> {
  const receiver = await BenchReceiver.start();
  const first = await startWorkerProcess(database.adminUrl);
  const second = await startWorkerProcess(database.adminUrl);
  try {
    await prepare(database.admin, receiver);
    const one = new Backlog(database.admin, receiver, 'archives', 1, EVENTS_TO_ONE);
    const many = new Backlog(database.admin, receiver, 'logs', SUBSCRIPTIONS, EVENTS_TO_MANY);
    const rates: Rates = { one: [], bare: [], recorded: [], many: [], two: [] };
    for (let round = 0; round <= ROUNDS; round++) {
      // In turns: what runs later finds larger tables.
      const twoBefore = round % 2 === 1 ? await many.rate() : undefined;
      // Idle, so that it holds no lease.
      second.kill('SIGSTOP');
      const alone = {
        one: await one.rate(),
        bare: await bareRate(receiver),
        recorded: await recordedRate(database.admin, receiver),
        many: await many.rate(),
      };
      second.kill('SIGCONT');
      const measured = { ...alone, two: twoBefore ?? (await many.rate()) };
      log(`deliver: round ${round} of ${ROUNDS}: ${JSON.stringify(measured)} deliveries/s`);
      // The first fills caches and plans.
      if (round === 0) continue;
      for (const way of WAYS) rates[way].push(measured[way]);
    }
    return compare(rates);
  } finally {
    second.kill('SIGCONT');
    await Promise.all([first, second].map(stopProcess));
    receiver.stop();
  }
}

/** Deliveries per second, one per round. */
interface Rates {
  one: number[];
  bare: number[];
  /** The bare loop, with one row written and committed before the next send. */
  recorded: number[];
  many: number[];
  two: number[];
}

function compare(rates: Rates): Measurement[] {
  const common = { figure: 'deliver', unit: 'deliveries/s' };
  const [one, many, two] = [median(rates.one), median(rates.many), median(rates.two)];
  /** Of the rounds: both sides of one saw the same machine. */
  const ratioOf = (way: keyof Rates, against: keyof Rates) =>
    rounded(median(rates[way].map((rate, round) => rate / (rates[against][round] ?? Number.NaN))));
  return [
    {
      ...common,
      value: Math.round(one),
      against: 'a bare keep-alive loop, one subscription',
      ratio: ratioOf('one', 'bare'),
      goal: 0.5,
    },
    {
      ...common,
      value: Math.round(one),
      against: 'that loop, which also commits one row after each send',
      ratio: ratioOf('one', 'recorded'),
    },
    {
      ...common,
      value: Math.round(median(rates.recorded)),
      against:
        'the bare loop, by the one that commits a row: the most that waiting for a commit leaves',
      ratio: ratioOf('recorded', 'bare'),
    },
    {
      ...common,
      value: Math.round(many),
      against: `2,000 a second, ${SUBSCRIPTIONS} subscriptions, one worker`,
      ratio: rounded(many / 2_000),
      goal: 1,
    },
    {
      ...common,
      value: Math.round(two),
      against: 'itself, with two workers',
      ratio: ratioOf('two', 'many'),
      goal: 1,
    },
  ];
}

async function prepare(admin: pg.Pool, receiver: BenchReceiver): Promise<void> {
  await admin.query(`
    insert into bellwire.users (name, email) values ('User', 'user@example.com');
    insert into bellwire.workspaces (name) values ('Bench');
    insert into suite.squads (workspace_id, name) values (1, 'Bench');
    insert into suite.archives (squad_id, name)
    select 1, 'Archive ' || i from generate_series(1, ${EVENTS_TO_ONE}) as i;
    insert into suite.logs (archive_id, title)
    select 1, 'Document ' || i from generate_series(1, ${EVENTS_TO_MANY}) as i;
  `);
  const subscribe = 'select bellwire.create_webhook_subscription($1, null, $2)';
  await admin.query(subscribe, [receiver.url('one'), ['archive.rename']]);
  for (let index = 0; index < SUBSCRIPTIONS; index++)
    await admin.query(subscribe, [receiver.url(`many/${index}`), ['log.rename']]);
}

/** The events of one statement, held back until they are numbered, then sent. */
class Backlog {
  readonly #admin: pg.Pool;
  readonly #receiver: BenchReceiver;
  readonly #table: 'archives' | 'logs';
  readonly #deliveries: number;

  constructor(
    admin: pg.Pool,
    receiver: BenchReceiver,
    table: 'archives' | 'logs',
    subscriptions: number,
    events: number,
  ) {
    this.#admin = admin;
    this.#receiver = receiver;
    this.#table = table;
    this.#deliveries = subscriptions * events;
  }

  async rate(): Promise<number> {
    const admin = this.#admin;
    await admin.query("update bellwire.webhook_subscriptions set paused_until = 'infinity'");
    const name = this.#table === 'logs' ? 'title' : 'name';
    // Of the same length at every round, and another text.
    await admin.query(
      `update suite.${this.#table} set ${name} = left(${name}, 14) || substr(md5(random()::text), 1, 8)`,
    );
    await untilTrue(
      admin,
      'not exists (select from bellwire.webhook_events where sequence is null)',
    );
    await admin.query(
      'vacuum analyze bellwire.webhook_deliveries, bellwire.webhook_events, bellwire.webhook_subscriptions',
    );
    const arrived = await this.#receiver.expect(this.#deliveries, () =>
      admin.query(`
        begin;
        update bellwire.webhook_subscriptions set paused_until = null;
        select bellwire.wake('bellwire_webhooks');
        commit`),
    );
    await untilTrue(
      admin,
      "not exists (select from bellwire.webhook_deliveries where state <> 'delivered')",
    );
    return perSecond(this.#deliveries, arrived);
  }
}

function perSecond(count: number, { firstAt, lastAt }: Arrived): number {
  return Math.round(((count - 1) / (lastAt - firstAt)) * MILLISECONDS_PER_SECOND);
}

let barePosition = 0;

function bareRate(receiver: BenchReceiver): Promise<number> {
  return loopRate(receiver, async () => {});
}

/** A counter: the smallest thing there is to write. */
async function recordedRate(admin: pg.Pool, receiver: BenchReceiver): Promise<number> {
  await admin.query(`
    create table if not exists public.sent (id integer primary key, position bigint);
    insert into public.sent values (1, 0) on conflict do nothing;
`);
  const client = await admin.connect();
  try {
    return await loopRate(receiver, (position) =>
      client.query({
        name: 'note-sent',
        text: 'update public.sent set position = $1 where id = 1',
        values: [position],
      }),
    );
  } finally {
    client.release();
  }
}

async function loopRate(
  receiver: BenchReceiver,
  note: (position: number) => Promise<unknown>,
): Promise<number> {
  const sender = new Sender();
  const url = new URL(receiver.url('bare'));
  const delivery = {
    eventId: randomUUID(),
    eventType: 'archive.rename',
    body: Buffer.alloc(330, 'x'),
    secrets: [`whsec_${Buffer.alloc(32, 1).toString('base64')}`],
  };
  const arrived = await receiver.expect(EVENTS_TO_ONE, async () => {
    for (let index = 0; index < EVENTS_TO_ONE; index++) {
      barePosition += 1;
      const headers = deliveryHeaders({ ...delivery, position: barePosition }, 'Codex', Date.now());
      const answer = await sender.post({
        url,
        addresses: ['127.0.0.1'],
        headers,
        body: delivery.body,
      });
      if (!('status' in answer)) throw new Error(answer.error);
      await note(barePosition);
    }
  });
  sender.close();
  return perSecond(EVENTS_TO_ONE, arrived);
}
