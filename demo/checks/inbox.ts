import type { Person } from '../accounts.ts';
import type { Demo } from '../demo.ts';
import { until } from '../until.ts';

/** Small, so that there are several pages. */
const PAGE = 7;

interface InboxPage {
  items: { id: number }[];
  unreadCount: number;
  nextCursor: string | null;
}

/** The badge over REST is what the database counts. */
export async function checkUnread(demo: Demo): Promise<string> {
  const parts: string[] = [];
  for (const person of demo.people.listeners) {
    const counts = await unreadCounts(demo, person);
    if (counts.shown !== counts.stored) {
      throw new Error(`${person.name} sees ${counts.shown} unread, not ${counts.stored}`);
    }
    parts.push(`${person.name} ${counts.shown}`);
  }
  return `the unread counts over REST are the database's: ${parts.join(', ')}`;
}

/** Page after page shows each notification once, newest first. */
export async function checkPaging(demo: Demo): Promise<string> {
  const person = demo.people.mira;
  const shown: number[] = [];
  let cursor = '';
  let pages = 0;
  do {
    const page = await demo.api.get<InboxPage>(
      person.token,
      `/api/notifications?limit=${PAGE}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    shown.push(...page.items.map(({ id }) => id));
    cursor = page.nextCursor ?? '';
    pages++;
  } while (cursor);
  const { rows } = await demo.stage.admin.query<{ id: number }>(
    'select id::int as id from bellwire.notifications ' +
      'where user_id = $1 and deleted_at is null order by created_at desc, id desc',
    [person.id],
  );
  const stored = rows.map(({ id }) => id);
  if (shown.join() !== stored.join()) {
    throw new Error(
      `${pages} pages show ${shown.length} notifications, stored are ${stored.length}`,
    );
  }
  return `${pages} inbox pages of ${PAGE} show each of ${stored.length} notifications once, in order`;
}

/** Reading one on one page lowers the badge on all others of that person. */
export async function checkReading(demo: Demo): Promise<string> {
  const { mira, jonas } = demo.people;
  const socket = demo.sockets.find(({ person }) => person === mira);
  const { items } = await demo.api.get<InboxPage>(mira.token, '/api/notifications?limit=1');
  const [newest] = items;
  if (!newest || !socket) throw new Error('there is nothing to read');
  const before = await unreadCounts(demo, mira);
  await demo.api.post(mira.token, `/api/notifications/${newest.id}/read`);
  await until(demo.interruption, () =>
    socket.readIds.includes(newest.id) ? undefined : `${mira.name}'s open page did not hear of it`,
  );
  const after = await unreadCounts(demo, mira);
  if (after.shown !== before.shown - 1 || after.shown !== after.stored) {
    throw new Error(`the badge went from ${before.shown} to ${after.shown}`);
  }
  const page = demo.sockets.find(({ person }) => person === jonas);
  const readAllsBefore = page?.readAllCount ?? 0;
  const { updated } = await demo.api.post<{ updated: number }>(
    jonas.token,
    '/api/notifications/read-all',
  );
  const left = await unreadCounts(demo, jonas);
  if (updated === 0 || left.shown !== 0 || left.stored !== 0) {
    throw new Error(`after reading all ${updated}, ${left.shown} are left`);
  }
  if (page && updated > 1) {
    await until(demo.interruption, () =>
      page.readAllCount > readAllsBefore
        ? undefined
        : `${jonas.name}'s open page did not hear that all is read`,
    );
  }
  return `${mira.name} read one and the open page heard of it; ${jonas.name} read all ${updated} at once`;
}

async function unreadCounts(demo: Demo, person: Person) {
  const { unreadCount: shown } = await demo.api.get<{ unreadCount: number }>(
    person.token,
    '/api/notifications/unread-count',
  );
  const { rows } = await demo.stage.admin.query<{ stored: number }>(
    'select count(*)::int as stored from bellwire.notifications ' +
      'where user_id = $1 and read_at is null and deleted_at is null',
    [person.id],
  );
  return { shown, stored: rows[0]?.stored ?? 0 };
}
