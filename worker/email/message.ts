import { createHash } from 'node:crypto';
import { layoutHtml, layoutText, senderDomain, singleLine } from '../../mail/layout.ts';
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
  const layout = {
    heading: email.subject,
    body: email.body,
    link: link ? { text: 'Open', url: link } : null,
    reason: reasonLine(email),
    aside: unsubscribe ? { text: 'No more e-mails of this kind', url: unsubscribe } : null,
  };
  return {
    from: options.from,
    to: { name: singleLine(email.toName ?? ''), address: email.toAddress },
    subject: singleLine(email.subject),
    text: layoutText(layout),
    html: layoutHtml(layout),
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
  return `<notification-${email.id}.${hash}@${senderDomain(from)}>`;
}

function appLink(appUrl: string | undefined, path: string | null): string | null {
  if (!appUrl || !path) return null;
  return `${appUrl.replace(/\/+$/, '')}${path}`;
}
