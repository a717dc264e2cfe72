/** An answer that is not a success, thrown from anywhere below a route. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    more: { hint?: string; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.name = 'Problem';
    this.status = status;
    this.code = code;
    this.hint = more.hint;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}

export function notFound(): Problem {
  return new Problem(404, 'not_found', 'There is nothing here, or it is not yours to see.');
}

export function signInRequired(): Problem {
  return new Problem(401, 'unauthenticated', 'Sign in first.', {
    hint: 'Send "Authorization: Bearer <token>" with the token of POST /api/login.',
  });
}
