/**
 * How every letter of ours looks, as plain text and as HTML: a heading, a text, one link, and below
 * it why the person gets it.
 */
export interface Layout {
  heading: string;
  body: string | null;
  link: Link | null;
  /** Why this letter came. */
  reason: string;
  /** Something small to click beside the reason. */
  aside: Link | null;
}

interface Link {
  text: string;
  url: string;
}

export function layoutText({ heading, body, link, reason, aside }: Layout): string {
  const paragraphs = [
    heading,
    body,
    link && `${link.text}: ${link.url}`,
    `--\n${reason}`,
    aside && `${aside.text}: ${aside.url}`,
  ];
  return `${paragraphs.filter(Boolean).join('\n\n')}\n`;
}

export function layoutHtml({ heading, body, link, reason, aside }: Layout): string {
  return [
    '<!doctype html>',
    '<html><head><meta charset="utf-8">',
    `<title>${escapeHtml(heading)}</title></head>`,
    '<body style="font-family:sans-serif;line-height:1.5">',
    `<h1 dir="auto" style="font-size:1.2em">${escapeHtml(heading)}</h1>`,
    body ? `<p dir="auto" style="white-space:pre-wrap">${escapeHtml(body)}</p>` : '',
    link ? `<p>${anchor(link)}</p>` : '',
    `<p style="color:#555;font-size:0.9em">${escapeHtml(reason)}${aside ? ` ${anchor(aside)}` : ''}</p>`,
    '</body></html>',
  ]
    .filter(Boolean)
    .join('\n');
}

/** Line breaks and other control characters have no place in a header. */
export function singleLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}

/** The part of a Message-ID behind its @: that of the sender's address. */
export function senderDomain(from: string): string {
  return /@([^\s<>@]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
}

function anchor({ text, url }: Link): string {
  return `<a href="${escapeHtml(url)}">${escapeHtml(text)}</a>`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
