import { createHmac } from 'node:crypto';
import t, { type Test } from 'tap';
import { deliveryHeaders } from '../../worker/webhooks/signature.ts';
import { createDatabase } from '../support/database.ts';
import { blocks, readPage, section, tableRows } from './markdown.ts';

const PAGE = readPage('docs/webhooks.md');
const SECRET = /`(whsec_[^`]+=)`/.exec(section(PAGE, 'A delivery'))?.[1] ?? '';

/** The functions of the page's JavaScript, each block as a module of its own in this checkout. */
async function importSnippets(t: Test) {
  const [standard, plain] = blocks(section(PAGE, 'Verify'), 'js');
  const folder = t.testdir({ 'standard.mjs': standard ?? '', 'plain.mjs': plain ?? '' });
  const { readEvent } = await import(`${folder}/standard.mjs`);
  const { isGenuine } = await import(`${folder}/plain.mjs`);
  return { readEvent, isGenuine };
}

/** What the worker sends, with header names as Node's HTTP server gives them. */
function delivery(body: string) {
  const headers = deliveryHeaders(
    {
      eventId: 'd0e973b9-117b-4fb6-8143-098ac96225ef',
      eventType: 'log.publish',
      position: 5,
      body: Buffer.from(body),
      secrets: [SECRET],
    },
    'Codex',
    Date.now(),
  );
  const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return Object.fromEntries(lowered) as Record<string, string>;
}

function example() {
  const [http] = blocks(section(PAGE, 'A delivery'), 'http');
  const [head = '', body = ''] = (http ?? '').trimEnd().split('\n\n');
  const headers = head
    .split('\n')
    .slice(1)
    .map((line) => line.split(': ') as [string, string]);
  return { names: headers.map(([name]) => name), headers: new Map(headers), body };
}

t.test('both ways to verify accept what the worker sends and nothing else', async (t) => {
  const { readEvent, isGenuine } = await importSnippets(t);
  const { body } = example();
  const headers = delivery(body);
  t.match(readEvent(body, headers, SECRET), { type: 'log.publish', version: 1 });
  t.equal(isGenuine(body, headers, SECRET), true);

  const other = body.replace('Monday', 'Friday');
  t.throws(() => readEvent(other, headers, SECRET));
  t.equal(isGenuine(other, headers, SECRET), false);
  t.equal(isGenuine(body, headers, SECRET.replace('s', 't')), false);
  t.equal(isGenuine(body, {}, SECRET), false, 'no signature');
  t.throws(() => readEvent(body, { ...headers, 'webhook-timestamp': '1796066177' }, SECRET));
});

t.test('the example is signed with the secret it names', async (t) => {
  const { names, headers, body } = example();
  const { isGenuine } = await importSnippets(t);
  t.ok(isGenuine(body, { 'x-codex-signature-256': headers.get('X-Codex-Signature-256') }, SECRET));
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
  const signed = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.${body}`;
  const digest = createHmac('sha256', key).update(signed).digest('base64');
  t.equal(headers.get('webhook-signature'), `v1,${digest}`);
  t.strictSame(
    names.map((name) => name.toLowerCase()),
    Object.keys(delivery(body)).filter((name) => name !== 'content-length'),
    'it shows every header that is sent',
  );
});

t.test('the page has the data of every type that is emitted, as the catalogue has', async (t) => {
  const database = await createDatabase(t);
  const { rows } = await database.admin.query<{ type: string; example: object }>(
    'select type, example from bellwire.webhook_event_types() order by type',
  );
  const shown = tableRows(section(PAGE, 'The body, version 1'))
    .map(([type, data]) => [type?.replaceAll('`', ''), data?.replaceAll('`', '')])
    .filter(([, data]) => data?.startsWith('{'))
    .map(([type, data]) => ({ type, example: JSON.parse(data ?? '') }))
    .filter(({ type }) => !type?.startsWith('ticket'));
  t.strictSame(
    shown.sort((one, other) => ((one.type ?? '') < (other.type ?? '') ? -1 : 1)),
    rows,
  );
});
