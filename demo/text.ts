import type { Person } from './accounts.ts';

const MAX_TITLE = 255;

/** What a document shows: the text, what is known about it, what happened, and notes of people. */
export interface Content {
  body: string;
  facts: Map<string, string>;
  timeline: string[];
  notes: string[];
}

/** Every event adds a line to the timeline, so a save always changes the text, as on GitHub. */
export function renderDocument(content: Content): string {
  const facts = [...content.facts].map(
    ([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`,
  );
  return [
    paragraphs(content.body),
    facts.length > 0 ? `<dl>${facts.join('')}</dl>` : '',
    ...content.notes,
    content.timeline.length > 0 ? `<ol>${content.timeline.map(listItem).join('')}</ol>` : '',
  ]
    .filter(Boolean)
    .join('\n');
}

/** A comment's text is HTML too. GitHub may send an empty one; a comment of ours says something. */
export function renderComment(body: string | null | undefined): string {
  return paragraphs(body ?? '') || '<p>(no text)</p>';
}

/** What the editor writes when somebody picks a name after typing @. */
export function mention(person: Person): string {
  return `<span data-type="mention" data-id="${person.id}">@${escapeHtml(person.name)}</span>`;
}

export function plainTitle(title: string | null | undefined, otherwise: string): string {
  const oneLine = (title ?? '').replace(/\p{Cc}+/gu, ' ').trim();
  return Array.from(oneLine || otherwise)
    .slice(0, MAX_TITLE)
    .join('');
}

function paragraphs(text: string): string {
  return text
    .split(/\r?\n\r?\n/)
    .map((part) => part.trim())
    .filter(Boolean)
    .map((part) => `<p>${escapeHtml(part)}</p>`)
    .join('\n');
}

function listItem(text: string): string {
  return `<li>${escapeHtml(text)}</li>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
