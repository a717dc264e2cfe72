import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

/** Only the fields that are read; GitHub sends many more. */
export interface Account {
  id: number;
  login: string;
}

export interface Repository {
  id: number;
  name: string;
  full_name: string;
  description: string | null;
  private: boolean;
  default_branch: string;
  owner: Account;
}

/** An issue, a pull request or a discussion. */
export interface Subject {
  id: number;
  number: number;
  title: string;
  body?: string | null;
  user: Account | null;
  state?: string;
}

export interface Comment {
  id: number;
  body: string;
  user: Account | null;
  commit_id?: string;
  in_reply_to_id?: number;
  parent_id?: number | null;
  pull_request_review_id?: number | null;
}

export interface Release {
  id: number;
  tag_name: string;
  name: string | null;
  body: string | null;
  author: Account;
}

export interface Payload {
  action?: string;
  sender: Account;
  organization?: Account;
  repository?: Repository;
  issue?: Subject;
  pull_request?: Subject;
  discussion?: Subject;
  comment?: Comment;
  review?: { id: number; body: string | null; state: string; user: Account };
  thread?: { comments: Comment[] };
  release?: Release;
  pages?: { page_name: string; title: string; action: string; sha: string }[];
  team?: { id: number; name: string };
  member?: Account;
  membership?: { user: Account };
  label?: { name: string };
  assignee?: Account | null;
  milestone?: { title: string };
  requested_reviewer?: Account;
  changes?: {
    title?: { from: string };
    body?: { from: string };
    name?: { from: string };
    repository?: { name?: { from: string } };
  };
}

export interface Delivery {
  event: string;
  payload: Payload;
}

/**
 * The examples carry no order of their own. These come first, so that people and repositories are
 * there before what is written in them; the others follow as the package lists them. Within an
 * event the package's order stays, deletes in the middle included.
 */
const FIRST_EVENTS = [
  'organization',
  'team',
  'membership',
  'repository',
  'watch',
  'star',
  'member',
  'issues',
  'pull_request',
  'discussion',
];

/** Every payload of the package, in the order it is replayed. */
export async function loadPayloads(): Promise<Delivery[]> {
  const file = createRequire(import.meta.url).resolve('@octokit/webhooks-examples');
  const definitions: { name: string; examples: Payload[] }[] = JSON.parse(
    await readFile(file, 'utf8'),
  );
  const rank = ({ name }: { name: string }) => {
    const index = FIRST_EVENTS.indexOf(name);
    return index === -1 ? FIRST_EVENTS.length : index;
  };
  return [...definitions]
    .sort((one, other) => rank(one) - rank(other))
    .flatMap(({ name, examples }) => examples.map((payload) => ({ event: name, payload })));
}
