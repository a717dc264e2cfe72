import type { ParsedMail } from 'mailparser';
import type { Test } from 'tap';
import { type Mailer, smtpMailer } from '../../../server/mail/mailer.ts';
import { startMailServer, until } from '../../worker/support.ts';

export const APP_URL = 'http://localhost:3000';

/** The letters that a real mail server took. */
export class Letterbox {
  readonly mailer: Mailer;
  readonly mails: ParsedMail[];

  constructor(mailer: Mailer, mails: ParsedMail[]) {
    this.mailer = mailer;
    this.mails = mails;
  }

  /** The next letter to an address, taken out of the box. */
  async next(address: string): Promise<ParsedMail> {
    const at = await until(`a letter to ${address}`, () => this.#find(address) + 1);
    return this.mails.splice(at - 1, 1)[0] as ParsedMail;
  }

  #find(address: string): number {
    return this.mails.findIndex((mail) => addressOf(mail) === address);
  }
}

export async function openLetterbox(t: Test): Promise<Letterbox> {
  const { url, mails } = await startMailServer(t);
  return new Letterbox(smtpMailer(url, 'Bellwire <bell@acme.example>'), mails);
}

/** The token of the link in a letter: the same in text and HTML. */
export function tokenOf(mail: ParsedMail, page: string): string {
  const pattern = new RegExp(`${APP_URL}/${page}#([A-Za-z0-9_-]{64})`);
  const token = pattern.exec(mail.text ?? '')?.[1];
  if (token === undefined || pattern.exec(String(mail.html))?.[1] !== token) {
    throw new Error(`There is no link to ${page} in: ${mail.text}`);
  }
  return token;
}

function addressOf({ to }: ParsedMail): string | undefined {
  return (Array.isArray(to) ? to[0] : to)?.value[0]?.address;
}
