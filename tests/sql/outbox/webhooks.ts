import { randomUUID } from 'node:crypto';
import type { Row, Stage } from '../fixtures.ts';

export interface Subscription {
  id: number;
  secret: string;
}

export async function subscribe(
  stage: Stage,
  options: { workspaceId?: number; types?: string[] } = {},
): Promise<Subscription> {
  const [row] = await stage.byAdministrator(
    'select * from bellwire.create_webhook_subscription($1, $2, $3)',
    ['https://receiver.example/hook', options.workspaceId ?? null, options.types ?? null],
  );
  return row as unknown as Subscription;
}

export async function sequence(stage: Stage, count = 100): Promise<number> {
  const [row] = await stage.byWorker('select bellwire.sequence_webhooks($1) as count', [count]);
  return row?.count as number;
}

/** Renames the document and numbers the event. */
export async function emit(stage: Stage, titles: string[]): Promise<void> {
  for (const title of titles) {
    await stage.by(stage.people.member, 'select api.rename_document($1, $2)', [
      stage.documentId,
      title,
    ]);
  }
  await sequence(stage);
}

export interface Claim {
  delivery_id: number;
  subscription_id: number;
  url: string;
  secrets: string[];
  event_id: string;
  event_type: string;
  delivery_position: number | null;
  body: Buffer;
  attempts: number;
}

/** A worker process: the owner of its leases. */
export class Worker {
  readonly token = randomUUID();
  readonly stage: Stage;

  constructor(stage: Stage) {
    this.stage = stage;
  }

  /** At most so many subscriptions, with at most so many deliveries each. */
  async claim(count = 10, run = 1): Promise<Claim[]> {
    return (await this.stage.byWorker('select * from bellwire.claim_webhooks($1, $2, $3)', [
      this.token,
      count,
      run,
    ])) as unknown as Claim[];
  }

  async claimOne(): Promise<Claim> {
    const [claim] = await this.claim(1);
    if (!claim) throw new Error('nothing to claim');
    return claim;
  }

  async renew(...claims: Claim[]): Promise<boolean> {
    const [row] = await this.stage.byWorker(
      'select bellwire.renew_webhook_leases($1, $2) as kept',
      [claims.map((claim) => claim.delivery_id), this.token],
    );
    return row?.kept as boolean;
  }

  async finish(
    claim: Claim,
    result: string,
    status: number | null = null,
    error: string | null = null,
  ): Promise<string> {
    const [written] = await this.finishAll([{ claim, result, status, error }]);
    return written?.outcome ?? 'stale';
  }

  async finishAll(attempts: readonly Attempt[], isStopping = false): Promise<Written[]> {
    return (await this.stage.byWorker(
      'select * from bellwire.finish_webhooks($1, $2, $3, $4, $5, $6, $7, $8)',
      [
        attempts.map(({ claim }) => claim.delivery_id),
        attempts.map(() => this.token),
        attempts.map(({ result }) => result),
        attempts.map(({ status }) => status),
        attempts.map(({ error }) => error ?? null),
        attempts.map(() => 12),
        attempts.map(({ restCount }) => restCount ?? 0),
        isStopping,
      ],
    )) as unknown as Written[];
  }
}

export interface Attempt {
  claim: Claim;
  result: string;
  status: number | null;
  error?: string | null;
  restCount?: number;
}

interface Written {
  delivery_id: number;
  outcome: string;
  goes_on: boolean;
}

export const title = (claim: Claim) =>
  (JSON.parse(claim.body.toString()) as { data: { title: string } }).data.title;

export async function subscription(stage: Stage, id: number): Promise<Row> {
  const [row] = await stage.look(
    `select is_enabled, disabled_reason, consecutive_failures,
       extract(epoch from paused_until - clock_timestamp())::float as pause_seconds
     from bellwire.webhook_subscriptions where id = $1`,
    [id],
  );
  return row as Row;
}

export async function delivery(stage: Stage, id: number): Promise<Row> {
  const [row] = await stage.look('select * from bellwire.webhook_deliveries where id = $1', [id]);
  return row as Row;
}

/** Ends the pauses there are. */
export const endPauses = (stage: Stage) =>
  stage.look('update bellwire.webhook_subscriptions set paused_until = clock_timestamp()');
