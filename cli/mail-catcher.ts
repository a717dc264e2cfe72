import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';

const MAX_MESSAGES = 200;
const MAX_MESSAGE_BYTES = 1024 * 1024;
const LOOPBACK = '127.0.0.1';

export interface CaughtMail {
  /** Counts from 1 in order of arrival. */
  id: number;
  receivedAt: string;
  from: string;
  to: string[];
  subject: string;
  text: string;
  /** The HTML part as it was sent: not to be trusted. Empty when there was none. */
  html: string;
  /** Names in lower case. */
  headers: Record<string, string>;
}

export interface MailCatcher {
  smtpUrl: string;
  webUrl: string;
  /** What arrived, oldest first, at most the 200 newest. */
  messages(): CaughtMail[];
  stop(): Promise<void>;
}

/**
 * A mail server for development: takes every message, delivers none, and shows them on a page.
 * Only on the loopback, in memory, bounded.
 */
export async function startMailCatcher(
  options: { smtpPort?: number; httpPort?: number } = {},
): Promise<MailCatcher> {
  const caught: CaughtMail[] = [];
  const smtp = createSmtpServer(caught);
  await listen(smtp.server, options.smtpPort ?? 0);
  const web = createServer((request, response) => respond(caught, request, response));
  try {
    await listen(web, options.httpPort ?? 0);
  } catch (error) {
    await new Promise<void>((resolve) => smtp.close(resolve));
    throw error;
  }
  return {
    smtpUrl: `smtp://${LOOPBACK}:${portOf(smtp.server)}`,
    webUrl: `http://${LOOPBACK}:${portOf(web)}`,
    messages: () => [...caught],
    async stop() {
      web.closeAllConnections();
      await Promise.all([
        new Promise<void>((resolve) => web.close(() => resolve())),
        new Promise<void>((resolve) => smtp.close(() => resolve())),
      ]);
    },
  };
}

function createSmtpServer(caught: CaughtMail[]): SMTPServer {
  let lastId = 0;
  const server = new SMTPServer({
    // A development server has no certificate and no accounts to check.
    disabledCommands: ['STARTTLS', 'AUTH'],
    size: MAX_MESSAGE_BYTES,
    disableReverseLookup: true,
    logger: false,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      let bytes = 0;
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        // The rest is read and dropped: the sender hears of it only after its last byte.
        if (bytes <= MAX_MESSAGE_BYTES) chunks.push(chunk);
      });
      stream.on('end', () => {
        if (bytes > MAX_MESSAGE_BYTES) {
          done(Object.assign(new Error('Message too large'), { responseCode: 552 }));
          return;
        }
        simpleParser(Buffer.concat(chunks)).then((mail) => {
          const recipients = session.envelope.rcptTo.map((recipient) => recipient.address);
          lastId++;
          caught.push(describeMail(lastId, mail, recipients));
          if (caught.length > MAX_MESSAGES) caught.shift();
          done();
        }, done);
      });
    },
  });
  // A client that hangs up in the middle is its own affair.
  server.on('error', () => {});
  return server;
}

function describeMail(id: number, mail: ParsedMail, recipients: string[]): CaughtMail {
  return {
    id,
    receivedAt: new Date().toISOString(),
    from: mail.from?.text ?? '',
    to: recipients,
    subject: mail.subject ?? '',
    text: mail.text ?? '',
    html: mail.html || '',
    headers: Object.fromEntries(
      mail.headerLines.map(({ key, line }) => [key, line.slice(line.indexOf(':') + 1).trim()]),
    ),
  };
}

function respond(caught: CaughtMail[], request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? '/', 'http://mail.invalid');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    send(response, 405, 'text/plain', 'Only GET.\n');
  } else if (pathname === '/') {
    send(response, 200, 'text/html', page(caught));
  } else if (pathname === '/messages') {
    send(response, 200, 'application/json', JSON.stringify([...caught].reverse(), null, 2));
  } else {
    send(response, 404, 'text/plain', 'There is / and /messages.\n');
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'content-type': `${type}; charset=utf-8`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // Mail may hold anything: no scripts, nothing fetched from elsewhere.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
  });
  response.end(body);
}

function page(caught: CaughtMail[]): string {
  const newestFirst = [...caught].reverse();
  const list = newestFirst.map(article).join('\n') || '<p>No mail yet.</p>';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mail (${caught.length})</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem }
  article { border-top: 1px solid #ccc; padding: 1rem 0 }
  h2 { font-size: 1.1rem; margin: 0 }
  p { margin: 0; color: #555 }
  pre { white-space: pre-wrap; overflow-wrap: anywhere }
  iframe { width: 100%; height: 20rem; border: 1px solid #ccc; background: #fff }
</style>
</head>
<body>
<h1>Caught mail</h1>
<p>The newest ${MAX_MESSAGES} messages, kept in memory. Reload to look again.
<a href="/messages">As JSON</a></p>
${list}
</body>
</html>
`;
}

function article(mail: CaughtMail): string {
  const html = mail.html
    ? `<details><summary>HTML</summary>
<iframe sandbox title="Message ${mail.id}" srcdoc="${escapeHtml(mail.html)}"></iframe></details>`
    : '';
  return `<article id="message-${mail.id}">
<h2>${escapeHtml(mail.subject || '(no subject)')}</h2>
<p>From ${escapeHtml(mail.from)} to ${escapeHtml(mail.to.join(', '))}, ${mail.receivedAt}</p>
<pre>${escapeHtml(mail.text)}</pre>
${html}
</article>`;
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: LOOPBACK, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function portOf(server: { address(): string | AddressInfo | null }): number {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}
