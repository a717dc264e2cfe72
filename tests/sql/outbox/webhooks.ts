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
  delivery_position: number;
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

  async claim(count = 10): Promise<Claim[]> {
    return (await this.stage.byWorker('select * from bellwire.claim_webhooks($1, $2)', [
      this.token,
      count,
    ])) as unknown as Claim[];
  }

  async claimOne(): Promise<Claim> {
    const [claim] = await this.claim(1);
    if (!claim) throw new Error('nothing to claim');
    return claim;
  }

  async renew(claim: Claim): Promise<boolean> {
    const [row] = await this.stage.byWorker('select bellwire.renew_webhook_lease($1, $2) as kept', [
      claim.delivery_id,
      this.token,
    ]);
    return row?.kept as boolean;
  }

  async finish(
    claim: Claim,
    result: string,
    status: number | null = null,
    error: string | null = null,
  ): Promise<string> {
    const [row] = await this.stage.byWorker(
      'select bellwire.finish_webhook($1, $2, $3, $4, $5, 12) as outcome',
      [claim.delivery_id, this.token, result, status, error],
    );
    return row?.outcome as string;
  }
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
