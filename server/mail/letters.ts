import { layoutHtml, layoutText, singleLine } from '../../mail/layout.ts';

/** What is written to a person about their account; the plugin adds sender and identity. */
export interface Letter {
  /** For the log. */
  kind: string;
  to: { name: string; address: string };
  subject: string;
  text: string;
  html: string;
}

interface Person {
  name: string;
  email: string;
}

interface Words {
  heading: string;
  body: string;
  link?: { text: string; url: string };
  reason: string;
}

/** A name in a sentence of ours; longer ones are a text of somebody else's under our sender. */
const NAME_CHARACTERS = 80;
const NOT_YOU =
  'If that was not you, set a new password with “Forgot password” now, and tell your administrator.';

export function invitationLetter(
  invitation: { email: string; invitedBy: string | null; workspaceName: string | null },
  url: string,
): Letter {
  const inviter = short(invitation.invitedBy ?? 'Somebody');
  const where = invitation.workspaceName ? `“${short(invitation.workspaceName)}”` : 'Bellwire';
  return compose('invitation', nobody(invitation.email), {
    heading: `${inviter} invited you to ${where}`,
    body: 'The link works once. Whoever has it can join with this address, so keep it to yourself.',
    link: { text: 'Join', url },
    reason: `You get this e-mail because ${inviter} entered this address. If you do not know them, ignore it.`,
  });
}

export function signUpLetter(email: string, url: string): Letter {
  return compose('sign-up', nobody(email), {
    heading: 'Create your account',
    body: 'Choose a name and a password behind this link. It works once.',
    link: { text: 'Create the account', url },
    reason:
      'You get this e-mail because somebody asked for an account with this address. If that was not you, ignore it.',
  });
}

/** The answer to a sign-up, or to a forgotten password, is the same for all: only this letter tells. */
export function accountExistsLetter(email: string, url: string): Letter {
  return compose('account-exists', nobody(email), {
    heading: 'You have an account already',
    body: 'Sign in with this address. If you have forgotten your password, you can set a new one there.',
    link: { text: 'Sign in', url },
    reason:
      'You get this e-mail because somebody asked for an account with this address. If that was not you, ignore it.',
  });
}

export function passwordResetLetter(person: Person, url: string): Letter {
  return compose('password-reset', to(person), {
    heading: 'Set a new password',
    body: 'The link works once, for a short time. It ends every session of your account.',
    link: { text: 'Set a new password', url },
    reason:
      'You get this e-mail because somebody said they had forgotten the password of this address. If that was not you, ignore it.',
  });
}

export function emailCodeLetter(person: Person, newEmail: string, code: string): Letter {
  return compose('e-mail-code', to(person), {
    heading: `Your code is ${code}`,
    body: `It changes the address of your account to ${short(newEmail)}. Give it to nobody.`,
    reason: `You get this e-mail because somebody who is signed in as you asked for it. ${NOT_YOU}`,
  });
}

export function emailChangedLetter(person: Person, newEmail: string): Letter {
  return compose('e-mail-changed', to(person), {
    heading: 'The address of your account was changed',
    body: `It is ${short(newEmail)} now. This one is no longer used.`,
    reason:
      'You get this e-mail at the old address. If that was not you, tell your administrator at once.',
  });
}

export function passwordChangedLetter(person: Person): Letter {
  return compose('password-changed', to(person), {
    heading: 'Your password was changed',
    body: 'Every other device was signed out.',
    reason: `You get this e-mail because it is about the safety of your account. ${NOT_YOU}`,
  });
}

export function secondFactorLetter(person: Person, isEnabled: boolean): Letter {
  return compose('second-factor', to(person), {
    heading: isEnabled ? 'Two-step sign-in is on' : 'Two-step sign-in is off',
    body: isEnabled
      ? 'From now on signing in needs a code of your authenticator as well. Keep the recovery codes where you find them.'
      : 'From now on signing in needs your password alone.',
    reason: `You get this e-mail because it is about the safety of your account. ${NOT_YOU}`,
  });
}

function compose(kind: string, recipient: Letter['to'], words: Words): Letter {
  const layout = { link: null, ...words, aside: null };
  return {
    kind,
    to: recipient,
    subject: singleLine(words.heading),
    text: layoutText(layout),
    html: layoutHtml(layout),
  };
}

function to({ name, email }: Person): Letter['to'] {
  return { name: singleLine(name), address: email };
}

function nobody(address: string): Letter['to'] {
  return { name: '', address };
}

function short(text: string): string {
  const line = [...singleLine(text)];
  return line.length <= NAME_CHARACTERS
    ? line.join('')
    : `${line.slice(0, NAME_CHARACTERS).join('')}…`;
}
