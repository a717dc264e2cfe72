import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';

const REFUSALS: Record<string, { status: string; code: string; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'headers_too_large',
    message: 'The headers of the request are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'request_timeout',
    message: 'The request did not arrive in time.',
  },
};

const BAD_REQUEST = {
  status: '400 Bad Request',
  code: 'invalid_request',
  message: 'That is not an HTTP request this server can read.',
};

/** Answers what the HTTP parser could not read, in the shape of every other failure. */
export function refuseClient(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, code, message } = REFUSALS[error.code ?? ''] ?? BAD_REQUEST;
  const body = JSON.stringify({ success: false, error: code, message, requestId: randomUUID() });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
