import type { Delivery } from '../payloads.ts';
import type { Suite } from '../suite.ts';
import type { World } from '../world.ts';
import { commentEvents, reviewEvents, reviewThreadEvents } from './comments.ts';
import { pageEvents, releaseEvents, subjectEvents } from './documents.ts';
import type { Handler } from './handler.ts';
import { repositoryEvents, starEvents, teamEvents, workspaceEvents } from './people.ts';
import { skipReason } from './skips.ts';

/** Through the database, as an administrator at a psql prompt; all others go through REST. */
const SQL_EVENTS = new Set(['discussion', 'discussion_comment']);

const HANDLERS: Record<string, Handler> = {
  organization: workspaceEvents,
  team: teamEvents,
  team_add: teamEvents,
  membership: teamEvents,
  repository: repositoryEvents,
  public: repositoryEvents,
  member: repositoryEvents,
  watch: starEvents,
  star: starEvents,
  issues: subjectEvents,
  pull_request: subjectEvents,
  discussion: subjectEvents,
  gollum: pageEvents,
  release: releaseEvents,
  issue_comment: commentEvents,
  commit_comment: commentEvents,
  discussion_comment: commentEvents,
  pull_request_review_comment: commentEvents,
  pull_request_review: reviewEvents,
  pull_request_review_thread: reviewThreadEvents,
};

export interface Skip {
  /** The event, or one action of it. */
  what: string;
  reason: string;
}

/** Replays one payload; or resolves to why it was not. */
export async function replayDelivery(
  delivery: Delivery,
  world: World,
  suites: { rest: Suite; sql: Suite },
): Promise<Skip | undefined> {
  const { event, payload } = delivery;
  const handler = HANDLERS[event];
  if (!handler) return { what: event, reason: skipReason(event) };
  const suite = SQL_EVENTS.has(event) ? suites.sql : suites.rest;
  const reason = await handler({ world, suite, payload });
  if (reason === undefined) return undefined;
  return { what: payload.action ? `${event}.${payload.action}` : event, reason };
}
