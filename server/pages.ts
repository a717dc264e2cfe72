/** The few pages that exist without the web application, as plain HTML without scripts. */

export function messagePage(title: string, message: string): string {
  return page(title, `<p>${escapeHtml(message)}</p>`);
}

/** A GET must change nothing (mail scanners follow links), so the page asks and posts. */
export function confirmPage(title: string, question: string, action: string): string {
  return page(
    title,
    `<p>${escapeHtml(question)}</p>` +
      `<form method="post" action="${escapeHtml(action)}">` +
      '<button type="submit">Stop these e-mails</button></form>',
  );
}

function page(title: string, body: string): string {
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<title>${escapeHtml(title)}</title><style>${STYLE}</style></head>` +
    `<body><main><h1>${escapeHtml(title)}</h1>${body}</main></body></html>`
  );
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;margin:0;color:#1a1a1a;background:#fff}' +
  'main{max-width:32rem;margin:4rem auto;padding:0 1rem}' +
  'button{font:inherit;padding:.5rem 1rem}' +
  '@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}}';

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
