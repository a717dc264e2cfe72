import type { Demo } from './demo.ts';

const PERCENT = 100;

export interface Times {
  totalSeconds: number;
  replaySeconds: number;
}

/** What a program reads with --json, and the closing table shows. */
export type Figures = Awaited<ReturnType<typeof readFigures>>;

const COUNTS = `
  select
    (select count(*) from bellwire.users)::int as users,
    (select count(*) from bellwire.workspaces)::int as workspaces,
    (select count(*) from suite.archives)::int as archives,
    (select count(*) from bellwire.activity_log where action = 'log.create')::int as documents,
    (select count(*) from bellwire.activity_log
     where action in ('comment.create', 'comment.reply'))::int as comments,
    (select count(*) from bellwire.activity_log)::int as "activityEntries",
    (select count(*) from bellwire.notifications)::int as notifications,
    (select count(*) from bellwire.rule_failures)::int as "ruleFailures"`;

export async function readFigures(
  demo: Demo,
  payloads: { replayed: number; skipped: number },
  times: Times,
) {
  const { rows } = await demo.stage.admin.query<Record<CountName, number>>(COUNTS);
  const counts = rows[0] as Record<CountName, number>;
  const live = demo.sockets.flatMap(({ notifications }) => notifications);
  // Counted again within its minute, a notification keeps its first date: not a latency.
  const toSocket = live
    .filter(({ count }) => count === 0)
    .map(({ createdAt, arrivedAt }) => arrivedAt - Date.parse(createdAt));
  const webhooks = demo.stage.receiver.on(demo.everything.path);
  const toWebhook = webhooks.map(
    ({ body, arrivedAt }) => arrivedAt - Date.parse(JSON.parse(body.toString()).occurred_at),
  );
  return {
    payloadsReplayed: payloads.replayed,
    payloadsSkipped: payloads.skipped,
    restCalls: demo.api.calls,
    sqlStatements: demo.sql.statements,
    ...counts,
    notificationsLive: new Set(live.map(({ id }) => id)).size,
    emails: demo.stage.mailbox.letters.length,
    webhooks: demo.stage.receiver.requests.filter(({ status }) => status < 300).length,
    webhookRetries: demo.stage.receiver.requests.filter(({ status }) => status >= 300).length,
    totalSeconds: round(times.totalSeconds),
    replaySeconds: round(times.replaySeconds),
    payloadsPerSecond: round(payloads.replayed / times.replaySeconds),
    socketMedianMs: percentile(toSocket, 50),
    socketP99Ms: percentile(toSocket, 99),
    webhookMedianMs: percentile(toWebhook, 50),
    webhookP99Ms: percentile(toWebhook, 99),
  };
}

type CountName =
  | 'users'
  | 'workspaces'
  | 'archives'
  | 'documents'
  | 'comments'
  | 'activityEntries'
  | 'notifications'
  | 'ruleFailures';

export function tableOf(figures: Figures): [string, string][] {
  const f = figures;
  return [
    ['payloads', `${f.payloadsReplayed} replayed, ${f.payloadsSkipped} skipped`],
    ['through', `${f.restCalls} REST calls, ${f.sqlStatements} SQL statements`],
    [
      'people',
      `${f.users} users, each signed in; ${f.workspaces} workspaces, ${f.archives} archives`,
    ],
    ['written', `${f.documents} documents, ${f.comments} comments`],
    ['activity entries', String(f.activityEntries)],
    ['notifications', `${f.notifications}, of them ${f.notificationsLive} live over WebSockets`],
    ['e-mails', String(f.emails)],
    [
      'webhooks',
      `${f.webhooks} accepted by two receivers, ${f.webhookRetries} of them at the second attempt`,
    ],
    ['rule failures', String(f.ruleFailures)],
    ['change to socket*', `median ${f.socketMedianMs} ms, p99 ${f.socketP99Ms} ms`],
    ['change to webhook*', `median ${f.webhookMedianMs} ms, p99 ${f.webhookP99Ms} ms`],
    ['replay', `${f.replaySeconds} s, ${f.payloadsPerSecond} payloads/s`],
    ['total', `${f.totalSeconds} s`],
  ];
}

function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  const index = Math.ceil((percent / PERCENT) * sorted.length) - 1;
  return sorted[Math.max(index, 0)] ?? 0;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
