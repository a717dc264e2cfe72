import t from 'tap';
import {
  type Envelope,
  type RawBody,
  type RequestHeaders,
  verify,
  WebhookVerificationError,
} from '../../receiver/index.js';
import { newSecret, signedRequest } from './sign.ts';

const SECRET = newSecret();
const OTHER = newSecret();
const NOW = Date.now();
const SECOND_MS = 1000;

function codeOf(run: () => unknown): string {
  try {
    run();
    return 'verified';
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code;
    throw error;
  }
}

t.test('the event, whatever form body and headers come in', async (t) => {
  const { id, body, headers } = signedRequest(SECRET);
  const upper = Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]);
  const forms: [RawBody, RequestHeaders][] = [
    [body, headers],
    [Buffer.from(body), headers],
    [new TextEncoder().encode(body), headers],
    [body, new Headers(headers)],
    [body, Object.fromEntries(upper)],
    [Buffer.from(`xx${body}`).subarray(2), headers],
  ];
  for (const [rawBody, each] of forms) {
    const event = verify(rawBody, each, SECRET);
    t.match(event, { id, type: 'archive.rename', version: 1 });
    // The type says which data it is: this compiles only if it does.
    if (event.type === 'archive.rename') t.equal(event.data.previous, 'Minutes');
  }
});

t.test('the data of a type of your own', async (t) => {
  type TicketClosed = Envelope<'ticket.close', { ticket_id: number; status: string }>;
  const id = 'b0f3';
  const data = { ticket_id: 7, status: 'closed' };
  const body = JSON.stringify({ id, type: 'ticket.close', version: 1, data });
  const request = signedRequest(SECRET, { id, body });
  const event = verify<TicketClosed>(request.body, request.headers, SECRET);
  t.strictSame([event.type, event.data.ticket_id], ['ticket.close', 7]);
});

t.test('secrets may change on either side', async (t) => {
  const check = (signedWith: string[], secrets: string | string[]) => {
    const { body, headers } = signedRequest(signedWith);
    return codeOf(() => verify(body, headers, secrets));
  };
  t.equal(check([SECRET], [OTHER, SECRET]), 'verified', 'the receiver has both');
  t.equal(check([OTHER, SECRET], SECRET), 'verified', 'the sender signs with both');
  t.equal(check([OTHER, SECRET], [newSecret(), SECRET]), 'verified');
  t.equal(check([SECRET], SECRET.replace('whsec_', '')), 'verified', 'without the prefix');
  t.equal(check([SECRET], OTHER), 'bad_signature');
  t.equal(check([SECRET], [OTHER, newSecret()]), 'bad_signature');
});

t.test('what is not genuine', async (t) => {
  const { id, body, headers } = signedRequest(SECRET, { at: NOW });
  const signature = headers['webhook-signature'] ?? '';
  const unsigned = { id: 'x', type: 'archive.rename', version: 1, data: {} };
  const codeFor = (changes: Record<string, string | undefined>, rawBody: unknown = body) =>
    codeOf(() => verify(rawBody as RawBody, { ...headers, ...changes }, SECRET, { now: NOW }));
  const signedBody = (text: string) => {
    const request = signedRequest(SECRET, { id, body: text });
    return codeOf(() => verify(request.body, request.headers, SECRET));
  };

  t.equal(codeFor({}), 'verified');
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    t.equal(codeFor({ [name]: undefined }), 'missing_header', name);
    t.equal(codeFor({ [name]: '' }), 'missing_header', `blank ${name}`);
  }
  for (const time of ['now', '-1', '1.5', '1e9', '0x10', `${'9'.repeat(13)}`, ' 1']) {
    t.equal(codeFor({ 'webhook-timestamp': time }), 'bad_timestamp', time);
  }
  t.equal(codeFor({}, `${body} `), 'bad_signature', 'another body');
  t.equal(codeFor({ 'webhook-id': 'other' }), 'bad_signature', 'another id');
  const laterSecond = String(Number(headers['webhook-timestamp']) + 1);
  t.equal(codeFor({ 'webhook-timestamp': laterSecond }), 'bad_signature', 'another time');
  for (const wrong of [
    signature.replace('v1,', 'v2,'),
    signature.replace('v1,', ''),
    'v1,',
    'v1,AAAA',
    `v1,${'A'.repeat(43)}=`,
    `v1a,${signature.slice(3)}`,
  ]) {
    t.equal(codeFor({ 'webhook-signature': wrong }), 'bad_signature', wrong);
  }
  for (const list of [`v2,abc ${signature}`, `${signature} v1,AAAA`, `v1a,x v9 ${signature}`]) {
    t.equal(codeFor({ 'webhook-signature': list }), 'verified', list);
  }
  t.equal(codeFor({}, JSON.parse(body)), 'bad_body', 'parsed');
  t.equal(codeFor({}, null), 'bad_body', 'nothing');
  t.throws(() => verify(JSON.parse(body), headers, SECRET), /pass them as they came/);
  t.equal(signedBody('not JSON'), 'bad_body');
  t.equal(signedBody('null'), 'bad_body');
  t.equal(signedBody(JSON.stringify(unsigned)), 'bad_body', 'the id of another event');
  t.equal(signedBody(JSON.stringify({ ...unsigned, id, version: 2 })), 'bad_body');
  t.equal(signedBody(JSON.stringify({ ...unsigned, id, data: [] })), 'bad_body');
  t.equal(signedBody(JSON.stringify({ ...unsigned, id })), 'verified');
});

t.test('too old and too new, to the second', async (t) => {
  const codeAt = (seconds: number, tolerance?: number) => {
    const { body, headers } = signedRequest(SECRET, { at: NOW + seconds * SECOND_MS });
    return codeOf(() => verify(body, headers, SECRET, { now: NOW, tolerance }));
  };
  t.strictSame(
    [-301, -300, 0, 300, 301].map((seconds) => codeAt(seconds)),
    ['too_old', 'verified', 'verified', 'verified', 'too_new'],
  );
  t.strictSame(
    [-11, -10, 10, 11].map((seconds) => codeAt(seconds, 10)),
    ['too_old', 'verified', 'verified', 'too_new'],
  );
  t.equal(codeAt(-1_000_000, Number.POSITIVE_INFINITY), 'verified', 'for what was kept');
});

t.test('what makes no sense is a mistake of the program, and no secret is shown', async (t) => {
  const { body, headers } = signedRequest(SECRET);
  for (const secrets of [
    '',
    [],
    [''],
    'whsec_',
    'whsec_not base64',
    ['whsec_abc!'],
    'whsec_c2hvcnQ=',
  ]) {
    t.throws(() => verify(body, headers, secrets), TypeError, JSON.stringify(secrets));
  }
  for (const options of [{ tolerance: Number.NaN }, { tolerance: -1 }, { now: Number.NaN }]) {
    t.throws(() => verify(body, headers, SECRET, options), TypeError, JSON.stringify(options));
  }
  try {
    verify(body, headers, `${SECRET}!`);
    t.fail('was accepted');
  } catch (error) {
    t.notMatch(String(error), SECRET.slice('whsec_'.length));
  }
});
