import type { ParsedMail } from 'mailparser';
import { Secret, TOTP } from 'otpauth';
import type { Test } from 'tap';
import { Client } from '../server/support/client.ts';
import type { TestDatabase } from '../support/database.ts';
import { until } from '../worker/support.ts';

/** Words that are found nowhere by accident. */
const NEW_PASSWORD = 'marmot-new-password-4801';
const OTHER_PASSWORD = 'marmot-other-password-4802';
const WRONG_CODE = 'MRMT-4803-MRMT-4803';
/** The mail server refuses it, and quotes it. */
export const REFUSED_ADDRESS = 'marmot-refused-4804@example.com';

/** Lines of a letter that are long enough to be nobody else's. */
const LINE_CHARACTERS = 30;

interface Tools {
  address: string;
  database: TestDatabase;
  /** All that has arrived, notifications included. */
  mails: ParsedMail[];
  ownerToken: string;
  workspaceId: number;
  /** Have a password, and a session of the first one. */
  members: [{ email: string; token: string }, { email: string }];
  password: string;
}

/**
 * Goes through all that an account has of secrets: those that are mailed, and those that are shown
 * once, each of them used or refused.
 * @returns the secrets, and the lines of the letters
 */
export async function useAccountSecrets(t: Test, tools: Tools): Promise<(string | RegExp)[]> {
  const { address, database, mails, ownerToken, workspaceId, members, password } = tools;
  const [member, forgetful] = members;
  const anonymous = new Client(address);
  const owner = new Client(address, ownerToken);
  const letter = (to: string, subject: RegExp) =>
    until(`a letter to ${to}`, () =>
      mails.find(
        (mail) => JSON.stringify(mail.to).includes(to) && subject.test(mail.subject ?? ''),
      ),
    );
  const tokenOf = (mail: ParsedMail) => /#([\w-]{64})/.exec(mail.text ?? '')?.[1] ?? '';
  const post = async (client: Client, path: string, body: object, status: number) => {
    // More attempts than one address has.
    await database.admin.query('delete from identity.rate_limits');
    const answer = await client.post(path, body);
    t.equal(answer.status, status, `${path} ${answer.text}`);
    return answer;
  };

  await post(anonymous, '/api/forgot-password', { email: forgetful.email }, 202);
  const reset = await letter(forgetful.email, /Set a new password/);
  const resetToken = tokenOf(reset);
  const renewal = { token: resetToken, password: NEW_PASSWORD };
  await post(anonymous, '/api/reset-password', renewal, 200);
  t.ok((await anonymous.post('/api/reset-password', renewal)).status >= 400, 'once');

  await post(owner, '/api/invitations', { email: REFUSED_ADDRESS, workspaceId }, 201);
  await post(owner, '/api/invitations', { email: 'newcomer@example.com', workspaceId }, 201);
  const invitation = await letter('newcomer@example.com', /invited you/);
  const invitationToken = tokenOf(invitation);
  await post(anonymous, '/api/invitations/look-up', { token: invitationToken }, 200);
  const account = { token: invitationToken, name: 'Newcomer', password: OTHER_PASSWORD };
  const newcomer = await post(anonymous, '/api/accounts', account, 201);
  t.ok((await anonymous.post('/api/accounts', account)).status >= 400, 'once');

  await database.admin.query(
    'delete from identity.passwords where user_id = (select id from bellwire.users where email = $1)',
    ['newcomer@example.com'],
  );
  const session = newcomer.pick<string>('token');
  const signedIn = new Client(address, session);
  const change = await signedIn.put('/api/account/email', { email: 'moved@example.com' });
  const confirmToken = change.pick<string>('confirmToken');
  const codeLetter = await letter('newcomer@example.com', /Your code is/);
  const emailCode = /\d{8}/.exec(codeLetter.subject ?? '')?.[0] ?? '';
  await post(signedIn, '/api/account/email/confirm', { confirmToken, code: WRONG_CODE }, 401);
  const moved = { confirmToken, code: emailCode };
  const replacement = await post(signedIn, '/api/account/email/confirm', moved, 200);

  const person = new Client(address, member.token);
  const path = '/api/account/second-factor';
  const begun = await post(person, path, { currentPassword: password }, 201);
  const secret = begun.pick<string>('secret');
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  const enabled = await post(person, `${path}/enable`, { code }, 200);
  const recoveryCodes = enabled.pick<string[]>('recoveryCodes');
  const login = await post(anonymous, '/api/login', { email: member.email, password }, 200);
  const token = login.pick<string>('secondFactor.token');
  await post(anonymous, '/api/login/second-factor', { token, code: WRONG_CODE }, 401);
  const [recoveryCode] = recoveryCodes;
  const second = await post(
    anonymous,
    '/api/login/second-factor',
    { token, code: recoveryCode },
    200,
  );

  const lines = [reset, invitation, codeLetter].flatMap(({ text }) => (text ?? '').split('\n'));
  return [
    NEW_PASSWORD,
    OTHER_PASSWORD,
    WRONG_CODE,
    REFUSED_ADDRESS,
    resetToken,
    invitationToken,
    session,
    confirmToken,
    wholeNumber(emailCode),
    replacement.pick<string>('token'),
    secret,
    wholeNumber(code),
    ...recoveryCodes,
    token,
    second.pick<string>('token'),
    ...lines.filter((line) => line.length >= LINE_CHARACTERS),
  ];
}

/** Digits may be part of a time. */
function wholeNumber(digits: string): RegExp {
  return new RegExp(`(?<![\\d.])${digits}(?!\\d)`);
}
