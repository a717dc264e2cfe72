/** Postgres quotes whole rows and values in these, and a row may hold a hash or a text of a person. */
interface DatabaseFailure extends Error {
  code?: string;
  schema?: string;
  table?: string;
  constraint?: string;
}

interface LoggedError {
  type: string;
  message: string;
  stack: string;
  [more: string]: unknown;
}

/** An error for the log: what and where in the program, nothing of the data it happened to. */
export function logError(error: unknown): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error), stack: '' };
  const { name, message, stack = '', code, schema, table, constraint } = error as DatabaseFailure;
  return {
    type: name,
    message,
    stack,
    code,
    table: table && `${schema}.${table}`,
    constraint,
    cause: error.cause instanceof Error ? logError(error.cause) : undefined,
  };
}
