import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
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

t.test('the Standard Webhooks library accepts either secret', async (t) => {
  const headers = headersNow();
  t.strictSame(
    new Webhook(newest).verify(delivery.body, headers),
    JSON.parse(delivery.body.toString()),
  );
  t.ok(new Webhook(older).verify(delivery.body, headers));
  t.throws(() => new Webhook(newest).verify(`${delivery.body} `, headers));
  const stranger = `whsec_${randomBytes(32).toString('base64')}`;
  t.throws(() => new Webhook(stranger).verify(delivery.body, headers));
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
