import fp from 'fastify-plugin';
import { parseSmtpUrl, type SmtpLimits, verifySmtp } from '../../worker/email/smtp.ts';
import { describeError } from '../../worker/logger.ts';

declare module 'fastify' {
  interface FastifyInstance {
    mail: MailCapability;
  }
}

interface Options {
  smtpUrl: string | undefined;
  /** Whether a way to send was handed over, which is not for us to try. */
  isGiven: boolean;
  limits: SmtpLimits | undefined;
}

/** Whether this process can send e-mail. Decided once, before it listens, and not again. */
class MailCapability {
  readonly #smtpUrl: string | undefined;
  readonly #limits: SmtpLimits | undefined;
  #isEnabled: boolean;
  #reason: string | undefined = 'it was not tried';

  constructor({ smtpUrl, isGiven, limits }: Options) {
    this.#smtpUrl = smtpUrl;
    this.#limits = limits;
    this.#isEnabled = isGiven;
  }

  get isEnabled(): boolean {
    return this.#isEnabled;
  }

  /** Why not; undefined while it is enabled. For the operator: no secret, nothing a server wrote. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Off on purpose, as opposed to configured and not working. */
  get isConfigured(): boolean {
    return this.#smtpUrl !== undefined;
  }

  /** Connects and signs in once. Never throws: a server without e-mail is a server. */
  async decide(): Promise<void> {
    if (this.#smtpUrl === undefined) {
      this.#reason = 'SMTP_URL is not set';
      return;
    }
    try {
      await verifySmtp(parseSmtpUrl(this.#smtpUrl, this.#limits));
      this.#isEnabled = true;
      this.#reason = undefined;
    } catch (error) {
      // The words of the mail server may quote what it was sent.
      const { code } = error as { code?: string };
      this.#reason = `the mail server of SMTP_URL cannot be used (${code ?? describeError(error)})`;
    }
  }
}

/** `app.mail`: whether there is any. */
export const mailPlugin = fp(
  async (app, options: Options) => {
    app.decorate('mail', new MailCapability(options));
  },
  { name: 'bellwire-mail', fastify: '5.x' },
);
