import { hash } from '@node-rs/argon2';
import pg from 'pg';

/** What the demo workspace's people sign in with. For a throw-away installation only. */
const DEMO_PASSWORD = 'bellwire-demo';

const PEOPLE = [
  { name: 'Ada Lovelace', email: 'ada@example.com', isAdmin: true },
  { name: 'Ben Okri', email: 'ben@example.com', isAdmin: false },
  { name: 'Chloe Zhao', email: 'chloe@example.com', isAdmin: false },
];

export interface SeedResult {
  /** False when there was data already; nothing was written then. */
  created: boolean;
  users: { name: string; email: string; password: string }[];
}

/**
 * Fills an empty database with a small workspace, through the functions and tables an application
 * uses, so that its activity, watches and notifications are those the rules made.
 *
 * All of it is one transaction: a seed that fails leaves nothing.
 */
export async function seed(adminUrl: string): Promise<SeedResult> {
  const users = PEOPLE.map(({ name, email }) => ({ name, email, password: DEMO_PASSWORD }));
  const client = new pg.Client({ connectionString: adminUrl });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query(
      `select exists (select from bellwire.users) or exists (select from bellwire.workspaces) as has_data`,
    );
    if (!rows[0].has_data) await fill(client);
    await client.query('commit');
    return { created: !rows[0].has_data, users: await demoUsers(client, users) };
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  } finally {
    await client.end();
  }
}

/** Those of the demo people who are there: a second start must not promise sign-ins that are gone. */
async function demoUsers(client: pg.Client, users: SeedResult['users']) {
  const { rows } = await client.query<{ email: string }>(
    `select email from bellwire.users where email = any ($1) and deactivated_at is null`,
    [users.map((user) => user.email)],
  );
  const present = new Set(rows.map((row) => row.email));
  return users.filter((user) => present.has(user.email));
}

async function fill(client: pg.Client): Promise<void> {
  const passwordHash = await hash(DEMO_PASSWORD);
  const ids: number[] = [];
  for (const person of PEOPLE) {
    const { rows } = await client.query('select identity.create_user($1, $2, $3, $4) as id', [
      person.name,
      person.email,
      passwordHash,
      person.isAdmin,
    ]);
    ids.push(Number(rows[0].id));
  }
  const [ada, ben, chloe] = ids as [number, number, number];
  const as = (id: number) => client.query('select bellwire.act_as($1)', [id]);
  const one = async (sql: string, values: unknown[]): Promise<number> =>
    Number((await client.query(sql, values)).rows[0].id);

  await as(ada);
  const workspace = await one('select id from api.create_workspace($1)', ['Analytical Engines']);
  for (const { email } of PEOPLE.slice(1))
    await client.query(`select api.add_workspace_member($1, $2, 'member')`, [workspace, email]);
  const squad = await one('select id from api.create_squad($1, $2)', [
    workspace,
    'Notes on the Engine',
  ]);
  await client.query(`select api.add_squad_member($1, $2, 'member')`, [squad, ben]);
  await client.query('select api.invite_to_squad($1, $2)', [squad, chloe]);
  const archive = await one('select id from api.create_archive($1, $2)', [squad, 'Handbook']);
  const welcome = await one('select id from api.create_document($1, $2, $3)', [
    archive,
    'Welcome',
    '<p>Everything that happens in this workspace is recorded, and told to those who watch it.</p>',
  ]);
  await one('select id from api.create_document($1, $2, $3, $4)', [
    archive,
    'How to watch something',
    '<p>Press Watch on a document, or on an archive to follow everything in it.</p>',
    welcome,
  ]);

  await as(ben);
  await client.query(`select api.watch('archive', $1)`, [String(archive)]);
  await client.query('select api.create_comment($1, $2)', [
    welcome,
    `<p>Thank you, <span data-type="mention" data-id="${ada}">@Ada</span>. Shall we publish this?</p>`,
  ]);

  await as(chloe);
  await client.query(
    `select api.accept_squad_invitation(id) from suite.squad_invitations where user_id = $1`,
    [chloe],
  );

  await as(ada);
  await client.query('select api.publish_document($1, $2)', [welcome, 'First edition']);
}
