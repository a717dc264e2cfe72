import t from 'tap';
import type { ClaimedEmail } from '../../../worker/database.ts';
import { composeEmail } from '../../../worker/email/message.ts';

const EMAIL: ClaimedEmail = {
  id: 12,
  attempt: 1,
  toAddress: 'ada@example.com',
  toName: 'Ada',
  kind: 'mention',
  kindDescription: 'You were mentioned',
  subject: 'Grace mentioned you in “Compilers”',
  body: 'look <at> this & that',
  linkPath: '/documents/7?a=1&b=2',
  workspaceName: 'Acme',
  unsubscribeToken: 'bd5bd7e5-6df0-4b3a-9b1d-3a8f4f3b2d11',
};
const OPTIONS = { from: 'Bellwire <bell@acme.example>', appUrl: 'https://acme.example/app/' };

t.test('title, text, link, reason and the way out are all there', async (t) => {
  const message = composeEmail(EMAIL, OPTIONS);
  t.equal(message.subject, EMAIL.subject);
  t.strictSame(message.to, { name: 'Ada', address: 'ada@example.com' });
  const unsubscribe = `https://acme.example/app/api/unsubscribe/${EMAIL.unsubscribeToken}`;
  for (const text of [
    EMAIL.body ?? '',
    'https://acme.example/app/documents/7?a=1&b=2',
    'You get this e-mail because you were mentioned in Acme.',
    unsubscribe,
  ]) {
    t.ok(message.text.includes(text), text);
  }
  t.ok(message.html.includes('look &lt;at&gt; this &amp; that'));
  t.ok(message.html.includes('href="https://acme.example/app/documents/7?a=1&amp;b=2"'));
  t.strictSame(message.headers, {
    'Auto-Submitted': 'auto-generated',
    'List-Unsubscribe': `<${unsubscribe}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  });
});

t.test(
  'the Message-ID is that of the row, not of the attempt, and keeps the token to itself',
  async (t) => {
    const first = composeEmail(EMAIL, OPTIONS).messageId;
    t.match(first, /^<notification-12\.[0-9a-f]{16}@acme\.example>$/);
    t.equal(composeEmail({ ...EMAIL, attempt: 4 }, OPTIONS).messageId, first);
    t.not(composeEmail({ ...EMAIL, id: 13 }, OPTIONS).messageId, first);
    t.notMatch(first, EMAIL.unsubscribeToken.slice(0, 8));
  },
);

t.test('text from people breaks neither a header nor the page', async (t) => {
  const message = composeEmail(
    {
      ...EMAIL,
      subject: 'a\r\nBcc: victim@example.com\u2028b',
      body: '<script>alert("1")</script>',
      toName: 'A\r\nB',
      workspaceName: '<b>\n',
    },
    OPTIONS,
  );
  t.equal(message.subject, 'a Bcc: victim@example.com b');
  t.equal(message.to.name, 'A B');
  t.notMatch(message.html, /<script|<b>/);
});

t.test('without an app address, a body or a link the message is shorter, not broken', async (t) => {
  const bare = { ...EMAIL, body: null, linkPath: null, kindDescription: null, workspaceName: null };
  const message = composeEmail(bare, { from: OPTIONS.from, appUrl: undefined });
  t.strictSame(message.headers, { 'Auto-Submitted': 'auto-generated' });
  t.notMatch(message.text + message.html, /null|undefined|http/);
});
