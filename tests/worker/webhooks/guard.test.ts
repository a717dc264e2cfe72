import t from 'tap';
import { checkTarget, parseAllowList, resolveHostname } from '../../../worker/webhooks/guard.ts';

/** What made-up DNS answers; a name that is missing here does not resolve. */
const NAMES: Record<string, string[]> = {
  'public.example': ['93.184.216.34'],
  'public6.example': ['2606:4700:4700::1111'],
  'both.example': ['93.184.216.34', '2606:4700:4700::1111'],
  'private.example': ['10.0.0.5'],
  'mixed.example': ['93.184.216.34', '127.0.0.1'],
  'mapped.example': ['::ffff:10.0.0.5'],
  'mapped-public.example': ['::ffff:93.184.216.34'],
  'linklocal.example': ['fe80::1%eth0'],
  'nonsense.example': ['not-an-address'],
  'receiver.lan': ['192.168.7.7'],
  localhost: ['127.0.0.1', '::1'],
  'hooks.localhost': ['127.0.0.1'],
  'public.internal': ['93.184.216.34'],
};

async function resolve(hostname: string): Promise<string[]> {
  const addresses = NAMES[hostname];
  if (!addresses) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  return addresses;
}

function check(url: string, allow: string[] = []) {
  return checkTarget(url, { allow: parseAllowList(allow), resolve, resolveTimeoutMs: 1_000 });
}

const ALLOWED: [url: string, addresses: string[], allow?: string[]][] = [
  ['https://public.example/hook', ['93.184.216.34']],
  ['http://public.example:8080/hook?a=b', ['93.184.216.34']],
  ['https://PUBLIC.example/', ['93.184.216.34']],
  ['https://public.example./', ['93.184.216.34']],
  ['https://public6.example/', ['2606:4700:4700::1111']],
  ['https://both.example/', ['93.184.216.34', '2606:4700:4700::1111']],
  ['https://mapped-public.example/', ['::ffff:93.184.216.34']],
  ['http://93.184.216.34/', ['93.184.216.34']],
  ['http://[2606:4700:4700::1111]/', ['2606:4700:4700::1111']],
  ['http://127.0.0.1:9000/', ['127.0.0.1'], ['127.0.0.0/8']],
  ['http://127.0.0.1:9000/', ['127.0.0.1'], ['127.0.0.1:9000']],
  ['http://[::1]:9000/', ['::1'], ['[::1]:9000']],
  ['http://[::1]/', ['::1'], ['::1']],
  ['http://10.1.2.3/', ['10.1.2.3'], ['10.1.2.3']],
  ['http://private.example/', ['10.0.0.5'], ['10.0.0.0/8']],
  ['http://mapped.example/', ['::ffff:10.0.0.5'], ['10.0.0.0/8']],
  ['http://receiver.lan:8443/', ['192.168.7.7'], ['receiver.lan']],
  ['http://receiver.lan:8443/', ['192.168.7.7'], ['Receiver.LAN:8443']],
  ['http://receiver.lan/', ['192.168.7.7'], ['receiver.lan:80']],
  ['http://localhost:9000/', ['127.0.0.1', '::1'], ['localhost']],
  ['http://localhost:9000/', ['127.0.0.1', '::1'], ['127.0.0.0/8', '::1']],
  ['http://hooks.localhost/', ['127.0.0.1'], ['127.0.0.0/8']],
];

const REFUSED: [url: string, allow?: string[]][] = [
  ['not a url'],
  [''],
  ['//public.example/'],
  ['ftp://public.example/'],
  ['file:///etc/passwd'],
  ['javascript:alert(1)'],
  ['https://user:secret@public.example/'],
  ['https://user@public.example/'],
  // IPv4 in every notation the URL parser knows.
  ['http://127.0.0.1/'],
  ['http://127.1/'],
  ['http://2130706433/'],
  ['http://0x7f000001/'],
  ['http://0177.0.0.1/'],
  ['http://0x7f.1/'],
  ['http://127.0.0.1./'],
  ['http://%31%32%37.0.0.1/'],
  ['http://１２７.0.0.1/'],
  ['http://0/'],
  ['http://0.0.0.0/'],
  ['http://10.0.0.1/'],
  ['http://172.16.0.1/'],
  ['http://172.31.255.255/'],
  ['http://192.168.0.1/'],
  ['http://169.254.169.254/latest/meta-data/'],
  ['http://168.63.129.16/'],
  ['http://100.64.0.1/'],
  ['http://100.100.100.200/'],
  ['http://192.0.0.192/'],
  ['http://192.0.2.1/'],
  ['http://198.18.0.1/'],
  ['http://198.51.100.1/'],
  ['http://203.0.113.1/'],
  ['http://192.88.99.1/'],
  ['http://224.0.0.1/'],
  ['http://239.255.255.255/'],
  ['http://240.0.0.1/'],
  ['http://255.255.255.255/'],
  // IPv6.
  ['http://[::]/'],
  ['http://[::1]/'],
  ['http://[::ffff:127.0.0.1]/'],
  ['http://[::ffff:7f00:1]/'],
  ['http://[::127.0.0.1]/'],
  ['http://[64:ff9b::7f00:1]/'],
  ['http://[64:ff9b:1::1]/'],
  ['http://[2002:7f00:1::]/'],
  ['http://[2001::1]/'],
  ['http://[2001:db8::1]/'],
  ['http://[3fff::1]/'],
  ['http://[2001:2::1]/'],
  ['http://[100::1]/'],
  ['http://[fe80::1]/'],
  ['http://[fec0::1]/'],
  ['http://[fc00::1]/'],
  ['http://[fd00:ec2::254]/'],
  ['http://[ff02::1]/'],
  ['http://[5f00::1]/'],
  ['http://[4000::1]/'],
  // Names.
  ['http://localhost/'],
  ['http://LOCALHOST./'],
  ['http://hooks.localhost/'],
  ['http://metadata.google.internal/'],
  ['http://public.internal/'],
  ['http://public.internal/', ['10.0.0.0/8']],
  ['http://printer.local/'],
  ['https://private.example/'],
  ['https://mixed.example/'],
  ['https://mapped.example/'],
  ['https://linklocal.example/'],
  ['https://nonsense.example/'],
  // What is allowed is only that.
  ['http://127.0.0.1:9001/', ['127.0.0.1:9000']],
  ['http://127.0.0.2/', ['127.0.0.1']],
  ['http://192.168.0.1/', ['10.0.0.0/8']],
  ['http://[::1]/', ['127.0.0.0/8']],
  ['http://receiver.lan:8080/', ['receiver.lan:8443']],
  ['https://mixed.example/', ['10.0.0.0/8']],
  ['http://localhost/', ['127.0.0.0/8']],
];

t.test('public targets and what the operator vouches for', async (t) => {
  for (const [url, addresses, allow] of ALLOWED) {
    const verdict = await check(url, allow);
    t.strictSame(
      verdict.kind === 'allowed' ? verdict.addresses : verdict,
      addresses,
      `${url} with [${allow ?? ''}]`,
    );
  }
});

t.test('everything else is refused with a sentence', async (t) => {
  for (const [url, allow] of REFUSED) {
    const verdict = await check(url, allow);
    t.equal(verdict.kind, 'refused', `${url} with [${allow ?? ''}]`);
    if (verdict.kind === 'refused') t.match(verdict.reason, /^\S.{8,480}\.$/);
  }
});

t.test('a name without an answer is not refused: it may have one later', async (t) => {
  t.match(await check('https://missing.example/'), {
    kind: 'unresolved',
    reason: 'missing.example could not be resolved (ENOTFOUND).',
  });
});

t.test('a resolver that hangs is not waited for', async (t) => {
  const verdict = await checkTarget('https://slow.example/', {
    allow: [],
    resolve: () => new Promise(() => {}),
    resolveTimeoutMs: 20,
  });
  t.match(verdict, {
    kind: 'unresolved',
    reason: 'slow.example could not be resolved (ETIMEDOUT).',
  });
});

t.test('the machine’s own resolver knows localhost', async (t) => {
  t.ok((await resolveHostname('localhost')).includes('127.0.0.1'));
});

t.test('an allow-list that cannot be read is refused with the entry', (t) => {
  for (const entry of [
    '10.0.0.0/64',
    'a b',
    'http://host/',
    'host/path',
    'user@host',
    '10.0.0/8x',
  ]) {
    t.throws(() => parseAllowList([entry]), /is neither/, entry);
  }
  t.strictSame(parseAllowList(['', ' ']), []);
  t.end();
});
