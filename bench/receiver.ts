/**
 * The other end of the deliver figures, a process of its own: answers 204 to everything, and says
 * by IPC when as many requests have come as it was told to wait for.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the parent asks for. */
export interface Expectation {
  requests: number;
}

/** `port` once, at the start; then one `arrived` per expectation. */
export type ReceiverMessage =
  | { port: number }
  | { arrived: { firstAt: number; lastAt: number; problems: string[] } };

const say = (message: ReceiverMessage) => process.send?.(message);

let expected = Number.POSITIVE_INFINITY;
let count = 0;
let firstAt = 0;
let problems: string[] = [];
/** The newest position of each path: every one of ours must be the next. */
const positions = new Map<string, number>();

const server = http.createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(204).end();
    count += 1;
    if (count === 1) firstAt = Date.now();
    checkPosition(request);
    if (count === expected) {
      say({ arrived: { firstAt, lastAt: Date.now(), problems } });
    }
  });
});

function checkPosition(request: http.IncomingMessage): void {
  const path = request.url ?? '';
  const position = Number(request.headers['x-codex-position']);
  const before = positions.get(path) ?? 0;
  if (position !== before + 1) problems.push(`${path}: ${position} came after ${before}`);
  positions.set(path, position);
}

process.on('message', ({ requests }: Expectation) => {
  count = 0;
  problems = [];
  expected = requests;
});
process.on('disconnect', () => process.exit());

server.listen(0, '127.0.0.1', () => say({ port: (server.address() as AddressInfo).port }));
