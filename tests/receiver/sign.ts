import { randomBytes, randomUUID } from 'node:crypto';
import type { KnownEvent } from '../../receiver/index.js';
import { deliveryHeaders } from '../../worker/webhooks/signature.ts';

export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

export interface Signed {
  id: string;
  body: string;
  headers: Record<string, string>;
}

interface Changes {
  id?: string;
  position?: number;
  body?: string;
  prefix?: string;
  /** Milliseconds since 1970. */
  at?: number;
}

/** A request as the worker signs it. */
export function signedRequest(secrets: string | string[], changes: Changes = {}): Signed {
  const { id = randomUUID(), position = 1, prefix = 'Codex', at = Date.now() } = changes;
  const body = changes.body ?? JSON.stringify(rename(id, position));
  const headers = deliveryHeaders(
    {
      eventId: id,
      eventType: 'archive.rename',
      position,
      body: Buffer.from(body),
      secrets: [secrets].flat(),
    },
    prefix,
    at,
  );
  return { id, body, headers };
}

export function rename(id: string, sequence: number): KnownEvent {
  return {
    id,
    type: 'archive.rename',
    version: 1,
    sequence,
    occurred_at: '2026-11-30T19:16:17.712Z',
    workspace_id: 1,
    squad_id: null,
    actor: { id: 2, name: 'Ben Okri' },
    data: { archive_id: 2, name: 'Überblick 🚀', previous: 'Minutes' },
  };
}
