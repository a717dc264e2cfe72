import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import fp from 'fastify-plugin';
import { senderDomain } from '../../mail/layout.ts';
import { warnOfBackground } from '../background.ts';
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
  /** The same for one that needs a look at the database; `what` names that in the log, if it fails. */
  compose(what: string, write: () => Promise<Letter | undefined>): void;
}

interface Options {
  mailer: Mailer | undefined;
}

/** Pauses after a failure that may pass. Nothing of a letter is stored: it may hold a token. */
const RETRY_AFTER_MS = [2_000, 20_000];
/** What a stop leaves for letters: one more attempt of those that wait. */
const STOP_PATIENCE_MS = 4_000;

/** `app.letters`: what is written to people about their accounts. */
export const lettersPlugin = fp(
  async (app, { mailer }: Options) => {
    const underWay = new Set<Promise<void>>();
    const stop = new AbortController();

    let unsentSinceStop = 0;

    /** Whether it was sent. Never throws. */
    const deliver = async ({ kind, ...parts }: Letter, { from, send }: Mailer) => {
      const message = {
        ...parts,
        from,
        messageId: `<account-${randomUUID()}@${senderDomain(from)}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      };
      try {
        for (const pause of [...RETRY_AFTER_MS, undefined]) {
          const { result, code } = await send(message);
          if (result === 'sent') return true;
          const isOver = result !== 'transient' || pause === undefined || stop.signal.aborted;
          const outcome = isOver ? 'letter not sent' : 'letter delayed';
          app.log.warn({ letter: kind, result, code }, outcome);
          if (isOver) return false;
          await pauseFor(pause, stop.signal);
        }
      } catch {
        app.log.error({ letter: kind }, 'letter not composed');
      }
      return false;
    };

    const follow = (sending: Promise<boolean>) => {
      const ended = sending.then((isSent) => {
        underWay.delete(ended);
        if (!isSent && stop.signal.aborted) unsentSinceStop += 1;
      });
      underWay.add(ended);
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
        follow(deliver(letter, mailer));
      },
      compose(what, write) {
        if (mailer === undefined || !letters.isEnabled) return;
        const sending = async () => {
          const letter = await write();
          return letter === undefined || deliver(letter, mailer);
        };
        const failed = (error: unknown) => {
          warnOfBackground(app.log, what, error);
          return false;
        };
        follow(sending().catch(failed));
      },
    };
    app.decorate('letters', letters);

    app.onStop('the letters', async () => {
      stop.abort();
      await Promise.race([Promise.all(underWay), delay(STOP_PATIENCE_MS, null, { ref: false })]);
      const unsent = unsentSinceStop + underWay.size;
      if (unsent > 0) throw new Error(`${unsent} not sent`);
    });
  },
  {
    name: 'bellwire-letters',
    fastify: '5.x',
    dependencies: ['bellwire-mail', 'bellwire-stopping'],
  },
);

function mailOff(): Problem {
  return new Problem(503, 'mail_off', 'This installation sends no e-mail, and this needs one.', {
    hint: 'Ask an administrator of the installation.',
  });
}

async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
}
