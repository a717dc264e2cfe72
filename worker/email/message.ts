import { createHash } from 'node:crypto';
import type { ClaimedEmail } from '../database.ts';

/** Fields in the form nodemailer's composer takes. */
export interface EmailMessage {
  from: string;
  to: { name: string; address: string };
  subject: string;
  text: string;
  html: string;
  messageId: string;
  headers: Record<string, string>;
}

export interface MessageOptions {
  /** `Bellwire <bell@example.com>` */
  from: string;
  /** Where the app is reached; without it the message carries no link. */
  appUrl: string | undefined;
}

const MESSAGE_ID_HASH_LENGTH = 16;

/**
 * Builds the message of one outbox row: the title as the subject, the text, a link into the app,
 * why the person gets it, and a way to stop this kind with one click (RFC 8058).
 */
export function composeEmail(email: ClaimedEmail, options: MessageOptions): EmailMessage {
  const link = appLink(options.appUrl, email.linkPath);
  const unsubscribe = appLink(options.appUrl, `/api/unsubscribe/${email.unsubscribeToken}`);
  const reason = reasonLine(email);
  return {
    from: options.from,
    to: { name: singleLine(email.toName ?? ''), address: email.toAddress },
    subject: singleLine(email.subject),
    text: textPart(email, { link, unsubscribe, reason }),
    html: htmlPart(email, { link, unsubscribe, reason }),
    messageId: messageId(email, options.from),
    headers: {
      'Auto-Submitted': 'auto-generated',
      ...(unsubscribe && {
        'List-Unsubscribe': `<${unsubscribe}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
  };
}

interface Parts {
  link: string | null;
  unsubscribe: string | null;
  reason: string;
}

function textPart(email: ClaimedEmail, parts: Parts): string {
  const paragraphs = [
    email.subject,
    email.body,
    parts.link && `Open: ${parts.link}`,
    `--\n${parts.reason}`,
    parts.unsubscribe && `No more e-mails of this kind: ${parts.unsubscribe}`,
  ];
  return `${paragraphs.filter(Boolean).join('\n\n')}\n`;
}

function htmlPart(email: ClaimedEmail, parts: Parts): string {
  const body = email.body
    ? `<p dir="auto" style="white-space:pre-wrap">${escapeHtml(email.body)}</p>`
    : '';
  const link = parts.link ? `<p><a href="${escapeHtml(parts.link)}">Open</a></p>` : '';
  const unsubscribe = parts.unsubscribe
    ? ` <a href="${escapeHtml(parts.unsubscribe)}">No more e-mails of this kind</a>`
    : '';
  return [
    '<!doctype html>',
    '<html><head><meta charset="utf-8">',
    `<title>${escapeHtml(email.subject)}</title></head>`,
    '<body style="font-family:sans-serif;line-height:1.5">',
    `<h1 dir="auto" style="font-size:1.2em">${escapeHtml(email.subject)}</h1>`,
    body,
    link,
    `<p style="color:#555;font-size:0.9em">${escapeHtml(parts.reason)}${unsubscribe}</p>`,
    '</body></html>',
  ]
    .filter(Boolean)
    .join('\n');
}

function reasonLine(email: ClaimedEmail): string {
  const description = email.kindDescription?.trim() || `of your settings for “${email.kind}”`;
  const because = description.charAt(0).toLowerCase() + description.slice(1);
  const where = email.workspaceName ? ` in ${singleLine(email.workspaceName)}` : '';
  return `You get this e-mail because ${because}${where}.`;
}

/**
 * The same at every attempt, so that a mail server which already has the message can tell. The
 * hash keeps two installations with one sender apart; the token itself stays out of mail logs.
 */
function messageId(email: ClaimedEmail, from: string): string {
  const hash = createHash('sha256')
    .update(email.unsubscribeToken)
    .digest('hex')
    .slice(0, MESSAGE_ID_HASH_LENGTH);
  const domain = /@([^\s<>@]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
  return `<notification-${email.id}.${hash}@${domain}>`;
}

function appLink(appUrl: string | undefined, path: string | null): string | null {
  if (!appUrl || !path) return null;
  return `${appUrl.replace(/\/+$/, '')}${path}`;
}

/** Line breaks and other control characters have no place in a header. */
function singleLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
