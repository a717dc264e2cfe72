import pg from 'pg';
import { Problem } from './problem.ts';

/** What a SQLSTATE, or a class of them, means to a client. */
interface Answer {
  status: number;
  code: string;
  message: string;
  retryAfterSeconds?: number;
}

const INVALID: Answer = {
  status: 400,
  code: 'invalid_request',
  message: 'A value in the request is not acceptable.',
};
const CONFLICT: Answer = {
  status: 409,
  code: 'conflict',
  message: 'That conflicts with something that already exists, or that still depends on it.',
};
const TRY_AGAIN: Answer = {
  status: 503,
  code: 'try_again',
  message: 'Somebody else was changing the same thing. Try again.',
  retryAfterSeconds: 1,
};
const UNAVAILABLE: Answer = {
  status: 503,
  code: 'unavailable',
  message: 'The database does not answer at the moment. Nothing was changed; try again soon.',
  retryAfterSeconds: 2,
};
const INTERNAL: Answer = {
  status: 500,
  code: 'internal',
  message: 'Something went wrong on our side.',
};

/** The one table from SQLSTATE to answer; see docs/errors.md. */
const BY_STATE: Record<string, Answer> = {
  '42501': { status: 403, code: 'forbidden', message: 'You may not do that.' },
  P0002: {
    status: 404,
    code: 'not_found',
    message: 'There is nothing here, or it is not yours to see.',
  },
  '23505': CONFLICT,
  '23503': CONFLICT,
  '22023': INVALID,
  '22021': INVALID,
  '22P05': INVALID,
  '22P02': INVALID,
  '22003': INVALID,
  '22001': INVALID,
  '22008': INVALID,
  '23514': INVALID,
  '23502': INVALID,
  '54000': INVALID,
  '40001': TRY_AGAIN,
  '40P01': TRY_AGAIN,
  '55P03': TRY_AGAIN,
  '57014': {
    status: 503,
    code: 'timeout',
    message: 'That took too long and was stopped. Nothing was changed.',
    retryAfterSeconds: 2,
  },
  // Ended by the server for waiting inside a transaction: the connection is gone.
  '25P03': UNAVAILABLE,
  '25P04': UNAVAILABLE,
};

/** Classes whose every member means that the database, not the request, is at fault. */
const UNAVAILABLE_CLASSES = ['08', '53', '57', '58'];

const LOST_CONNECTION_STATES = ['57P01', '57P02', '57P03', '57P05', '25P03', '25P04'];

/** Node's names for a connection that cannot be made or is gone. */
const LOST_CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);

/** The driver's errors of the same meaning, which carry no code. */
const LOST_CONNECTION_MESSAGES =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|Query read timeout|Cannot use a pool after)/;

/** Whether the connection an error came from is of no further use. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    const state = error.code ?? '';
    return state.startsWith('08') || LOST_CONNECTION_STATES.includes(state);
  }
  if (error instanceof AggregateError) return error.errors.some(isConnectionLost);
  if (!(error instanceof Error)) return false;
  const code = (error as NodeJS.ErrnoException).code;
  return (
    (code !== undefined && LOST_CONNECTION_CODES.has(code)) ||
    LOST_CONNECTION_MESSAGES.test(error.message)
  );
}

/** The answer for anything a database call threw, or undefined when it came from elsewhere. */
export function databaseProblem(error: unknown): Problem | undefined {
  if (error instanceof pg.DatabaseError) return fromDatabase(error);
  if (isConnectionLost(error)) return toProblem(UNAVAILABLE, error);
  return undefined;
}

function fromDatabase(error: pg.DatabaseError): Problem {
  const state = error.code ?? '';
  // Only what our own functions raise is written for people; the rest is the driver's text.
  const isRaised = error.routine === 'exec_stmt_raise';
  // 28xxx raised by a function is a caller who is not signed in; from the server itself it is our
  // own login that was refused, which no client can do anything about.
  if (state.startsWith('28') && isRaised) {
    return new Problem(401, 'unauthenticated', error.message, more(error, true));
  }
  const answer = BY_STATE[state] ?? (isUnavailable(state) ? UNAVAILABLE : INTERNAL);
  const isShown = isRaised && answer.status < 500;
  const code = isShown ? (namedCode(error) ?? answer.code) : answer.code;
  return new Problem(answer.status, code, isShown ? error.message : answer.message, {
    ...more(error, isShown),
    retryAfterSeconds: answer.retryAfterSeconds,
  });
}

function isUnavailable(state: string): boolean {
  return state.startsWith('28') || UNAVAILABLE_CLASSES.includes(state.slice(0, 2));
}

/** Functions put a more precise code than that of the SQLSTATE into the error's detail. */
function namedCode(error: pg.DatabaseError): string | undefined {
  return error.detail && /^[a-z][a-z0-9_]{2,63}$/.test(error.detail) ? error.detail : undefined;
}

function more(error: pg.DatabaseError, isShown: boolean) {
  return { hint: isShown ? error.hint : undefined, cause: error };
}

function toProblem(answer: Answer, cause: unknown): Problem {
  return new Problem(answer.status, answer.code, answer.message, {
    retryAfterSeconds: answer.retryAfterSeconds,
    cause,
  });
}
