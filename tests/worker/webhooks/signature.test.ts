import { createHmac, randomBytes } from 'node:crypto';
import { sign, verify, verifyWithFallback } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import t from 'tap';
import { checkHeaderPrefix, deliveryHeaders } from '../../../worker/webhooks/signature.ts';

const newest = `whsec_${randomBytes(32).toString('base64')}`;
const older = `whsec_${randomBytes(32).toString('base64')}`;
const delivery = {
  eventId: '6f1f4a52-7a0e-4c65-8c4d-1f2f0c9b7a11',
  eventType: 'log.publish',
  position: 41,
  body: Buffer.from('{"title":"Überblick 🚀","id":1}'),
  secrets: [newest, older],
};

function headersNow(changes: Partial<typeof delivery> = {}) {
  return deliveryHeaders({ ...delivery, ...changes }, 'Codex', Date.now());
}

const stranger = `whsec_${randomBytes(32).toString('base64')}`;
const parsed = JSON.parse(delivery.body.toString());

for (const [name, Verifier] of Object.entries({ standardwebhooks: Webhook, svix: SvixWebhook })) {
  t.test(`${name} accepts one secret, and either one during a rotation`, async (t) => {
    const verifyWith = (secret: string, headers: Record<string, string>, body = delivery.body) =>
      new Verifier(secret).verify(body.toString(), headers);
    const single = headersNow({ secrets: [newest] });
    t.match(single['webhook-signature'], /^v1,[A-Za-z0-9+/]{43}=$/);
    t.strictSame(verifyWith(newest, single), parsed);
    t.throws(() => verifyWith(older, single), 'the old one, when it has ended');

    const both = headersNow();
    t.match(both['webhook-signature'], /^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
    t.strictSame(verifyWith(newest, both), parsed);
    t.strictSame(verifyWith(older, both), parsed);
    t.throws(() => verifyWith(stranger, both), 'no other one');
    t.throws(() => verifyWith(newest, both, Buffer.from(`${delivery.body} `)), 'another body');
    t.throws(() => verifyWith(newest, { ...both, 'webhook-id': 'other' }), 'another id');
    const minutesAgo = deliveryHeaders(delivery, 'Codex', Date.now() - 6 * 60 * 1000);
    t.throws(() => verifyWith(newest, minutesAgo), /too old/);
  });
}

t.test('the verifier of GitHub accepts the second signature, by the newest secret', async (t) => {
  const body = delivery.body.toString();
  for (const secrets of [[newest], [newest, older]]) {
    const signature = headersNow({ secrets })['X-Codex-Signature-256'] ?? '';
    t.equal(signature, await sign(newest, body), 'GitHub would have signed it so');
    t.equal(await verify(newest, body, signature), true);
    t.equal(await verify(older, body, signature), false);
    t.equal(await verify(newest, `${body} `, signature), false);
    t.equal(await verifyWithFallback(older, body, signature, [newest]), true);
  }
});

t.test('the second signature is keyed by the text of the newest secret', async (t) => {
  const headers = headersNow();
  const expected = createHmac('sha256', newest).update(delivery.body).digest('hex');
  t.match(headers, {
    'X-Codex-Signature-256': `sha256=${expected}`,
    'X-Codex-Event': 'log.publish',
    'X-Codex-Delivery': delivery.eventId,
    'X-Codex-Position': '41',
    'Content-Type': 'application/json',
    'Content-Length': String(delivery.body.length),
    'User-Agent': /^Bellwire\/\d+\.\d+\.\d+/,
  });
});

t.test('what is not counted says no position', async (t) => {
  const headers = deliveryHeaders({ ...delivery, position: null }, 'Codex', Date.now());
  t.notOk('X-Codex-Position' in headers);
});

t.test('every attempt is signed with its own time', async (t) => {
  const first = deliveryHeaders(delivery, 'Codex', 1_700_000_000_000);
  const second = deliveryHeaders(delivery, 'Codex', 1_700_000_010_000);
  t.equal(first['webhook-timestamp'], '1700000000');
  t.not(first['webhook-signature'], second['webhook-signature']);
  t.equal(first['X-Codex-Signature-256'], second['X-Codex-Signature-256']);
});

t.test('no event type breaks a header', async (t) => {
  for (const eventType of ['a\r\nInjected: 1', 'nul\0', 'ürgent.🚀', '\u202eevil', 'a b']) {
    const value = headersNow({ eventType })['X-Codex-Event'] ?? '';
    t.match(value, /^[\x21-\x7e]+$/, JSON.stringify(eventType));
    t.equal(decodeURIComponent(value), eventType);
  }
});

t.test('nothing is sent unsigned, and a prefix must be part of a header name', async (t) => {
  t.throws(() => headersNow({ secrets: [] }), /without a secret/);
  t.equal(checkHeaderPrefix('Acme-Bell'), 'Acme-Bell');
  for (const prefix of ['', 'a b', 'a:b', '1a', 'ü', 'x\n']) {
    t.throws(() => checkHeaderPrefix(prefix), /header prefix/, JSON.stringify(prefix));
  }
});
