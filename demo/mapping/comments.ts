import type { Comment } from '../payloads.ts';
import type { Archive, Document, DocumentComment } from '../suite.ts';
import { renderComment } from '../text.ts';
import { archiveOf, subjectDraft } from './documents.ts';
import type { Handler, Replay } from './handler.ts';

const COMMIT_CHARACTERS = 7;

/** Comments on issues, discussions, commits, and on lines of a pull request. */
export const commentEvents: Handler = async (replay) => {
  const { world, suite, payload } = replay;
  const archive = await archiveOf(replay);
  const said = payload.comment as Comment;
  if (payload.action === 'created') {
    await writeComment(replay, archive, said, said.body);
    return undefined;
  }
  // Before this payload it said what `changes` tells.
  const before = payload.changes?.body?.from || said.body;
  const comment =
    world.findComment(archive, kindOf(said), said.id) ??
    (await writeComment(replay, archive, said, before));
  if (payload.action === 'deleted') {
    await suite.deleteComment(await world.member(archive.squad, payload.sender.login), comment);
  } else {
    await suite.editComment(comment, renderComment(said.body));
  }
  return undefined;
};

/** A review is a comment; the comments on its lines are replies to it. */
export const reviewEvents: Handler = async (replay) => {
  const { payload } = replay;
  const archive = await archiveOf(replay);
  if (payload.action === 'submitted') {
    await writeReview(replay, archive);
    return undefined;
  }
  const known = replay.world.findComment(archive, 'review', payload.review?.id ?? 0);
  const review = known ?? (await writeReview(replay, archive));
  await replay.suite.editComment(
    review,
    renderComment(`${reviewText(replay)} (${payload.action})`),
  );
  return undefined;
};

/** Resolving is done with buttons of the web application, so it has no other door. */
export const reviewThreadEvents: Handler = async (replay) => {
  const { world, payload } = replay;
  const archive = await archiveOf(replay);
  const said = payload.thread?.comments[0];
  if (!said) throw new Error('The review thread has no comment.');
  const comment =
    world.findComment(archive, kindOf(said), said.id) ??
    (await writeComment(replay, archive, said, said.body));
  const by = await world.member(archive.squad, payload.sender.login);
  const press = (button: 'resolve' | 'reopen') =>
    world.api.post(by.token, `/api/comments/${comment.id}/${button}`);
  if (payload.action === 'resolved' || !comment.isResolved) await press('resolve');
  comment.isResolved = payload.action === 'resolved';
  if (comment.isResolved) return undefined;
  await press('reopen');
  world.ledger.write({ action: 'comment.reopen', by: by.id });
  return undefined;
};

async function writeComment(
  replay: Replay,
  archive: Archive,
  said: Comment,
  text: string,
): Promise<DocumentComment> {
  const { world, suite, payload } = replay;
  const author = await world.member(archive.squad, (said.user ?? payload.sender).login);
  const parent = findParent(replay, archive, said);
  const document = parent?.document ?? (await documentOf(replay, archive, said));
  const comment = await suite.comment(author, document, renderComment(text), { parent });
  world.rememberComment(archive, kindOf(said), said.id, comment);
  return comment;
}

function findParent({ world }: Replay, archive: Archive, said: Comment) {
  const parentId = said.in_reply_to_id ?? said.parent_id;
  if (parentId) return world.findComment(archive, kindOf(said), parentId);
  const { pull_request_review_id: reviewId } = said;
  return reviewId ? world.findComment(archive, 'review', reviewId) : undefined;
}

/** A commit that somebody comments on becomes a document, too. */
async function documentOf(replay: Replay, archive: Archive, said: Comment): Promise<Document> {
  const { world, suite, payload } = replay;
  if (payload.issue || payload.pull_request || payload.discussion) {
    return world.document(suite, archive, await subjectDraft(replay, archive));
  }
  const commit = said.commit_id ?? '';
  return world.document(suite, archive, {
    kind: 'commit',
    key: commit,
    title: `Commit ${commit.slice(0, COMMIT_CHARACTERS)}`,
    author: await world.member(archive.squad, payload.sender.login),
    body: commit,
  });
}

async function writeReview(replay: Replay, archive: Archive): Promise<DocumentComment> {
  const { world, suite, payload } = replay;
  const author = await world.member(archive.squad, (payload.review?.user ?? payload.sender).login);
  const document = await world.document(suite, archive, await subjectDraft(replay, archive));
  const review = await suite.comment(author, document, renderComment(reviewText(replay)));
  world.rememberComment(archive, 'review', payload.review?.id ?? 0, review);
  return review;
}

function reviewText({ payload }: Replay): string {
  return payload.review?.body || `Review: ${payload.review?.state}`;
}

/** Ids are unique within one kind of comment only. */
function kindOf(said: Comment): string {
  return said.pull_request_review_id ? 'line' : said.commit_id ? 'commit' : 'comment';
}
