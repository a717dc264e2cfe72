/** The part of a pino-style logger the worker uses: fields first, then a short message. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const MAX_ERROR_LENGTH = 500;

/** One JSON object a line on standard output; debug lines are left out. */
export function lineLogger(write: (line: string) => void = defaultWrite): Logger {
  const log = (level: string) => (fields: object, message: string) => {
    write(JSON.stringify({ time: new Date().toISOString(), level, ...fields, message }));
  };
  return { debug: () => {}, info: log('info'), warn: log('warn'), error: log('error') };
}

function defaultWrite(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * An error as one line for a log: code and message, without a stack and without the user and
 * password of any URL it quotes.
 */
export function describeError(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = code && !message.includes(code) ? `${code}: ${message}` : message;
  return text
    .replace(/\/\/[^/\s]*@/g, '//***@')
    .replace(/\s+/g, ' ')
    .slice(0, MAX_ERROR_LENGTH);
}
