import nodemailer, { type SendMailOptions } from 'nodemailer';
import t, { type Test } from 'tap';
import { startMailCatcher } from '../../cli/mail-catcher.ts';

const ONE_MEBIBYTE = 1024 * 1024;

t.test('catches mail and shows it, as JSON and as a page', async (t) => {
  const { catcher, send } = await start(t);
  await send({
    subject: 'Hello',
    text: 'plain',
    html: '<p>rich</p>',
    headers: { 'X-Kind': 'test' },
  });
  const [message] = catcher.messages();
  t.match(message, { id: 1, to: ['to@example.org'], subject: 'Hello', text: 'plain' });
  t.equal(message?.html, '<p>rich</p>');
  t.equal(message?.headers['x-kind'], 'test');
  const response = await fetch(`${catcher.webUrl}/messages`);
  t.strictSame(await response.json(), [{ ...message }]);
});

t.test('what is in a message does not become part of the page', async (t) => {
  const { catcher, send } = await start(t);
  const hostile = '"><script>alert(1)</script>';
  await send({ subject: hostile, text: hostile, html: hostile });
  const response = await fetch(catcher.webUrl);
  t.match(response.headers.get('content-security-policy'), /default-src 'none'/);
  const page = await response.text();
  t.notMatch(page, /<script/);
  t.match(page, /<iframe sandbox /);
});

t.test('keeps the 200 newest', async (t) => {
  const { catcher, send } = await start(t);
  for (let number = 1; number <= 203; number++) await send({ subject: `Number ${number}` });
  const messages = catcher.messages();
  t.equal(messages.length, 200);
  t.equal(messages[0]?.subject, 'Number 4');
  t.equal(messages.at(-1)?.subject, 'Number 203');
});

t.test('refuses a message over 1 MiB and stays up', async (t) => {
  const { catcher, send } = await start(t);
  await t.rejects(send({ subject: 'big', text: 'x\n'.repeat(ONE_MEBIBYTE) }), /552/);
  await send({ subject: 'small' });
  t.strictSame(
    catcher.messages().map((message) => message.subject),
    ['small'],
  );
});

t.test('other paths and methods', async (t) => {
  const { catcher } = await start(t);
  t.equal((await fetch(`${catcher.webUrl}/nowhere`)).status, 404);
  t.equal((await fetch(catcher.webUrl, { method: 'POST', body: 'x' })).status, 405);
});

async function start(t: Test) {
  const catcher = await startMailCatcher();
  const transport = nodemailer.createTransport({ url: catcher.smtpUrl, pool: true });
  t.teardown(async () => {
    transport.close();
    await catcher.stop();
  });
  const send = (mail: SendMailOptions) =>
    transport.sendMail({ from: 'from@example.org', to: 'to@example.org', text: 'text', ...mail });
  return { catcher, send };
}
