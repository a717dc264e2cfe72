import type { FastifyPluginAsync } from 'fastify';
import { accounts } from './accounts.ts';
import { activity } from './activity.ts';
import { archives } from './archives.ts';
import { comments } from './comments.ts';
import { documents } from './documents.ts';
import { invitations } from './invitations.ts';
import { notifications } from './notifications.ts';
import { passwords } from './passwords.ts';
import { people } from './people.ts';
import { preferences } from './preferences.ts';
import { secondFactor } from './second-factor.ts';
import { sessions } from './sessions.ts';
import { squads } from './squads.ts';
import { stream } from './stream.ts';
import { unsubscribe } from './unsubscribe.ts';
import { versions } from './versions.ts';
import { watches } from './watches.ts';
import { webhookDeliveries } from './webhook-deliveries.ts';
import { webhookRecords } from './webhook-records.ts';
import { webhooks } from './webhooks.ts';
import { workspaces } from './workspaces.ts';

interface Options {
  appUrl: string;
  closeSockets: (digests: readonly string[]) => void;
}

/** Every route under /api, one file per area. */
export const routes: FastifyPluginAsync<Options> = async (app, options) => {
  await app.register(sessions, options);
  await app.register(accounts, options);
  await app.register(passwords, options);
  await app.register(secondFactor);
  await app.register(invitations, options);
  await app.register(workspaces);
  await app.register(people);
  await app.register(squads);
  await app.register(archives);
  await app.register(documents);
  await app.register(versions);
  await app.register(comments);
  await app.register(notifications);
  await app.register(stream);
  await app.register(preferences);
  await app.register(watches);
  await app.register(activity);
  await app.register(unsubscribe);
  await app.register(webhooks);
  await app.register(webhookDeliveries);
  await app.register(webhookRecords);
};
