import { z } from 'zod';

/** The limits of the tables, so that a request is refused with a sentence before it reaches SQL. */
export const LIMITS = {
  nameCodePoints: 255,
  htmlCodePoints: 1_000_000,
  commentCodePoints: 20_000,
  emailCharacters: 320,
  passwordCharacters: 1_000,
  tokenCharacters: 200,
  codeCharacters: 40,
  resourceKeyCharacters: 200,
  notificationPage: { default: 30, most: 50 },
  page: { default: 100, most: 500 },
} as const;

/** Refuses control characters, NUL among them, and halves of surrogate pairs. */
const ONE_LINE = /^[^\p{Cc}\p{Surrogate}]*$/u;
/** The same, but a line may break and a tab may stand. */
const MANY_LINES = /^(?:[^\p{Cc}\p{Surrogate}]|[\t\n\r])*$/u;

const MOST_DIGITS = 16;

function fits(text: string, codePoints: number): boolean {
  // A code point is one or two units, so counting is only needed in between.
  if (text.length <= codePoints) return true;
  if (text.length > 2 * codePoints) return false;
  let count = 0;
  for (const _point of text) count += 1;
  return count <= codePoints;
}

function text(codePoints: number, form: RegExp, formMessage: string) {
  return z
    .string()
    .refine((value) => fits(value, codePoints), `is longer than ${codePoints} characters`)
    .regex(form, formMessage);
}

/** A title or a name: one line, not blank. */
export const name = text(LIMITS.nameCodePoints, ONE_LINE, 'must be one line of plain characters')
  .refine((value) => value.trim() !== '', 'must not be blank')
  .meta({ minLength: 1, maxLength: LIMITS.nameCodePoints });

export const html = text(
  LIMITS.htmlCodePoints,
  MANY_LINES,
  'must not hold control characters',
).meta({ maxLength: LIMITS.htmlCodePoints });

export const commentBody = text(
  LIMITS.commentCodePoints,
  MANY_LINES,
  'must not hold control characters',
)
  .refine((value) => value.trim() !== '', 'must not be blank')
  .meta({ minLength: 1, maxLength: LIMITS.commentCodePoints });

export const email = z
  .string()
  .min(3)
  .max(LIMITS.emailCharacters)
  .regex(ONE_LINE, 'must be one line of plain characters');

/** An address that letters will go to: one of the ordinary kind, which needs no quotes. */
export const newEmail = email.regex(
  /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+$/u,
  'must be an e-mail address',
);

/** As it is typed; only a new one has to be a good one. */
export const password = z.string().min(1).max(LIMITS.passwordCharacters);

/** One of ours, out of a link or an answer. */
export const token = z
  .string()
  .min(1)
  .max(LIMITS.tokenCharacters)
  .regex(/^[A-Za-z0-9_-]+$/, 'is no token of ours');

/** A code somebody has read and typed. */
export const code = z
  .string()
  .min(1)
  .max(LIMITS.codeCharacters)
  .regex(/^[A-Za-z0-9 -]+$/, 'is letters and digits');

/** An id in a body. */
export const id = z.int().positive().describe('A whole number from 1 to 2^53 - 1');

const ID_MESSAGE = 'must be a whole number from 1 to 2^53 - 1';

/** An id in a path or a query. */
export const idText = z
  .string()
  .regex(/^[1-9][0-9]*$/, ID_MESSAGE)
  .max(MOST_DIGITS, ID_MESSAGE)
  .transform(Number)
  .refine(Number.isSafeInteger, ID_MESSAGE);

/** How many items at most; a number outside the bounds means the nearest bound. */
export function pageSize(bounds: { default: number; most: number }) {
  return z
    .string()
    .regex(/^-?[0-9]{1,100}$/, 'must be a whole number')
    .optional()
    .transform((value) =>
      value === undefined ? bounds.default : Math.min(Math.max(Number(value), 1), bounds.most),
    )
    .describe(`1 to ${bounds.most}; ${bounds.default} when left out`);
}

export const cursor = z
  .string()
  .regex(ONE_LINE)
  .optional()
  .describe('The nextCursor of the page before');

/** Lists by id continue after the id their cursor holds. */
export const idCursor = idText.optional().describe('The nextCursor of the page before');

const resourceKey = z
  .string()
  .min(1)
  .max(LIMITS.resourceKeyCharacters)
  .regex(ONE_LINE, 'must be one line of plain characters');

export const resourceType = resourceKey.describe('log, archive, squad, …');

/** The host's own key: text on the wire, a number is taken as its digits. */
export const resourceId = z.union([resourceKey, id.transform(String)]);
export const resourceIdText = resourceKey;

export const flagText = z
  .enum(['true', 'false'])
  .optional()
  .transform((value) => value === 'true');

/** One word out of `words`, with the words in the message. */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, `must be one of ${words.join(', ')}`);
}

/* Answers. */

export const success = z.literal(true);
export const outId = z.int();
export const outIdOrNull = z.int().nullable();
export const time = z.string().meta({ format: 'date-time' });
export const timeOrNull = time.nullable();
export const nextCursor = z.string().nullable().describe('null on the last page');

export const failure = z
  .object({
    success: z.literal(false),
    error: z.string().describe('A code a program can act on'),
    message: z.string().describe('A sentence for a person'),
    hint: z.string().optional().describe('What to do instead'),
    requestId: z.string(),
  })
  .describe('What went wrong');

/** Every route may answer these. */
export const failures = { '4xx': failure, '5xx': failure } as const;

export const done = z.object({ success });

export const actor = z
  .object({ id: outId, name: z.string(), avatarUrl: z.string().nullable() })
  .nullable();

/** SQL returns the actor in three columns; the wire has one object. */
export function actorOf(row: ActorColumns): z.infer<typeof actor> {
  if (row.actorId === null) return null;
  return { id: row.actorId, name: row.actorName ?? '', avatarUrl: row.actorAvatarUrl };
}

export interface ActorColumns {
  actorId: number | null;
  actorName: string | null;
  actorAvatarUrl: string | null;
}
