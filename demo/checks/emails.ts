import type { Demo } from '../demo.ts';
import type { Letter } from '../mailbox.ts';
import { UNMAILED_KIND } from '../people.ts';
import { until } from '../until.ts';

interface Row {
  token: string;
  state: string;
  email: string;
  kind: string;
  title: string;
  type: string | null;
  ref: string | null;
}

const OUTBOX =
  'select outbox.unsubscribe_token as token, outbox.state, person.email, notification.kind, ' +
  'notification.title, resource.type, resource.ref ' +
  'from bellwire.email_outbox as outbox ' +
  'join bellwire.notifications as notification on notification.id = outbox.notification_id ' +
  'join bellwire.users as person on person.id = notification.user_id ' +
  'left join bellwire.resources as resource on resource.id = notification.resource_id ' +
  'order by outbox.id';

/** Every row of the outbox was sent and arrived once, at the right person, and nothing else did. */
export async function checkEmails(demo: Demo): Promise<string> {
  const rows = await sentRows(demo);
  const letters = demo.stage.mailbox.letters;
  const byToken = new Map(letters.map((letter) => [letter.token, letter]));
  if (letters.length !== rows.length || byToken.size !== rows.length) {
    throw new Error(`${rows.length} were sent, ${letters.length} arrived`);
  }
  for (const row of rows) {
    const letter = byToken.get(row.token);
    if (!letter || letter.to.join() !== row.email || letter.subject !== row.title) {
      throw new Error(`the letter “${row.title}” to ${row.email} is not what arrived`);
    }
  }
  if (rows.length === 0) throw new Error('nobody got a letter');
  const recipients = new Set(rows.map(({ email }) => email)).size;
  return `${rows.length} e-mails were sent to ${recipients} people, and each arrived once`;
}

/** Nothing was mailed that somebody has muted or does not want by e-mail. */
export async function checkUnwanted(demo: Demo): Promise<string> {
  const { aiko, jonas, muted } = demo.people;
  const rows = await sentRows(demo);
  const unwanted = rows.filter(
    ({ email, kind, type, ref }) =>
      (email === aiko.email && kind === UNMAILED_KIND) ||
      (email === jonas.email && type === 'log' && ref === String(muted?.id)),
  );
  if (unwanted.length > 0) throw new Error(`${unwanted.length} e-mails nobody wanted`);
  const { rows: told } = await demo.stage.admin.query<{ count: number }>(
    'select count(*)::int as count from bellwire.notifications where user_id = $1 and kind = $2',
    [aiko.id, UNMAILED_KIND],
  );
  const inBell = told[0]?.count ?? 0;
  if (inBell === 0) throw new Error(`${aiko.name} was told of no comment at all`);
  return (
    `no e-mail for what is muted, nor for the kind ${aiko.name} switched off ` +
    `(${inBell} of it in the bell)`
  );
}

/** The link at the foot of a letter ends e-mail of that kind, and only e-mail. */
export async function checkUnsubscribe(demo: Demo): Promise<string> {
  const { mira, tomas } = demo.people;
  const letter = await mentionLetter(demo);
  if (!letter.unsubscribeUrl.startsWith(demo.stage.address)) {
    throw new Error(`the link leads elsewhere: ${letter.unsubscribeUrl}`);
  }
  const response = await fetch(letter.unsubscribeUrl, {
    method: 'POST',
    body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
  });
  demo.api.calls++;
  if (!response.ok) throw new Error(`the link was answered ${response.status}`);
  const document = await demo.people.mentionOnce(demo.world, tomas, mira);
  const { rows } = await demo.stage.admin.query<{ told: number; mailed: number }>(
    'select count(*)::int as told, count(outbox.id)::int as mailed ' +
      'from bellwire.notifications as notification ' +
      'join bellwire.resources as resource on resource.id = notification.resource_id ' +
      'left join bellwire.email_outbox as outbox on outbox.notification_id = notification.id ' +
      "where resource.type = 'log' and resource.ref = $1 and notification.user_id = $2 " +
      "and notification.kind = 'mention'",
    [String(document.id), mira.id],
  );
  const { told = 0, mailed = 0 } = rows[0] ?? {};
  if (told !== 1 || mailed !== 0) throw new Error(`told ${told} times, mailed ${mailed} times`);
  return `the unsubscribe link in a letter to ${mira.name} works: the next mention is only in the bell`;
}

async function mentionLetter(demo: Demo): Promise<Letter> {
  const { email } = demo.people.mira;
  const row = (await sentRows(demo)).find(
    (candidate) => candidate.email === email && candidate.kind === 'mention',
  );
  const letter = demo.stage.mailbox.letters.find(({ token }) => token === row?.token);
  if (!letter) throw new Error('no letter tells of a mention');
  return letter;
}

/** The outbox once nothing waits in it any more. */
async function sentRows(demo: Demo): Promise<Row[]> {
  let rows: Row[] = [];
  await until(demo.interruption, async () => {
    ({ rows } = await demo.stage.admin.query<Row>(OUTBOX));
    const waiting = rows.filter(({ state }) => state === 'pending' || state === 'sending').length;
    return waiting > 0 ? `${waiting} of ${rows.length} e-mails are not sent` : undefined;
  });
  const lost = rows.filter(({ state }) => state !== 'sent').length;
  if (lost > 0) throw new Error(`${lost} e-mails were skipped or failed`);
  return rows;
}
