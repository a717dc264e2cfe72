import { randomBytes } from 'node:crypto';
import t from 'tap';
import { isSealed, Keyring, UnsealError } from '../../secrets/keyring.ts';

const newKey = () => randomBytes(32).toString('base64');

t.test('without a key nothing is sealed, and what is plain opens', async (t) => {
  const keyring = new Keyring();
  t.notOk(keyring.hasKey);
  t.equal(keyring.seal('whsec_x', 'webhook-secret:1'), 'whsec_x');
  t.equal(keyring.open('whsec_x', 'webhook-secret:1'), 'whsec_x');
  t.notOk(keyring.isOutdated('whsec_x'));
});

t.test('a sealed secret opens with its key and its context alone', async (t) => {
  const key = newKey();
  const keyring = new Keyring([key]);
  const sealed = keyring.seal('whsec_ü', 'webhook-secret:1');
  t.ok(isSealed(sealed));
  t.notMatch(sealed, /whsec/);
  t.equal(keyring.open(sealed, 'webhook-secret:1'), 'whsec_ü');
  t.not(keyring.seal('whsec_ü', 'webhook-secret:1'), sealed, 'each time anew');
  t.equal(new Keyring([key]).open(keyring.seal('', 'a'), 'a'), '');

  t.throws(() => keyring.open(sealed, 'webhook-secret:2'), UnsealError);
  t.throws(() => new Keyring([newKey()]).open(sealed, 'webhook-secret:1'), /lacks the key/);
  t.throws(() => new Keyring().open(sealed, 'webhook-secret:1'), UnsealError);
  const changed = sealed.slice(0, -1) + (sealed.endsWith('A') ? 'B' : 'A');
  t.throws(() => keyring.open(changed, 'webhook-secret:1'), UnsealError);
  t.throws(() => keyring.open('sealed.1.broken', 'webhook-secret:1'), UnsealError);
});

t.test('the first key seals, the others still open', async (t) => {
  const [older, newer] = [newKey(), newKey()];
  const before = new Keyring([older]).seal('secret', 'x');
  const both = new Keyring([newer, older]);
  t.equal(both.open(before, 'x'), 'secret');
  t.ok(both.isOutdated(before));
  t.ok(both.isOutdated('secret'));
  t.notOk(both.isOutdated(both.seal('secret', 'x')));
});

t.test('a key that is none is refused without being quoted', async (t) => {
  for (const text of [
    'short',
    randomBytes(31).toString('base64'),
    `${newKey()}x`,
    '!'.repeat(44),
  ]) {
    t.throws(() => new Keyring([text]), /32 random bytes/);
  }
  const urlSafe = randomBytes(32).toString('base64url');
  t.ok(new Keyring([urlSafe]).hasKey, 'base64url is base64, too');
});
