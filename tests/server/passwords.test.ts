import t from 'tap';
import {
  DEFAULT_COST,
  hashPassword,
  Passwords,
  refuseWeakPassword,
} from '../../server/passwords.ts';

const PERSON = { name: 'Olga Owner', email: 'olga.owner@example.org' };
/** Enough to see whether it is kept to. */
const CHEAP = { memoryKib: 64, iterations: 1, parallelism: 1 };

t.test('what is refused as a new password, and what is not', async (t) => {
  const isRefused = (password: string) => {
    try {
      refuseWeakPassword(password, PERSON);
      return false;
    } catch (error) {
      t.match(error, { status: 400, code: 'weak_password' }, password.slice(0, 20));
      return true;
    }
  };
  for (const bad of [
    '',
    '1234567',
    'ä'.repeat(7),
    'ﬃﬃ',
    'x'.repeat(257),
    'password',
    'PASSWORD123',
    'aaaaaaaa',
    'abababab',
    'Olga Owner',
    'olga.owner',
    'OLGA.OWNER@example.org',
    'olga owner1999',
  ]) {
    t.ok(isRefused(bad), bad.slice(0, 20));
  }
  for (const good of [
    'tea harbour',
    'ﬃﬃﬃabc',
    'пароль1234',
    '🛟🚢⚓️🐟🦀🐙🐳🦑',
    'olga owner likes tea',
    '0 spaces, no rules',
    'abc'.repeat(85).concat('d'),
  ]) {
    t.notOk(isRefused(good), good.slice(0, 20));
  }
});

t.test('one password, however it is typed', async (t) => {
  const passwords = new Passwords(CHEAP);
  const composed = 'gr\u00fcn \uff54ea \u212b';
  const decomposed = 'gru\u0308n tea A\u030a';
  const hash = await passwords.hash(composed);
  t.equal(await passwords.verify(hash, decomposed), true);
  t.equal(await passwords.verify(hash, 'grun tea A'), false);
  // A hash from before: of what was typed, in no normal form.
  const { hash: rawHash } = await import('@node-rs/argon2');
  const old = await rawHash(decomposed, { memoryCost: 64, timeCost: 1 });
  t.equal(await passwords.verify(old, decomposed), true);
});

t.test('the work is that of the configuration, and a verification is always done', async (t) => {
  t.match(await hashPassword('x'), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  const passwords = new Passwords({ memoryKib: 128, iterations: 3, parallelism: 2 });
  t.match(await passwords.hash('x'), /^\$argon2id\$v=19\$m=128,t=3,p=2\$/);
  const known = await passwords.hash('x');
  let hashed = 0;
  passwords.hash = (password) => {
    hashed += 1;
    return hashPassword(password, CHEAP);
  };
  t.equal(await passwords.verify(known, 'y'), false);
  t.equal(
    hashed,
    1,
    'what an unknown person is compared with is made for the first who is known, too',
  );
  for (const none of [null, undefined]) t.equal(await passwords.verify(none, 'x'), false);
  t.equal(hashed, 1);
  t.equal(passwords.verifications, 3);
  const isWeak = (hash: string) => passwords.isWeak(hash);
  t.equal(isWeak('$argon2id$v=19$m=128,t=3,p=2$a$b'), false);
  t.equal(isWeak('$argon2id$v=19$m=256,t=4,p=4$a$b'), false, 'more is no reason');
  t.equal(isWeak('$argon2id$v=19$m=127,t=3,p=2$a$b'), true);
  t.equal(isWeak('$argon2id$v=19$m=128,t=2,p=2$a$b'), true);
  t.equal(isWeak('$argon2id$v=19$m=128,t=3,p=1$a$b'), true);
  t.equal(new Passwords().isWeak(await hashPassword('x', DEFAULT_COST)), false);
});
