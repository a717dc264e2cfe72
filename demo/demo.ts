import { describeError } from '../cli/signals.ts';
import type { Person } from './accounts.ts';
import { Accounts } from './accounts.ts';
import { Api } from './api.ts';
import { Interrupted, type Interruption } from './interruption.ts';
import { Ledger } from './ledger.ts';
import { replayDelivery } from './mapping/index.ts';
import type { Delivery } from './payloads.ts';
import { People } from './people.ts';
import type { Report } from './report.ts';
import { LiveSocket } from './sockets.ts';
import type { Stage } from './stage.ts';
import { Suite } from './suite.ts';
import { World } from './world.ts';
import { RestWriter, SqlWriter } from './writers.ts';

/** A subscription and the path of the receiver it is for. */
export interface Subscription {
  id: number;
  path: string;
}

/** Skipped payloads: reason -> event -> how many. */
export type Skips = Map<string, Map<string, number>>;

/** Everything the checks look at: the running parts, and what the demo itself remembers. */
export interface Demo {
  stage: Stage;
  interruption: Interruption;
  api: Api;
  sql: SqlWriter;
  ledger: Ledger;
  world: World;
  people: People;
  /** Belongs to another workspace and must see nothing. */
  stranger: Person;
  sockets: LiveSocket[];
  strangerSocket: LiveSocket;
  /** Gets every event. */
  everything: Subscription;
  /** Gets a few types, and answers 503 once. */
  stumbling: Subscription;
  suites: { rest: Suite; sql: Suite };
}

const STUMBLING_TYPES = ['log.rename', 'log.publish', 'log.delete'];

export async function gather(stage: Stage, interruption: Interruption): Promise<Demo> {
  const api = new Api(stage.address, interruption);
  const sql = new SqlWriter(stage.psql);
  const ledger = new Ledger();
  const suites = {
    rest: new Suite(new RestWriter(api), ledger),
    sql: new Suite(sql, ledger),
  };
  const accounts = new Accounts(stage.admin, api);
  const people = await People.signIn(accounts, api, suites.rest);
  const world = new World(accounts, api, ledger, people);
  const stranger = await accounts.person('Sam Outsider');
  await api.post(stranger.token, '/api/workspaces', { name: 'Elsewhere' });
  const [strangerSocket, ...sockets] = await Promise.all(
    [stranger, ...people.listeners].map((person) => LiveSocket.open(stage.address, person)),
  );
  return {
    stage,
    interruption,
    api,
    sql,
    ledger,
    world,
    people,
    stranger,
    sockets,
    strangerSocket: strangerSocket as LiveSocket,
    everything: await subscribe(stage, '/everything', null),
    stumbling: await subscribe(stage, '/stumbling', STUMBLING_TYPES),
    suites,
  };
}

/** Replays all of them in order. Resolves to what was skipped. */
export async function replayAll(
  demo: Demo,
  deliveries: readonly Delivery[],
  report: Report,
): Promise<Skips> {
  const skips: Skips = new Map();
  for (const [index, delivery] of deliveries.entries()) {
    const skip = await replayOne(demo, delivery, index + 1);
    if (skip) {
      const events = skips.get(skip.reason) ?? new Map<string, number>();
      skips.set(skip.reason, events);
      events.set(skip.what, (events.get(skip.what) ?? 0) + 1);
    }
    report.progress('payload', index + 1, deliveries.length);
  }
  return skips;
}

async function replayOne(demo: Demo, delivery: Delivery, number: number) {
  try {
    return await replayDelivery(delivery, demo.world, demo.suites);
  } catch (error) {
    if (error instanceof Interrupted) throw error;
    const name = `${delivery.event} ${delivery.payload.action ?? ''}`.trim();
    throw new Error(`payload ${number} (${name}): ${describeError(error)}`, { cause: error });
  }
}

async function subscribe(
  stage: Stage,
  path: string,
  types: readonly string[] | null,
): Promise<Subscription> {
  const { rows } = await stage.admin.query<{ id: string; secret: string }>(
    'select id, secret from bellwire.create_webhook_subscription($1, null, $2)',
    [stage.receiver.url(path), types],
  );
  const [made] = rows;
  if (!made) throw new Error('No subscription was made.');
  stage.receiver.trust(path, made.secret);
  return { id: Number(made.id), path };
}
