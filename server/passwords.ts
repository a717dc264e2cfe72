import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { Problem } from './problem.ts';

/** The work of argon2id (RFC 9106). */
export interface PasswordCost {
  memoryKib: number;
  iterations: number;
  parallelism: number;
}

/** OWASP's first recommendation. */
export const DEFAULT_COST: PasswordCost = { memoryKib: 19_456, iterations: 2, parallelism: 1 };

/** NIST SP 800-63B: a length, no rules of composition, and nothing that is guessed first. */
const LEAST_CODE_POINTS = 8;
const MOST_CODE_POINTS = 256;
const LEAST_DIFFERENT = 4;
const PHC_COST = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$/;

/** What is guessed first among passwords long enough: of every published list. */
const COMMON = new Set(
  `password password1 password12 password123 password1234 passw0rd p@ssw0rd p@ssword 12345678
   123456789 1234567890 0123456789 987654321 9876543210 qwertyui qwertyuiop qwerty123 qwerty1234
   1q2w3e4r 1q2w3e4r5t 1qaz2wsx qazwsxedc asdfghjkl abcdefgh abcd1234 abc12345 iloveyou iloveyou1
   sunshine princess football baseball superman starwars trustno1 whatever computer michelle
   jennifer corvette internet welcome1 welcome123 letmein1 letmein123 changeme changeme1 changeme123
   admin123 admin1234 administrator bellwire bellwire1 dragon123 monkey123 football1 baseball1
   charlie1 liverpool chocolate passwort passwort1 motdepasse contraseña`.split(/\s+/),
);

/** argon2id, the library's default, with the cost of the configuration. */
export function hashPassword(password: string, cost = DEFAULT_COST): Promise<string> {
  return hash(normalize(password), {
    memoryCost: cost.memoryKib,
    timeCost: cost.iterations,
    parallelism: cost.parallelism,
  });
}

/** The passwords of one server process: every one is hashed and verified here. */
export class Passwords {
  readonly #cost: PasswordCost;
  #unusedHash: Promise<string> | undefined;
  #verifications = 0;

  constructor(cost: PasswordCost = DEFAULT_COST) {
    this.#cost = cost;
  }

  /** How many times a password was verified: the work that an answer has cost. */
  get verifications(): number {
    return this.#verifications;
  }

  hash(password: string): Promise<string> {
    return hashPassword(password, this.#cost);
  }

  /**
   * Whether the password is the one. Without a hash (an unknown person, or one without a password)
   * the same work is done against a hash nobody knows the password of, so that the time of the
   * answer does not tell who exists.
   */
  async verify(passwordHash: string | null | undefined, password: string): Promise<boolean> {
    // The first call makes it, whoever is asked for.
    this.#unusedHash ??= this.hash(randomBytes(32).toString('base64url'));
    const unusedHash = await this.#unusedHash;
    const stored = passwordHash ?? unusedHash;
    for (const candidate of spellings(password)) {
      this.#verifications += 1;
      if (await verify(stored, candidate)) return typeof passwordHash === 'string';
    }
    return false;
  }

  /** Whether a hash was made with less work than is asked for now. */
  isWeak(passwordHash: string): boolean {
    const [, memory, iterations, lanes] = PHC_COST.exec(passwordHash) ?? [];
    return (
      Number(memory) < this.#cost.memoryKib ||
      Number(iterations) < this.#cost.iterations ||
      Number(lanes) < this.#cost.parallelism
    );
  }
}

/**
 * Refuses a new password that is among the first anybody would try.
 * @throws Problem 400 weak_password
 */
export function refuseWeakPassword(
  password: string,
  person: { name: string; email: string },
): void {
  const typed = normalize(password);
  const codePoints = [...typed];
  if (codePoints.length < LEAST_CODE_POINTS) throw weak(`has less than ${LEAST_CODE_POINTS}`);
  if (codePoints.length > MOST_CODE_POINTS) throw weak(`has more than ${MOST_CODE_POINTS}`);
  const folded = typed.toLowerCase();
  const theirs = [person.email, person.email.split('@', 1)[0] ?? '', person.name].map((text) =>
    normalize(text).toLowerCase(),
  );
  if (theirs.includes(folded) || theirs.includes(folded.replace(/\d+$/, ''))) {
    throw new Problem(400, 'weak_password', 'The password is your name or address.', { hint });
  }
  if (COMMON.has(folded) || new Set(codePoints).size < LEAST_DIFFERENT) {
    throw new Problem(400, 'weak_password', 'The password is among those tried first.', { hint });
  }
}

const hint = 'Several words that do not belong together make a good one.';

function weak(what: string): Problem {
  return new Problem(400, 'weak_password', `The password ${what} characters.`, { hint });
}

/** The same password typed on two keyboards may be two sequences of code points (NFKC, RFC 8265). */
function normalize(password: string): string {
  return password.normalize('NFKC');
}

/** Hashes from before passwords were normalised are of what was typed. */
function spellings(password: string): string[] {
  return [...new Set([normalize(password), password])];
}
