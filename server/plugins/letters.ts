import { randomUUID } from 'node:crypto';
import fp from 'fastify-plugin';
import { senderDomain } from '../../mail/layout.ts';
import type { Letter } from '../mail/letters.ts';
import type { Mailer } from '../mail/mailer.ts';
import { Problem } from '../problem.ts';

declare module 'fastify' {
  interface FastifyInstance {
    letters: Letters;
  }
}

interface Letters {
  /** False: nothing can be mailed, and what needs it says so. */
  readonly isEnabled: boolean;
  /** @throws Problem 503 mail_off */
  require(): void;
  /**
   * Sends beside the request: what the mail server says, and how long it takes, must not show in
   * an answer. Nothing is thrown, and a failure is logged without the address or what was written.
   */
  send(letter: Letter): void;
}

interface Options {
  mailer: Mailer | undefined;
}

/** Pauses after a failure that may pass. Nothing of a letter is stored: it may hold a token. */
const RETRY_AFTER_MS = [2_000, 20_000];

/** `app.letters`: what is written to people about their accounts. */
export const lettersPlugin = fp(
  async (app, { mailer }: Options) => {
    const underWay = new Set<Promise<void>>();
    const stop = new AbortController();

    const deliver = async (letter: Letter, from: string, send: Mailer['send']) => {
      const { kind, ...parts } = letter;
      const message = {
        ...parts,
        from,
        messageId: `<account-${randomUUID()}@${senderDomain(from)}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      };
      for (const pause of [...RETRY_AFTER_MS, undefined]) {
        const { result, code } = await send(message);
        if (result === 'sent') return;
        const isOver = result !== 'transient' || pause === undefined || stop.signal.aborted;
        app.log.warn({ letter: kind, result, code }, isOver ? 'letter not sent' : 'letter delayed');
        if (isOver) return;
        await pauseFor(pause, stop.signal);
      }
    };

    const letters: Letters = {
      get isEnabled() {
        return mailer !== undefined && app.mail.isEnabled;
      },
      require() {
        if (!letters.isEnabled) throw mailOff();
      },
      send(letter) {
        if (mailer === undefined || !letters.isEnabled) return;
        const sending = deliver(letter, mailer.from, mailer.send)
          .catch(() => app.log.error({ letter: letter.kind }, 'letter not composed'))
          .finally(() => underWay.delete(sending));
        underWay.add(sending);
      },
    };
    app.decorate('letters', letters);

    app.addHook('onClose', async () => {
      stop.abort();
      await Promise.all(underWay);
    });
  },
  { name: 'bellwire-letters', fastify: '5.x', dependencies: ['bellwire-mail'] },
);

function mailOff(): Problem {
  return new Problem(503, 'mail_off', 'This installation sends no e-mail, and this needs one.', {
    hint: 'Ask an administrator of the installation.',
  });
}

function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
