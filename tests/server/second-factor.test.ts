import { Secret, TOTP } from 'otpauth';
import t from 'tap';
import { isSealed, Keyring } from '../../secrets/keyring.ts';
import { secondFactorContext } from '../../secrets/second-factor-secret.ts';
import { matchedStep, newRecoveryCodes, recoveryDigest } from '../../server/second-factor.ts';
import { Client } from './support/client.ts';
import { openLetterbox } from './support/letters.ts';
import { PASSWORD, startStage } from './support/stage.ts';

const PERIOD_MS = 30_000;

/** RFC 6238, appendix B: the SHA-1 rows, the last six digits of eight. */
const VECTORS: [seconds: number, code: string][] = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
];

t.test('the codes are those of RFC 6238, a step to either side', async (t) => {
  const secret = Secret.fromLatin1('12345678901234567890').base32;
  for (const [seconds, code] of VECTORS) {
    const at = seconds * 1000;
    const step = Math.floor(at / PERIOD_MS);
    t.equal(matchedStep(secret, code, at), step, `${seconds}`);
    t.equal(
      matchedStep(secret, `${code.slice(0, 3)} ${code.slice(3)}`, at),
      step,
      'as it is shown',
    );
    t.equal(matchedStep(secret, code, at + PERIOD_MS), step, 'a step later');
    t.equal(matchedStep(secret, code, at - PERIOD_MS), step, 'a step earlier');
    t.equal(matchedStep(secret, code, at + 2 * PERIOD_MS), null, 'two steps later');
    t.equal(matchedStep(secret, code, at - 2 * PERIOD_MS), null, 'two steps earlier');
  }
  for (const bad of ['', '28708', '2870820', 'abcdef', '２８７０８２', '-87082']) {
    t.equal(matchedStep(secret, bad, 59_000), null, bad);
  }
});

t.test('recovery codes: ten, each another, however they are typed', async (t) => {
  const codes = newRecoveryCodes();
  t.equal(new Set(codes).size, 10);
  for (const code of codes) {
    t.match(code, /^([A-Z2-7]{4}-){3}[A-Z2-7]{4}$/);
    t.equal(recoveryDigest(code.toLowerCase().replaceAll('-', ' ')), recoveryDigest(code));
  }
});

t.test('a second factor, from its secret to its end', async (t) => {
  const letters = await openLetterbox(t);
  const keyring = new Keyring([Buffer.alloc(32, 7).toString('base64')]);
  const { owner, anonymous, address, database } = await startStage(t, {
    mailer: letters.mailer,
    keyring,
  });
  const path = '/api/account/second-factor';
  const password = { currentPassword: PASSWORD };
  t.match((await owner.post(path, {})).body, { error: 'password_needed' });
  t.match((await owner.post(path, { currentPassword: 'wrong' })).body, {
    error: 'wrong_credentials',
  });
  const begun = await owner.post(path, password);
  const secret = begun.pick<string>('secret');
  t.equal(begun.headers.get('cache-control'), 'no-store');
  const parsed = new URL(begun.pick<string>('uri'));
  t.equal(parsed.protocol, 'otpauth:');
  t.match(Object.fromEntries(parsed.searchParams), {
    secret,
    issuer: 'Bellwire',
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  });
  const { rows } = await database.admin.query('select secret from identity.second_factors');
  t.ok(isSealed(rows[0]?.secret), 'sealed in the database');
  t.equal(keyring.open(rows[0]?.secret, secondFactorContext(owner.id)), secret);

  /** The code so many steps from now. A step that ends between two lines makes none of them too old. */
  const codeAt = (steps: number) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({
      timestamp: Date.now() + steps * PERIOD_MS,
    });
  const wrong = async () => {
    const near = [-2, -1, 0, 1, 2].map(codeAt);
    return ['000000', '111111', '222222'].find((code) => !near.includes(code)) ?? '333333';
  };
  const enable = (code: string) => owner.post(`${path}/enable`, { code });
  const refused = await enable(await wrong());
  t.match([refused.status, refused.body], [400, { error: 'wrong_code' }]);
  const enabled = await enable(codeAt(0));
  t.equal(enabled.headers.get('cache-control'), 'no-store');
  const codes = enabled.pick<string[]>('recoveryCodes');
  t.equal(codes.length, 10);
  t.match((await letters.next(owner.email)).subject, /is on/);
  t.match((await owner.get(path)).body, {
    secondFactor: { isEnabled: true, recoveryCodesLeft: 10 },
  });

  const login = () => anonymous.post('/api/login', { email: owner.email, password: PASSWORD });
  const second = (token: string, code: string) =>
    anonymous.post('/api/login/second-factor', { token, code });
  const step = await login();
  t.equal(step.headers.get('cache-control'), 'no-store');
  t.equal(step.headers.get('set-cookie'), null);
  const token = step.pick<string>('secondFactor.token');
  t.equal((await new Client(address, token).get('/api/me')).status, 401, 'it is no session');
  t.match((await second(token, await wrong())).body, { error: 'wrong_code' });
  const next = codeAt(1);
  const signedIn = await second(token, next);
  t.match(signedIn.body, { token: String, user: { id: owner.id } });
  t.match(signedIn.headers.get('set-cookie'), /^sessionToken=/);
  t.match((await second(token, next)).body, { error: 'sign_in_gone' }, 'over');
  const replay = (await login()).pick<string>('secondFactor.token');
  t.match((await second(replay, next)).body, { error: 'wrong_code' }, 'a code works once');
  const recovered = await second(replay, codes[0]?.toLowerCase() ?? '');
  t.match(recovered.body, { user: { id: owner.id } });
  t.match((await second('unknown', '123456')).body, { error: 'sign_in_gone' });

  const renew = await owner.post(`${path}/recovery-codes`, { ...password, code: codes[1] });
  t.equal(renew.pick<string[]>('recoveryCodes').length, 10);
  const fresh = renew.pick<string[]>('recoveryCodes')[0] ?? '';
  const disable = (body: object) => owner.post(`${path}/disable`, body);
  t.match((await disable({ code: fresh })).body, { error: 'password_needed' });
  t.match((await disable({ ...password, code: codes[2] })).body, { error: 'wrong_code' }, 'void');
  t.equal((await disable({ ...password, code: fresh })).status, 200);
  t.match((await letters.next(owner.email)).subject, /is off/);
  t.match((await login()).body, { token: String });

  await owner.post(path, password);
  await database.admin.query(
    `update identity.second_factors set enabled_at = now(), wrong_count = 10, wrong_until = now() + interval '1 hour'`,
  );
  const paused = await second((await login()).pick('secondFactor.token'), '123456');
  t.match([paused.status, paused.body], [429, { error: 'too_many_codes' }]);
});
