import type { Demo } from '../demo.ts';

const NOT_FOUND = 404;

/** Somebody of another workspace sees nothing of it, whichever way they ask. */
export async function checkStranger(demo: Demo): Promise<string> {
  const { api, stranger, people, world, strangerSocket } = demo;
  const document = people.muted;
  const archive = world.archives[0];
  if (!document || !archive) throw new Error('there is nothing to hide');
  const asked = [
    ['GET', `/api/documents/${document.id}`],
    ['GET', `/api/documents/${document.id}/comments`],
    ['GET', `/api/archives/${archive.id}/documents`],
    ['GET', `/api/workspaces/${archive.squad.workspace.id}/members`],
    ['PUT', `/api/documents/${document.id}`, { html: 'mine' }],
    ['POST', `/api/documents/${document.id}/comments`, { body: 'hello' }],
    ['POST', '/api/watches', { resourceType: 'log', resourceId: document.id }],
    ['DELETE', `/api/documents/${document.id}`],
  ] as const;
  for (const [method, path, body] of asked) {
    const status = await api.refusal(method, path, stranger.token, body);
    if (status !== NOT_FOUND) throw new Error(`${method} ${path} was answered ${status}`);
  }
  for (const path of ['/api/activity', '/api/notifications', '/api/watches']) {
    const { items } = await api.get<{ items: unknown[] }>(stranger.token, path);
    if (items.length > 0) throw new Error(`${path} shows ${items.length} items`);
  }
  const { items } = await api.get<{ items: unknown[] }>(stranger.token, '/api/workspaces');
  if (items.length !== 1) throw new Error(`/api/workspaces shows ${items.length} workspaces`);
  const pushed = strangerSocket.notifications.length;
  if (pushed > 0) throw new Error(`${pushed} notifications were pushed to them`);
  return `a stranger is refused ${asked.length} times, and their feed, inbox and socket are empty`;
}
