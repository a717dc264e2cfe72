import http from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { hostnameOf } from '../../outgoing/hostnames.ts';

/** What came of one attempt. The receiver's body is never part of it. */
type Answer = { status: number } | { error: string };

interface Outgoing {
  url: URL;
  /** The addresses the guard approved a moment ago; no other is connected to. */
  addresses: readonly string[];
  headers: Record<string, string>;
  body: Buffer;
}

/** From the first connect to the status line. */
export const SEND_TIMEOUT_MS = 10_000;
const MAX_ERROR_CODE_POINTS = 255;

/** A body up to this size is thrown away as it comes, so that the connection can be used again. */
const MAX_DISCARDED_BYTES = 16 * 1024;
const MAX_DISCARD_MS = 1_000;
const MAX_HEADER_BYTES = 16 * 1024;
/** Many receivers may be one host: as many as there are sends in flight. */
const MAX_FREE_SOCKETS = 64;
/** Below the five seconds after which many servers close an idle connection. */
const IDLE_SOCKET_MS = 4_000;
const MAX_ADDRESSES_TRIED = 4;
/** Answers like 103 that only announce one; there may be a few, not a flood. */
const MAX_INTERIM_ANSWERS = 16;

/** Sends POST requests over kept-alive connections. One per process. */
export class Sender {
  readonly #timeoutMs: number;
  readonly #agents: { 'http:': http.Agent; 'https:': https.Agent };
  readonly #stopped = new AbortController();

  constructor(timeoutMs: number = SEND_TIMEOUT_MS) {
    this.#timeoutMs = timeoutMs;
    const keptAlive = {
      keepAlive: true,
      maxFreeSockets: MAX_FREE_SOCKETS,
      timeout: IDLE_SOCKET_MS,
    };
    this.#agents = { 'http:': new http.Agent(keptAlive), 'https:': new https.Agent(keptAlive) };
  }

  /** True once `close` has cut off the sends: their results mean nothing. */
  get isClosed(): boolean {
    return this.#stopped.signal.aborted;
  }

  /** Never throws and never takes longer than the time limit. Redirects are not followed. */
  async post(outgoing: Outgoing): Promise<Answer> {
    const deadline = performance.now() + this.#timeoutMs;
    const addresses = outgoing.addresses.slice(0, MAX_ADDRESSES_TRIED);
    let answer: Answer = { error: 'There is no address to connect to.' };
    for (const [index, address] of addresses.entries()) {
      const left = deadline - performance.now();
      if (left <= 0) break;
      // A host that swallows packets on its first address must leave time for the others.
      const connectMs = left / (addresses.length - index);
      const attempt = await this.#attempt(outgoing, address, deadline, connectMs);
      answer = attempt.answer;
      if (!attempt.mayTryNext) break;
    }
    return answer;
  }

  /** Cuts off what is in flight and closes every connection. */
  close(): void {
    this.#stopped.abort();
    this.#agents['http:'].destroy();
    this.#agents['https:'].destroy();
  }

  async #attempt(
    outgoing: Outgoing,
    address: string,
    deadline: number,
    connectMs: number,
  ): Promise<Attempt> {
    const first = await this.#request(outgoing, address, deadline, connectMs, true);
    if (!first.wasStale) return first;
    // The receiver closed a kept-alive connection just as it was used: once more on a fresh one.
    return this.#request(outgoing, address, deadline, connectMs, false);
  }

  /**
   * The address is given to the connect itself, as a literal: there is no second look-up that
   * could answer differently, and the agent's pool is keyed by it, so a kept-alive connection is
   * used only while its address is among those approved. With TLS it is keyed by the servername as
   * well: two hosts on one address never share a connection.
   */
  #request(
    outgoing: Outgoing,
    address: string,
    deadline: number,
    connectMs: number,
    mayReuse: boolean,
  ): Promise<Attempt> {
    const { url } = outgoing;
    const isSecure = url.protocol === 'https:';
    const hostname = hostnameOf(url);
    const options: https.RequestOptions = {
      method: 'POST',
      host: address,
      port: url.port || undefined,
      path: `${url.pathname}${url.search}`,
      headers: { Host: url.host, ...outgoing.headers },
      agent: mayReuse ? this.#agents[isSecure ? 'https:' : 'http:'] : false,
      maxHeaderSize: MAX_HEADER_BYTES,
      servername: isIP(hostname) ? '' : hostname,
      signal: this.#stopped.signal,
    };
    return new Promise((resolve) => {
      try {
        const request = isSecure ? https.request(options) : http.request(options);
        const attempt = new RequestWatch(request, this.#timeoutMs, resolve);
        attempt.watch(address, Math.max(1, deadline - performance.now()), connectMs);
        request.end(outgoing.body);
      } catch (error) {
        // What Node refuses to put into a request at all.
        const answer = { error: sendError(error as NodeJS.ErrnoException) };
        resolve({ answer, mayTryNext: false, wasStale: false });
      }
    });
  }
}

interface Attempt {
  answer: Answer;
  /** Nothing was sent, so another approved address may be tried. */
  mayTryNext: boolean;
  /** A reused connection was reset before any answer. */
  wasStale: boolean;
}

/** Turns the events of one request into exactly one result. */
class RequestWatch {
  readonly #request: http.ClientRequest;
  readonly #limitMs: number;
  readonly #resolve: (attempt: Attempt) => void;
  #isConnected = false;
  #isDone = false;
  #timers: NodeJS.Timeout[] = [];

  constructor(request: http.ClientRequest, limitMs: number, resolve: (attempt: Attempt) => void) {
    this.#request = request;
    this.#limitMs = limitMs;
    this.#resolve = resolve;
  }

  watch(address: string, totalMs: number, connectMs: number): void {
    const request = this.#request;
    this.#timers = [
      setTimeout(() => this.#timeOut(), totalMs),
      setTimeout(() => {
        if (!this.#isConnected) this.#timeOut();
      }, connectMs),
    ];
    request.on('socket', (socket) => {
      const onConnected = () => {
        this.#isConnected = true;
      };
      // Both are told before anything of the request is written.
      if (request.reusedSocket) {
        if (this.#isApproved(socket, address)) onConnected();
        return;
      }
      socket.once('connect', () => {
        if (this.#isApproved(socket, address) && !('encrypted' in socket)) onConnected();
      });
      if ('encrypted' in socket) socket.once('secureConnect', onConnected);
    });
    let interimAnswers = 0;
    request.on('information', () => {
      interimAnswers += 1;
      if (interimAnswers <= MAX_INTERIM_ANSWERS) return;
      this.#finish({ error: 'Interim answers without end.' });
      request.destroy();
    });
    request.on('response', (response) => {
      letGo(response);
      this.#finish({ status: response.statusCode ?? 0 });
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isReset = error.code === 'ECONNRESET' || error.code === 'EPIPE';
      this.#finish({ error: sendError(error) }, request.reusedSocket && isReset);
    });
    // A 101 that nobody asked for ends the request without an error.
    request.on('close', () => this.#finish({ error: 'The connection closed without an answer.' }));
  }

  /** Whether the other end is the address that was meant; if not, the connection is dropped. */
  #isApproved(socket: Socket, address: string): boolean {
    const connectedTo = socket.remoteAddress ?? 'nowhere';
    if (isSameAddress(connectedTo, address)) return true;
    this.#finish({ error: `The connection went to ${connectedTo}, which was not approved.` });
    socket.destroy();
    return false;
  }

  #timeOut(): void {
    const seconds = this.#limitMs / 1000;
    this.#finish({ error: `No answer within ${seconds} seconds (ETIMEDOUT).` });
    this.#request.destroy();
  }

  #finish(answer: Answer, wasStale = false): void {
    if (this.#isDone) return;
    this.#isDone = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#resolve({ answer, mayTryNext: !this.#isConnected && 'error' in answer, wasStale });
  }
}

/** An IPv4 address may be written as an IPv6 one, and IPv6 in more than one way. */
function isSameAddress(left: string, right: string): boolean {
  if (left === right) return true;
  if (!ipaddr.isValid(left) || !ipaddr.isValid(right)) return false;
  return ipaddr.process(left).toString() === ipaddr.process(right).toString();
}

/**
 * Nothing behind the status matters. A small body is discarded as it arrives, which frees the
 * connection for the next send; anything bigger or slower is cut off.
 */
function letGo(response: http.IncomingMessage): void {
  let discarded = 0;
  const timer = setTimeout(() => response.destroy(), MAX_DISCARD_MS);
  timer.unref();
  response.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > MAX_DISCARDED_BYTES) response.destroy();
  });
  response.on('error', () => {});
  response.on('close', () => clearTimeout(timer));
}

function sendError(error: NodeJS.ErrnoException): string {
  const code = error.code ?? 'error';
  if (code.startsWith('HPE_')) return `The answer is not valid HTTP (${code}).`;
  const text = error.message.includes(code) ? error.message : `${error.message} (${code})`;
  return shorten(text);
}

/** At most 255 code points; a surrogate pair is never split. Postgres stores no NUL. */
export function shorten(text: string): string {
  const points = Array.from(text.replaceAll('\0', ''));
  if (points.length <= MAX_ERROR_CODE_POINTS) return points.join('');
  return `${points.slice(0, MAX_ERROR_CODE_POINTS - 1).join('')}…`;
}
