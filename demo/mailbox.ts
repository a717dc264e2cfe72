import type { CaughtMail, MailCatcher } from '../cli/mail-catcher.ts';

const LOOK_EVERY_MILLISECONDS = 50;
const TOKEN = /\/api\/unsubscribe\/([0-9a-f-]{36})/;

export interface Letter extends CaughtMail {
  /** The address of its one-click unsubscribe. */
  unsubscribeUrl: string;
  /** The part of it that names the row of the outbox. */
  token: string;
}

/** Everything that arrived: the catcher itself forgets all but the newest letters. */
export class Mailbox {
  readonly #catcher: MailCatcher;
  readonly #letters = new Map<number, Letter>();
  readonly #timer: NodeJS.Timeout;

  constructor(catcher: MailCatcher) {
    this.#catcher = catcher;
    this.#timer = setInterval(() => this.#collect(), LOOK_EVERY_MILLISECONDS);
  }

  get letters(): Letter[] {
    this.#collect();
    return [...this.#letters.values()];
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #collect(): void {
    for (const mail of this.#catcher.messages()) {
      if (this.#letters.has(mail.id)) continue;
      const header = mail.headers['list-unsubscribe'] ?? '';
      this.#letters.set(mail.id, {
        ...mail,
        unsubscribeUrl: /<([^>]+)>/.exec(header)?.[1] ?? '',
        token: TOKEN.exec(header)?.[1] ?? '',
      });
    }
  }
}
