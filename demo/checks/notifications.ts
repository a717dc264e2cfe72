import type { Person } from '../accounts.ts';
import type { Demo } from '../demo.ts';
import type { LiveSocket } from '../sockets.ts';
import { until } from '../until.ts';

/** A notification that counts three events was told three times. */
const TOLD = 'coalesce(sum(1 + coalesced_count), 0)::int as told';

/** Each person was told of each event that concerns them, by the demo's own account. */
export async function checkTold(demo: Demo): Promise<string> {
  const { stage, ledger, people, interruption } = demo;
  await until(interruption, async () => {
    const waiting = await countRows(
      demo,
      'select count(*)::int as count from bellwire.fan_out_queue',
    );
    return waiting > 0 ? `${waiting} events still wait for their people to be told` : undefined;
  });
  for (const person of people.listeners) {
    const told = await toldTo(demo, person, 'true');
    const expected = ledger.tellings(person.id, people.mutedBy(person)?.id);
    if (told !== expected)
      throw new Error(`${person.name} was told ${told} times, not ${expected}`);
  }
  let mentions = 0;
  for (const person of people.all) {
    const told = await toldTo(demo, person, "kind = 'mention'");
    const expected = ledger.mentions(person.id, people.mutedBy(person)?.id);
    if (told !== expected) {
      throw new Error(`${person.name} was told of ${told} mentions, not ${expected}`);
    }
    mentions += told;
  }
  const { rows } = await stage.admin.query<{ count: number; told: number }>(
    `select count(*)::int as count, ${TOLD} from bellwire.notifications`,
  );
  const { count = 0, told = 0 } = rows[0] ?? {};
  if (count === 0) throw new Error('nobody was told anything');
  return `${count} notifications tell people ${told} times, ${mentions} of them of a mention`;
}

/** A mute holds: nothing of that document reached the person, though others heard of it. */
export async function checkMute(demo: Demo): Promise<string> {
  const { muted, jonas, mira } = demo.people;
  if (!muted) throw new Error('no document was muted');
  const onMuted = 'resource_id = (select id from bellwire.resources where type = $2 and ref = $3)';
  const [heard, others] = await Promise.all(
    [jonas, mira].map((person) => toldTo(demo, person, onMuted, ['log', String(muted.id)])),
  );
  if (heard !== 0) throw new Error(`${jonas.name} was told ${heard} times of what is muted`);
  if (!others) throw new Error(`nobody was told anything of “${muted.title}”`);
  return `${jonas.name} muted “${muted.title}” and heard nothing of it; ${mira.name} did ${others} times`;
}

/** Each open page got each notification of its person, and each state of it once. */
export async function checkLive(demo: Demo): Promise<string> {
  let frames = 0;
  let notifications = 0;
  for (const socket of demo.sockets) {
    await until(demo.interruption, () => missingOn(demo, socket));
    const seen = socket.notifications.map(({ id, count }) => `${id} ${count}`);
    if (new Set(seen).size !== seen.length) {
      throw new Error(`${socket.person.name} got the same notification twice`);
    }
    frames += seen.length;
    notifications += new Set(socket.notifications.map(({ id }) => id)).size;
  }
  return (
    `${notifications} notifications came live over ${demo.sockets.length} WebSockets ` +
    `(${frames} frames): none missing, none twice`
  );
}

/** Ids and their newest counts, compared with the database. Undefined when they are the same. */
async function missingOn(demo: Demo, socket: LiveSocket): Promise<string | undefined> {
  const { name, id } = socket.person;
  if (socket.closedWith) throw new Error(`${name}'s socket was closed with ${socket.closedWith}`);
  const { rows } = await demo.stage.admin.query<{ id: number; count: number }>(
    'select id::int as id, coalesced_count as count from bellwire.notifications ' +
      'where user_id = $1 and deleted_at is null',
    [id],
  );
  const arrived = new Map(socket.notifications.map((item) => [item.id, item.count]));
  const missing = rows.filter((row) => arrived.get(row.id) !== row.count);
  if (missing.length > 0) return `${missing.length} of ${rows.length} did not reach ${name}`;
  const extra = arrived.size - rows.length;
  if (extra > 0) throw new Error(`${extra} reached ${name} that are not in the inbox`);
  return undefined;
}

async function toldTo(
  { stage }: Demo,
  person: Person,
  condition: string,
  values: string[] = [],
): Promise<number> {
  const { rows } = await stage.admin.query<{ told: number }>(
    `select ${TOLD} from bellwire.notifications where user_id = $1 and ${condition}`,
    [person.id, ...values],
  );
  return rows[0]?.told ?? 0;
}

async function countRows({ stage }: Demo, sql: string): Promise<number> {
  const { rows } = await stage.admin.query<{ count: number }>(sql);
  return rows[0]?.count ?? 0;
}
