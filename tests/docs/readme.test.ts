import path from 'node:path';
import t, { type Test } from 'tap';
import { seed } from '../../db/seed/seed.ts';
import { createDatabase } from '../support/database.ts';
import { blocks, readPage, section } from './markdown.ts';

const README = readPage('README.md');

/** The cells of what psql prints, the head first. */
function cells(printed: string): string[][] {
  return printed
    .split('\n')
    .filter((line) => line.includes('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
}

/** The example on a database with the demo data, as the administrator who pastes it into psql. */
async function runExample(t: Test) {
  const database = await createDatabase(t);
  await seed(database.adminUrl);
  const [sql] = blocks(section(README, 'Your own table'), 'sql');
  const client = await database.admin.connect();
  try {
    const results: unknown = await client.query({ text: sql ?? '', rowMode: 'array' });
    const last = Array.isArray(results) ? results.at(-1) : results;
    return { database, last };
  } finally {
    // It acts as somebody until the session ends.
    client.release(true);
  }
}

t.test('the example of your own table does what it says', async (t) => {
  const { database, last } = await runExample(t);
  const [printed] = blocks(section(README, 'Your own table'), 'text');
  t.strictSame(
    [last.fields.map((field: { name: string }) => field.name), ...last.rows.map(texts)],
    cells(printed ?? ''),
    'what the README shows is what psql prints',
  );

  const look = async (sql: string) => (await database.admin.query(sql)).rows;
  t.strictSame(
    await look(
      `select actor_id::int as actor_id, action, metadata from bellwire.activity_log
       where action ~ '^ticket' order by id`,
    ),
    [
      { actor_id: 1, action: 'ticket.open', metadata: { title: 'Printer on fire' } },
      {
        actor_id: 2,
        action: 'ticket.close',
        metadata: { title: 'Printer on fire', status: 'closed', previous_status: 'open' },
      },
    ],
    'an entry for each change',
  );
  t.match(
    await look(
      `select watch.user_id::int as user_id, watch.source from bellwire.watches as watch
       join bellwire.resources as resource on resource.id = watch.resource_id
       where resource.type = 'ticket'`,
    ),
    [{ user_id: 1, source: 'auto_open' }],
    'Ada watches what she opened',
  );
  t.match(
    await look(
      `select outbox.state, notification.user_id::int as user_id from bellwire.email_outbox as outbox
       join bellwire.notifications as notification on notification.id = outbox.notification_id
       where notification.kind = 'ticket_closed'`,
    ),
    [{ state: 'pending', user_id: 1 }],
    'and gets an e-mail',
  );
  t.strictSame(await look('select * from bellwire.rule_failures'), []);
});

function texts(row: unknown[]): string[] {
  return row.map((value) => String(value ?? ''));
}

const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'bench/README.md',
  'db/README.md',
  'tests/README.md',
  'docs/dba.md',
  'docs/errors.md',
  'docs/operations.md',
  'docs/webhooks.md',
  'docs/schema.md',
];

t.test('every page links to files and headings that are there', async (t) => {
  for (const page of PAGES) {
    for (const [, target = ''] of readPage(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (target.startsWith('https://')) continue;
      const [file, anchor] = target.split('#');
      const name = file ? path.join(path.dirname(page), file) : page;
      t.doesNotThrow(() => readPage(name), `${page}: ${target}`);
      if (anchor) t.ok(anchors(readPage(name)).includes(anchor), `${page}: ${target}`);
    }
  }
});

/** As GitHub makes them of headings. */
function anchors(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}
