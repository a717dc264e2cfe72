import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type Channel, type Frame, MOST_BUFFERED_BYTES } from './channel.ts';

/** How long a browser waits before it comes back. */
const RETRY_MS = 2_000;
/** What is still to be sent at the end gets this long. */
const END_GRACE_MS = 1_000;

/** What makes a stream of a response: nothing between may keep, join or pack its events. */
const HEADERS: OutgoingHttpHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  // Nothing can follow on this connection, and a server that stops must not wait for it.
  connection: 'close',
};

/** Server-sent events: one event per frame, with the cursor as its id. */
export class StreamChannel implements Channel {
  readonly kind = 'stream';
  readonly #response: ServerResponse;
  #isEnded = false;
  /** Whether something was still waiting at the last heartbeat. */
  #wasWaiting = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('error', () => {});
  }

  /** Sends the headers. Until then the request may still be answered otherwise. */
  begin(headers: OutgoingHttpHeaders): void {
    if (this.#response.destroyed) return;
    this.#response.writeHead(200, { ...headers, ...HEADERS });
    this.#response.write(`retry: ${RETRY_MS}\n\n`);
    // The session may have ended while the start was looked up.
    if (this.#isEnded) this.#finish();
  }

  async send(frame: Frame): Promise<void> {
    const id = frame.cursor === undefined ? '' : `id: ${frame.cursor}\n`;
    await this.#write(`event: ${frame.type}\n${id}data: ${JSON.stringify(frame)}\n\n`);
  }

  /**
   * A comment, so that proxies do not take the connection for dead. There is no answer to it: who
   * has not taken everything from one to the next is gone, or too slow to keep.
   */
  ping(): void {
    const isWaiting = this.#response.writableLength > 0;
    if (isWaiting && this.#wasWaiting) {
      this.drop();
      return;
    }
    this.#wasWaiting = isWaiting;
    void this.#write(':\n\n');
  }

  /** A browser comes back by itself, with its last id, and is then told why if it may not. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#response.headersSent) this.#finish();
  }

  drop(): void {
    this.#response.destroy();
  }

  #finish(): void {
    this.#response.end();
    setTimeout(() => this.drop(), END_GRACE_MS).unref();
  }

  async #write(text: string): Promise<void> {
    if (this.#isEnded || this.#response.destroyed || !this.#response.headersSent) return;
    if (this.#response.writableLength > MOST_BUFFERED_BYTES) {
      this.drop();
      return;
    }
    await new Promise<void>((resolve) => {
      this.#response.write(text, () => resolve());
    });
  }
}
