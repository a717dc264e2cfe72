import { describeError } from '../cli/signals.ts';
import { checkActivity, checkRuleFailures, describeActivity } from './checks/activity.ts';
import { checkEmails, checkUnsubscribe, checkUnwanted } from './checks/emails.ts';
import { checkPaging, checkReading, checkUnread } from './checks/inbox.ts';
import { checkLive, checkMute, checkTold } from './checks/notifications.ts';
import { checkStranger } from './checks/stranger.ts';
import { checkRetry, checkWebhooks } from './checks/webhooks.ts';
import { type Demo, gather, replayAll, type Skips } from './demo.ts';
import { type Figures, readFigures, tableOf } from './figures.ts';
import { Interrupted, Interruption } from './interruption.ts';
import { loadPayloads } from './payloads.ts';
import { Report } from './report.ts';
import { BACKOFF_SECONDS, Cleanup, setStage } from './stage.ts';

const FAILURE_CODE = 1;
const INTERRUPTED_CODE = 130;
const MAX_LOG_LINES = 20;
const MILLISECONDS_PER_SECOND = 1000;

/**
 * `bellwire demo`: replays real GitHub events from end to end and checks every step of the path.
 *
 * @param options.json end with one line of JSON with the counts and times
 * @returns the exit code: 0 only when every step held
 */
export async function runDemo(options: { json: boolean }): Promise<number> {
  const interruption = new Interruption();
  const cleanup = new Cleanup();
  const report = new Report();
  let figures: Figures | undefined;
  let code = 0;
  try {
    figures = await run(report, cleanup, interruption);
  } catch (error) {
    code = error instanceof Interrupted && !error.cause ? INTERRUPTED_CODE : FAILURE_CODE;
    console.error(describeError(error));
    if (error instanceof Error && error.cause) console.error(error.cause);
  }
  if (!(await cleanup.run())) code ||= FAILURE_CODE;
  if (report.failed > 0) code ||= FAILURE_CODE;
  const { passed, failed } = report;
  console.log(`\n${verdictOf(code)}: ${passed} passed, ${failed} failed`);
  // After the cleanup, so that nothing comes behind it.
  if (options.json) console.log(JSON.stringify({ ok: code === 0, passed, failed, ...figures }));
  return code;
}

function verdictOf(code: number): string {
  if (code === 0) return 'Every step holds';
  return code === INTERRUPTED_CODE ? 'Stopped before the end' : 'Not every step holds';
}

/** Resolves to undefined when a step failed that all others stand on. */
async function run(
  report: Report,
  cleanup: Cleanup,
  interruption: Interruption,
): Promise<Figures | undefined> {
  const startedAt = performance.now();
  report.heading(
    'Bellwire demo: real GitHub events, from a changed row to bell, e-mail and webhook',
  );
  const demo = await startEverything(report, cleanup, interruption);
  if (!demo) return undefined;
  const replayStartedAt = performance.now();
  const payloads = await replayPayloads(report, demo);
  const replaySeconds = secondsSince(replayStartedAt);
  if (!payloads) return undefined;
  await checkAll(report, demo);
  const figures = await readFigures(demo, payloads, {
    totalSeconds: secondsSince(startedAt),
    replaySeconds,
  });
  report.heading('In numbers');
  report.table(tableOf(figures));
  report.note('* from the start of the transaction, while the replay goes on');
  printWorkerLog(report, demo);
  return figures;
}

async function startEverything(
  report: Report,
  cleanup: Cleanup,
  interruption: Interruption,
): Promise<Demo | undefined> {
  const startedAt = performance.now();
  let demo: Demo | undefined;
  await report.step('everything starts', async () => {
    const stage = await setStage(cleanup, interruption);
    demo = await gather(stage, interruption);
    for (const socket of [...demo.sockets, demo.strangerSocket]) {
      cleanup.add('A WebSocket', async () => socket.close());
    }
    stage.receiver.stumbleOnce(demo.stumbling.path);
    const seconds = secondsSince(startedAt).toFixed(1);
    return `Postgres, server, worker, mail catcher and webhook receiver run (${seconds} s)`;
  });
  if (!demo) return undefined;
  report.note(
    `Only here, a failed webhook is tried again after ${BACKOFF_SECONDS} s instead of 10 s: ` +
      'one of the two receivers will fail once.',
  );
  return demo;
}

async function replayPayloads(report: Report, demo: Demo) {
  report.heading('What happened');
  let skips: Skips = new Map();
  let replayed = 0;
  let skipped = 0;
  const isReplayed = await report.step('the payloads are replayed', async () => {
    const deliveries = await loadPayloads();
    skips = await replayAll(demo, deliveries, report);
    skipped = [...skips.values()].flatMap((events) => [...events.values()]).reduce(sum, 0);
    replayed = deliveries.length - skipped;
    return (
      `${replayed} real GitHub payloads were replayed, ${skipped} skipped ` +
      `(${demo.api.calls} REST calls, ${demo.sql.statements} SQL statements)`
    );
  });
  report.note(
    'Discussions went in as SQL, as an administrator writes it (select bellwire.act_as(…), then ' +
      'insert, update and delete); everything else came through REST.',
  );
  for (const [reason, events] of skips) {
    const names = [...events].map(([event, count]) => `${event} ${count}`);
    report.note(`skipped because ${reason}: ${names.join(', ')}`);
  }
  if (!isReplayed) return undefined;
  const isDone = await report.step('people work together', async () => {
    await demo.people.workTogether(demo.world);
    return `${demo.people.all.length} more people watched, muted, wrote, mentioned each other, published and restored`;
  });
  return isDone ? { replayed, skipped } : undefined;
}

/** A check that fails does not keep the others from being made. */
async function checkAll(report: Report, demo: Demo): Promise<void> {
  report.heading('What came of it');
  await report.step('activity', () => checkActivity(demo));
  report.note(describeActivity(demo));
  await report.step('notifications', () => checkTold(demo));
  await report.step('live push', () => checkLive(demo));
  await report.step('a mute', () => checkMute(demo));
  await report.step('unread counts', () => checkUnread(demo));
  await report.step('inbox pages', () => checkPaging(demo));
  await report.step('reading', () => checkReading(demo));
  await report.step('e-mails', () => checkEmails(demo));
  await report.step('unwanted e-mails', () => checkUnwanted(demo));
  await report.step('unsubscribing', () => checkUnsubscribe(demo));
  await report.step('webhooks', () => checkWebhooks(demo));
  await report.step('a failing receiver', () => checkRetry(demo));
  await report.step('a stranger', () => checkStranger(demo));
  // Once more: what the last steps did must have arrived as well.
  await report.step('live push, at the end', () => checkLive(demo));
  await report.step('e-mails, at the end', () => checkEmails(demo));
  await report.step('rule failures', () => checkRuleFailures(demo));
}

function printWorkerLog(report: Report, { stage }: Demo): void {
  if (report.failed === 0) return;
  for (const line of stage.workerLog.slice(-MAX_LOG_LINES)) console.error(`worker: ${line}`);
}

function secondsSince(since: number): number {
  return (performance.now() - since) / MILLISECONDS_PER_SECOND;
}

function sum(one: number, other: number): number {
  return one + other;
}
