import type { Payload, Release, Repository, Subject } from '../payloads.ts';
import type { Archive, Document } from '../suite.ts';
import { plainTitle } from '../text.ts';
import type { Draft } from '../world.ts';
import type { Handler, Replay } from './handler.ts';
import { SKIP } from './skips.ts';

/** Issues, pull requests and discussions are documents; what happens to them changes the text. */
export const subjectEvents: Handler = async (replay) => {
  const { world, suite, payload } = replay;
  const { action = '', changes } = payload;
  if (action === 'transferred') return SKIP.transfer;
  const archive = await archiveOf(replay);
  const by = await world.member(archive.squad, payload.sender.login);
  const draft = await subjectDraft(replay, archive);
  if (action === 'opened' || action === 'created') {
    await world.createDocument(suite, archive, draft);
    return undefined;
  }
  const document = await world.document(suite, archive, draft);
  if (action === 'deleted') {
    await suite.delete(by, document);
  } else if (changes?.title) {
    await renameFrom(replay, document, changes.title.from, draft.title);
  } else {
    document.content.body = draft.body;
    applyFacts(payload, document);
    await suite.save(by, document);
  }
  return undefined;
};

/** Wiki pages. */
export const pageEvents: Handler = async (replay) => {
  const { world, suite, payload } = replay;
  const archive = await archiveOf(replay);
  const author = await world.member(archive.squad, payload.sender.login);
  for (const page of payload.pages ?? []) {
    const title = plainTitle(page.title, page.page_name);
    const draft = { kind: 'page', key: page.page_name, title, author, body: '' };
    if (page.action === 'created') {
      await world.createDocument(suite, archive, draft);
      continue;
    }
    const document = await world.document(suite, archive, draft);
    // The payload has no text, only the revision.
    document.content.timeline.push(`${page.action} as ${page.sha} by ${author.name}`);
    await suite.save(author, document);
  }
  return undefined;
};

/** The notes of a release are a document; what GitHub publishes is published. */
export const releaseEvents: Handler = async (replay) => {
  const { world, suite, payload } = replay;
  const archive = await archiveOf(replay);
  const release = payload.release as Release;
  const by = await world.member(archive.squad, payload.sender.login);
  const draft: Draft = {
    kind: 'release',
    key: release.id,
    title: plainTitle(release.name, `Release ${release.tag_name}`),
    author: await world.member(archive.squad, release.author.login),
    body: release.body ?? '',
  };
  if (payload.action === 'created') {
    await world.createDocument(suite, archive, draft);
    return undefined;
  }
  const document = await world.document(suite, archive, draft);
  if (payload.action === 'deleted') {
    await suite.delete(by, document);
  } else if (payload.action === 'edited') {
    await renameFrom(replay, document, payload.changes?.name?.from ?? '', draft.title);
  } else {
    await suite.publish(by, document, `${release.tag_name} (${payload.action})`);
  }
  return undefined;
};

/** What is known of a repository besides its name is on a page of its own. */
export async function saveAboutPage(replay: Replay, what: string): Promise<void> {
  const { world, suite, payload } = replay;
  const archive = await archiveOf(replay);
  const repository = payload.repository as Repository;
  const by = await world.member(archive.squad, payload.sender.login);
  const document = await world.document(suite, archive, {
    kind: 'about',
    key: repository.id,
    title: plainTitle(`About ${repository.name}`, 'About'),
    author: by,
    body: repository.description ?? '',
  });
  const { facts, timeline } = document.content;
  facts.set('Branch', repository.default_branch);
  facts.set('Visibility', repository.private ? 'private' : 'public');
  timeline.push(`${what} by ${by.name}`);
  await suite.save(by, document);
}

export function archiveOf({ world, payload }: Replay): Promise<Archive> {
  if (!payload.repository) throw new Error('The payload names no repository.');
  return world.archive(payload, payload.repository);
}

export async function subjectDraft(replay: Replay, archive: Archive): Promise<Draft> {
  const { payload, world } = replay;
  const kind = payload.issue ? 'issue' : payload.pull_request ? 'pull request' : 'discussion';
  const subject = payload.issue ?? payload.pull_request ?? (payload.discussion as Subject);
  return {
    kind,
    key: subject.id,
    title: plainTitle(subject.title, `${kind} ${subject.number}`),
    author: await world.member(archive.squad, (subject.user ?? payload.sender).login),
    body: subject.body ?? '',
  };
}

/** Before this payload it had the old name, whatever an earlier example called it. */
async function renameFrom(
  { world, suite, payload }: Replay,
  document: Document,
  from: string,
  to: string,
): Promise<void> {
  const by = await world.member(document.archive.squad, payload.sender.login);
  const before = plainTitle(from, document.title);
  if (before !== document.title) await suite.rename(by, document, before);
  await suite.rename(by, document, to);
}

function applyFacts(payload: Payload, document: Document): void {
  const { facts, timeline } = document.content;
  const subject = payload.issue ?? payload.pull_request ?? payload.discussion;
  const detail =
    payload.label?.name ??
    payload.assignee?.login ??
    payload.milestone?.title ??
    payload.requested_reviewer?.login ??
    '';
  if (subject?.state) facts.set('State', subject.state);
  const fact = FACTS[payload.action ?? ''];
  if (fact) {
    const [name, value = detail] = fact;
    if (value === '') facts.delete(name);
    else facts.set(name, value);
  }
  timeline.push([payload.action, detail, 'by', payload.sender.login].filter(Boolean).join(' '));
}

/** Action -> the fact it sets and, where the payload does not carry it, to what; '' takes it away. */
const FACTS: Record<string, readonly [string, string?]> = {
  labeled: ['Label'],
  unlabeled: ['Label', ''],
  assigned: ['Assignee'],
  unassigned: ['Assignee', ''],
  milestoned: ['Milestone'],
  demilestoned: ['Milestone', ''],
  review_requested: ['Reviewer'],
  review_request_removed: ['Reviewer', ''],
  locked: ['Locked', 'yes'],
  unlocked: ['Locked', ''],
  pinned: ['Pinned', 'yes'],
  unpinned: ['Pinned', ''],
  converted_to_draft: ['Draft', 'yes'],
  ready_for_review: ['Draft', ''],
  answered: ['Answered', 'yes'],
  unanswered: ['Answered', ''],
};
