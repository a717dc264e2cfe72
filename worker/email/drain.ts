import type { ClaimedEmail, EmailResult, WorkerDatabase } from '../database.ts';
import { describeError, type Logger } from '../logger.ts';
import { composeEmail, type MessageOptions } from './message.ts';
import { SmtpSession, type SmtpSettings } from './smtp.ts';

const CLAIM_COUNT = 10;
const LANES = 3;

interface EmailOptions extends MessageOptions {
  database: WorkerDatabase;
  smtp: SmtpSettings;
  logger: Logger;
  /** Told what came of each attempt. */
  onResult?: (result: EmailResult) => void;
}

/** Sends what the outbox holds, ten at a time over three conversations with the mail server. */
export class EmailSender {
  readonly #options: EmailOptions;
  readonly #sessions = new Set<SmtpSession>();

  constructor(options: EmailOptions) {
    this.#options = options;
  }

  /** One round; true when there was something to send. */
  async round(): Promise<boolean> {
    const claimed = await this.#options.database.claimEmails(CLAIM_COUNT);
    if (claimed.length === 0) return false;
    const waiting = [...claimed];
    const lanes = Array.from({ length: Math.min(LANES, waiting.length) }, () =>
      this.#lane(waiting),
    );
    await Promise.all(lanes);
    return true;
  }

  /** Cuts off what is in flight; each message is then finished as what is known of it. */
  close(): void {
    for (const session of this.#sessions) session.close();
  }

  async #lane(waiting: ClaimedEmail[]): Promise<void> {
    const session = new SmtpSession(this.#options.smtp);
    this.#sessions.add(session);
    try {
      for (let email = waiting.shift(); email; email = waiting.shift()) {
        await this.#sendOne(session, email);
      }
    } finally {
      session.close();
      this.#sessions.delete(session);
    }
  }

  /** Never throws: one message that cannot be finished must not hold up its lane. */
  async #sendOne(session: SmtpSession, email: ClaimedEmail): Promise<void> {
    const { database, logger } = this.#options;
    const about = { email: email.id, attempt: email.attempt };
    try {
      const { result, error, code } = await session.send(composeEmail(email, this.#options), () =>
        database.handOverEmail(email.id, email.attempt),
      );
      this.#options.onResult?.(result);
      const state = await database.finishEmail(email.id, email.attempt, result, error);
      logger[result === 'sent' ? 'debug' : 'info'](
        { ...about, result, code, state },
        'e-mail attempt',
      );
    } catch (error) {
      // The row stays `sending`: in ten minutes another worker sends it, or gives it up if the mail
      // server had begun to take it.
      logger.warn({ ...about, error: describeError(error) }, 'e-mail attempt was not recorded');
    }
  }
}
