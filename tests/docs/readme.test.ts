import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { CONTRACT } from '../../config/contract.ts';
import { seed } from '../../db/seed/seed.ts';
import { createDatabase } from '../support/database.ts';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** The text of a section, from its heading to the next one of the same depth. */
function section(heading: string): string {
  const [, text] = README.split(`\n## ${heading}\n`);
  if (text === undefined) throw new Error(`README.md has no section "${heading}".`);
  return text.split('\n## ')[0] ?? '';
}

/** The fenced blocks of one language in a text. */
function blocks(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, block]) => block ?? '',
  );
}

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
  const [sql] = blocks(section('Your own table'), 'sql');
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
  const [printed] = blocks(section('Your own table'), 'text');
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

t.test('the table of variables is the contract', async (t) => {
  const rows = section('Configuration')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.slice(2, -2).split(' | '));
  t.strictSame(
    rows,
    CONTRACT.map((variable) => [
      `\`${variable.name}\``,
      variable.default === null ? '' : `\`${variable.default}\``,
      variable.why,
    ]),
  );
});

t.test('every file the README names is there', async (t) => {
  for (const [, target] of README.matchAll(/\]\(([^)#]+)\)/g)) {
    t.doesNotThrow(() => readFileSync(new URL(`../../${target}`, import.meta.url)), target);
  }
});
