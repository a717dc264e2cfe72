import http from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { Test } from 'tap';
import { runWorker, type WorkerOptions } from '../../worker/main.ts';
import type { TestDatabase } from '../support/database.ts';

const CONDITION_TIMEOUT_MS = 20_000;
const LOOK_EVERY_MS = 10;

/** Waits until the look returns something truthy, and returns it. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
): Promise<NonNullable<Exclude<T, false>>> {
  const deadline = Date.now() + CONDITION_TIMEOUT_MS;
  for (;;) {
    const seen = await look();
    if (seen) return seen as NonNullable<Exclude<T, false>>;
    if (Date.now() > deadline) throw new Error(`It never happened: ${what}.`);
    await delay(LOOK_EVERY_MS);
  }
}

export interface Received {
  headers: Record<string, string>;
  body: Buffer;
  path: string;
  /** Of the client's end of the connection: the same for requests over one connection. */
  clientPort: number;
  at: number;
}

export interface Receiver {
  url: string;
  port: number;
  received: Received[];
  /** Most requests that were open at one moment. */
  mostAtOnce: () => number;
}

type Answer = (request: Received, response: http.ServerResponse) => void;

/** A real HTTP receiver on a free port; answers 204 unless told otherwise. */
export async function startReceiver(t: Test, answer?: Answer): Promise<Receiver> {
  const received: Received[] = [];
  let open = 0;
  let most = 0;
  const server = http.createServer(async (request, response) => {
    open += 1;
    most = Math.max(most, open);
    response.on('close', () => {
      open -= 1;
    });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const entry: Received = {
      headers: request.headers as Record<string, string>,
      body: Buffer.concat(chunks),
      path: request.url ?? '',
      clientPort: request.socket.remotePort ?? 0,
      at: Date.now(),
    };
    received.push(entry);
    if (answer) answer(entry, response);
    else response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, port, received, mostAtOnce: () => most };
}

/** An answer with this status and nothing else. */
export function answerWith(status: number): Answer {
  return (_request, response) => response.writeHead(status).end();
}

/** A port on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = http.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface MailServer {
  url: string;
  port: number;
  mails: ParsedMail[];
  /** Most messages that were being taken at one moment. */
  mostAtOnce: () => number;
  /** Cuts every connection, in the middle of whatever is said. */
  hangUp: () => void;
}

/** A real SMTP server; `options` says where it refuses. */
export async function startMailServer(
  t: Test,
  options: SMTPServerOptions = {},
): Promise<MailServer> {
  const mails: ParsedMail[] = [];
  let taking = 0;
  let most = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData: async (stream, _session, callback) => {
      taking += 1;
      most = Math.max(most, taking);
      // One that was cut off has not arrived.
      const mail = await simpleParser(stream).catch(() => undefined);
      if (mail) mails.push(mail);
      taking -= 1;
      callback();
    },
    ...options,
  });
  server.on('error', () => {});
  const sockets = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => sockets.add(socket));
  const hangUp = () => {
    for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    hangUp();
    return new Promise<void>((resolve) => server.close(resolve));
  });
  const { port } = server.server.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}`, port, mails, mostAtOnce: () => most, hangUp };
}

/** What a mail server does that is there and does not go on. */
export const STALLS = {
  'no greeting': () => {},
  'silent after EHLO': (socket: Socket) => socket.write('220 stalled\r\n'),
  'one byte after the other': (socket: Socket) => {
    socket.write('220 stalled\r\n250-');
    const drip = setInterval(() => socket.write('x'), LOOK_EVERY_MS);
    socket.on('close', () => clearInterval(drip));
  },
};

/** A mail server that accepts connections, stalls, and says how many are open. */
export async function startStalledMailServer(t: Test, stall: (socket: Socket) => void) {
  const open = new Set<Socket>();
  const server = net.createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => {});
    socket.resume();
    stall(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of open) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}`, open };
}

const silent = () => {};

/** A worker that is stopped when the test ends. Loopback receivers are allowed. */
export async function startWorker(t: Test, options: WorkerOptions) {
  const worker = await runWorker({
    webhookAllow: ['127.0.0.0/8'],
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    ...options,
  });
  t.teardown(() => worker.stop());
  return worker;
}

export interface Stage {
  workspaceId: number;
  /** Owner of the workspace and the archive; the others are members who may read it all. */
  ownerId: number;
  memberIds: number[];
  archiveId: number;
  logId: number;
}

/** A workspace with people, a squad, an archive and a document. Nobody listens yet. */
export async function setStage(database: TestDatabase, members = 2): Promise<Stage> {
  const { admin } = database;
  const insert = async (sql: string, values: unknown[] = []): Promise<number> => {
    const { rows } = await admin.query<{ id: string }>(`${sql} returning id`, values);
    return Number(rows[0]?.id);
  };
  const addPerson = (name: string) =>
    insert('insert into bellwire.users (name, email) values ($1, $2)', [
      name,
      `${name.toLowerCase().replaceAll(' ', '.')}@example.com`,
    ]);
  const ownerId = await addPerson('Grace Owner');
  const memberIds: number[] = [];
  for (let i = 1; i <= members; i += 1) memberIds.push(await addPerson(`Member ${i}`));
  const workspaceId = await insert("insert into bellwire.workspaces (name) values ('Acme')");
  const squadId = await insert(
    "insert into suite.squads (workspace_id, name) values ($1, 'Compilers')",
    [workspaceId],
  );
  for (const id of [ownerId, ...memberIds]) {
    const role = id === ownerId ? 'owner' : 'member';
    await admin.query(
      'insert into suite.workspace_members (workspace_id, user_id, role) values ($1, $2, $3)',
      [workspaceId, id, role],
    );
    await admin.query(
      'insert into suite.squad_members (squad_id, user_id, role) values ($1, $2, $3)',
      [squadId, id, role],
    );
  }
  const archiveId = await insert(
    "insert into suite.archives (squad_id, name, created_by) values ($1, 'Notes', $2)",
    [squadId, ownerId],
  );
  const logId = await insert(
    "insert into suite.logs (archive_id, squad_id, title, created_by) values ($1, $2, 'Plan', $3)",
    [archiveId, squadId, ownerId],
  );
  return { workspaceId, ownerId, memberIds, archiveId, logId };
}

/** Does something as a person, in one transaction. */
export async function actAs(
  database: TestDatabase,
  userId: number,
  sql: string,
  values: unknown[] = [],
): Promise<void> {
  const client = await database.admin.connect();
  try {
    await client.query('select bellwire.act_as($1)', [userId]);
    await client.query(sql, values);
  } finally {
    await client.query('select bellwire.act_as(null)');
    client.release();
  }
}

/** One emitted event: renames are never coalesced. */
export async function renameArchive(database: TestDatabase, stage: Stage, name: string) {
  await actAs(database, stage.ownerId, 'update suite.archives set name = $1 where id = $2', [
    name,
    stage.archiveId,
  ]);
}

export async function subscribe(
  database: TestDatabase,
  url: string,
  eventTypes: string[] | null = ['archive.rename'],
): Promise<{ id: number; secret: string }> {
  const { rows } = await database.admin.query(
    'select id, secret from bellwire.create_webhook_subscription($1, null, $2)',
    [url, eventTypes],
  );
  return { id: Number(rows[0].id), secret: rows[0].secret };
}

/** The deliveries of one subscription in their order. */
export async function deliveriesOf(database: TestDatabase, subscriptionId: number) {
  const { rows } = await database.admin.query<{
    id: string;
    state: string;
    attempts: number;
    last_attempt_at: Date | null;
    last_status: number | null;
    last_error: string | null;
    position: string | null;
    leased_by: string | null;
    body: Buffer;
  }>(
    `select delivery.id, delivery.state, delivery.attempts, delivery.last_attempt_at, delivery.last_status,
            delivery.last_error, delivery.position, delivery.leased_by, event.body
       from bellwire.webhook_deliveries as delivery
       join bellwire.webhook_events as event on event.id = delivery.event_id
      where delivery.subscription_id = $1
      order by delivery.id`,
    [subscriptionId],
  );
  return rows;
}

export async function subscriptionRow(database: TestDatabase, id: number) {
  const { rows } = await database.admin.query<{
    is_enabled: boolean;
    disabled_reason: string | null;
    consecutive_failures: number;
    pause_seconds: number | null;
  }>(
    `select is_enabled, disabled_reason, consecutive_failures,
            extract(epoch from paused_until - clock_timestamp())::float8 as pause_seconds
       from bellwire.webhook_subscriptions where id = $1`,
    [id],
  );
  const [row] = rows;
  if (!row) throw new Error('There is no such subscription.');
  return row;
}

const HOLD_KEY = 4711;

/** Whoever writes a job of the queue back, as done or as failed, waits until it is let go. */
export async function holdWriteBacks(database: TestDatabase) {
  const holder = await database.admin.connect();
  await holder.query(`
    create function public.wait_for_holder() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock_shared(${HOLD_KEY}); return coalesce(new, old); end';
    create trigger hold_done before delete on graphile_worker._private_jobs
      for each row execute function public.wait_for_holder();
    create trigger hold_failed before update on graphile_worker._private_jobs for each row
      when (old.locked_by is not null and new.locked_by is null)
      execute function public.wait_for_holder();
    select pg_advisory_lock(${HOLD_KEY})`);
  return async () => {
    await holder.query('select pg_advisory_unlock_all()');
    holder.release();
  };
}
