/** Why the server ends a connection. */
export type EndReason = 'too-many' | 'session-ended' | 'stopping';

/** What a client is sent, as docs/live-push.md has it. */
export interface Frame {
  type: string;
  /** What everything sent so far adds up to: where a client comes back to. */
  cursor: string | undefined;
}

/** The way to one client: a socket or an event stream. */
export interface Channel {
  readonly kind: 'socket' | 'stream';
  /** Resolves when the frame has left this process, or will not. A client that does not read is dropped. */
  send(frame: Frame): Promise<void>;
  /** Shows the other side, and what is between, that this one is there; finds out who is gone. */
  ping(): void;
  /** Says why, and ends. */
  end(reason: EndReason): void;
  /** Ends without a word. */
  drop(): void;
}

/** A client that lets more than this wait is not reading. */
export const MOST_BUFFERED_BYTES = 1024 * 1024;
