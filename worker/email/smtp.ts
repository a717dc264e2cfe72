import { Readable } from 'node:stream';
import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection, { type SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection';
import type { EmailResult } from '../database.ts';
import { describeError } from '../logger.ts';
import { shorten } from '../webhooks/send.ts';
import type { EmailMessage } from './message.ts';

/**
 * One conversation with a mail server, kept for the messages of one lane.
 *
 * nodemailer's transports report that a connection broke, not how far the message had come. Its
 * connection does: the message is read only after the server has accepted DATA, and that moment
 * is the border between "try again" and "nobody knows".
 */

interface SendResult {
  result: EmailResult;
  /** For the outbox row; may quote the server, so it is not for a log. */
  error: string | null;
  /** For a log: the code of the failure and nothing the server or a person wrote. */
  code: string | null;
}

/** Asked once the server has accepted DATA; false, or a rejection: the message stays here. */
type HandOver = () => Promise<boolean>;

/** How long a mail server may take. */
export interface SmtpLimits {
  /** To be found, to accept the connection, and to greet: so long each, and together. */
  connectMs: number;
  /** From one sign of life to the next; for trying it out, in all. */
  socketMs: number;
}

const LIMITS: SmtpLimits = { connectMs: 10_000, socketMs: 20_000 };
/** For a server that answers one byte at a time and so never trips the socket's own limit. */
const MESSAGE_TIMEOUT_MS = 60_000;
/** "Bad sequence of commands": the session was in the wrong state, the message was not refused. */
const BAD_SEQUENCE = 503;

/** The commands whose refusal is about this message. A refused login or greeting is about us. */
const MESSAGE_COMMANDS = new Set(['MAIL FROM', 'RCPT TO', 'DATA']);

export interface SmtpSettings {
  connection: SMTPConnectionOptions;
  login: { user: string; pass: string } | null;
}

/**
 * Reads `smtp://user:password@host:port` or `smtps://…`. `?tls.rejectUnauthorized=false` is for
 * a server with a certificate of its own making.
 *
 * @throws with a sentence that does not quote the URL, which may hold a password
 */
export function parseSmtpUrl(text: string, limits = LIMITS): SmtpSettings {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new Error('The SMTP URL must look like smtp://user:password@host:port.');
  }
  const isSecure = url.protocol === 'smtps:';
  if (!isSecure && url.protocol !== 'smtp:') {
    throw new Error('The SMTP URL must start with smtp:// or smtps://.');
  }
  if (!url.hostname) throw new Error('The SMTP URL names no host.');
  const user = decodeURIComponent(url.username);
  return {
    connection: {
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      // Without one, the library's own: 587, or 465 for smtps.
      port: Number(url.port) || undefined,
      secure: isSecure,
      connectionTimeout: limits.connectMs,
      greetingTimeout: limits.connectMs,
      dnsTimeout: limits.connectMs,
      socketTimeout: limits.socketMs,
      tls: { rejectUnauthorized: url.searchParams.get('tls.rejectUnauthorized') !== 'false' },
      logger: false,
    },
    login: user ? { user, pass: decodeURIComponent(url.password) } : null,
  };
}

/**
 * Connects and signs in, and hangs up.
 * @throws what the connection says, within 10 seconds for a host that does not greet, and within 20
 * whatever else it does
 */
export async function verifySmtp(settings: SmtpSettings): Promise<void> {
  const connection = new OpenConnection(settings);
  const deadline = setTimeout(() => {
    const error = new Error('The mail server took too long.');
    connection.close(Object.assign(error, { code: 'ETIMEDOUT' }));
  }, settings.connection.socketTimeout);
  try {
    await connection.ready;
  } finally {
    clearTimeout(deadline);
    connection.close();
  }
}

export class SmtpSession {
  readonly #settings: SmtpSettings;
  #connection: OpenConnection | undefined;

  constructor(settings: SmtpSettings) {
    this.#settings = settings;
  }

  /** Sends one message; opens a connection when there is none. Never throws. */
  async send(message: EmailMessage, handOver: HandOver = async () => true): Promise<SendResult> {
    const isReused = this.#connection?.isUsable ?? false;
    const first = await this.#sendOnce(message, handOver);
    // Servers close idle connections. Nothing of the message was handed over, so a fresh one may.
    if (isReused && first.wasConnectionLost) return (await this.#sendOnce(message, handOver)).sent;
    return first.sent;
  }

  close(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  async #sendOnce(
    message: EmailMessage,
    handOver: HandOver,
  ): Promise<{ sent: SendResult; wasConnectionLost: boolean }> {
    const body = new MessageStream(await buildMessage(message), handOver);
    const deadline = setTimeout(() => this.#connection?.close(), MESSAGE_TIMEOUT_MS);
    try {
      this.#connection ??= new OpenConnection(this.#settings);
      await this.#connection.ready;
      await this.#connection.send(
        { from: envelopeAddress(message.from), to: [message.to.address] },
        body,
      );
      return { sent: { result: 'sent', error: null, code: null }, wasConnectionLost: false };
    } catch (error) {
      this.close();
      const failure = error as SmtpError;
      const sent = classify(failure, body.wasHandedOver);
      const wasRefused = failure.responseCode !== undefined || failure.code === 'EENVELOPE';
      return { sent, wasConnectionLost: !body.wasHandedOver && !wasRefused };
    } finally {
      clearTimeout(deadline);
      body.destroy();
    }
  }
}

interface SmtpError extends Error {
  code?: string;
  command?: string;
  responseCode?: number;
}

/** What a failed send means for the outbox row. */
function classify(error: SmtpError, wasHandedOver: boolean): SendResult {
  const code = error.responseCode ? String(error.responseCode) : (error.code ?? 'ERROR');
  const text = shorten(describeError(error));
  const answer = (result: EmailResult): SendResult => ({ result, error: text, code });
  const isRefusal = error.responseCode !== undefined && error.command !== undefined;
  if (isRefusal && MESSAGE_COMMANDS.has(error.command ?? '')) {
    const isPermanent = (error.responseCode ?? 0) >= 500 && error.responseCode !== BAD_SEQUENCE;
    return answer(isPermanent ? 'permanent' : 'transient');
  }
  // The server had begun to take the message and then fell silent: it may or may not arrive.
  if (wasHandedOver) return answer('uncertain');
  // An address nodemailer itself cannot put into a command.
  if (error.code === 'EENVELOPE') return answer('permanent');
  return answer('transient');
}

/** Reads are demanded by the connection only after the server accepted DATA. */
class MessageStream extends Readable {
  readonly #content: Buffer;
  readonly #handOver: HandOver;
  wasHandedOver = false;

  constructor(content: Buffer, handOver: HandOver) {
    super();
    this.#content = content;
    this.#handOver = handOver;
    // The connection listens while it sends, and nobody once it has failed.
    this.on('error', () => {});
  }

  override _read(): void {
    this.#begin().catch((error: Error) => this.destroy(error));
  }

  async #begin(): Promise<void> {
    if (!(await this.#handOver())) throw new Error('Another worker has taken the message over.');
    // Given up meanwhile: then what was said of it is that nothing was handed over.
    if (this.destroyed) return;
    this.wasHandedOver = true;
    this.push(this.#content);
    this.push(null);
  }
}

class OpenConnection {
  readonly #connection: SMTPConnection;
  readonly ready: Promise<void>;
  #failure: SmtpError | undefined;
  #fail: ((error: SmtpError) => void) | undefined;

  constructor(settings: SmtpSettings) {
    this.#connection = new SMTPConnection(settings.connection);
    // One listener for the whole life: an error with nobody listening would end the process.
    this.#connection.on('error', (error) => this.#onFailure(error as SmtpError));
    this.#connection.on('end', () => {
      this.#onFailure(new Error('The connection to the mail server ended.'));
    });
    this.ready = this.#open(settings);
    this.ready.catch(() => {});
  }

  get isUsable(): boolean {
    return this.#failure === undefined;
  }

  async send(envelope: { from: string; to: string[] }, body: MessageStream): Promise<void> {
    await this.#settle((done) => this.#connection.send(envelope, body, done));
  }

  close(reason: SmtpError = new Error('The connection to the mail server was closed.')): void {
    this.#onFailure(reason);
    // QUIT is a courtesy that a broken connection would answer with an error; close says it all.
    this.#connection.close();
  }

  async #open(settings: SmtpSettings): Promise<void> {
    await this.#settle((done) => this.#connection.connect(done));
    const { login } = settings;
    if (!login) return;
    await this.#settle((done) => {
      this.#connection.login({ user: login.user, credentials: login }, done);
    });
  }

  /** A call fails by its callback or by the connection's error event, whichever comes first. */
  #settle(call: (done: (error?: Error | null) => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) {
        reject(this.#failure);
        return;
      }
      this.#fail = reject;
      call((error) => {
        this.#fail = undefined;
        if (error) reject(error);
        else resolve();
      });
    });
  }

  #onFailure(error: SmtpError): void {
    this.#failure ??= error;
    this.#fail?.(error);
    this.#fail = undefined;
  }
}

async function buildMessage(message: EmailMessage): Promise<Buffer> {
  return new MailComposer({ ...message, disableFileAccess: true, disableUrlAccess: true })
    .compile()
    .build();
}

/** The bare address of `Name <address>`. */
function envelopeAddress(from: string): string {
  return (/<([^<>]*)>\s*$/.exec(from)?.[1] ?? from).trim();
}
