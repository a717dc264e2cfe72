import type { EmailMessage } from '../../worker/email/message.ts';
import { parseSmtpUrl, SmtpSession } from '../../worker/email/smtp.ts';

/** Sends messages; there is none where mail is off. */
export interface Mailer {
  /** `Bellwire <bell@example.com>` */
  readonly from: string;
  send(message: EmailMessage): Promise<{ result: string; code: string | null }>;
}

/** Over SMTP, a conversation for each message: letters about accounts are rare. */
export function smtpMailer(smtpUrl: string, from: string): Mailer {
  const settings = parseSmtpUrl(smtpUrl);
  return {
    from,
    async send(message) {
      const session = new SmtpSession(settings);
      try {
        return await session.send(message);
      } finally {
        session.close();
      }
    },
  };
}
