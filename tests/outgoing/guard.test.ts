import t from 'tap';
import { parseAllowList } from '../../outgoing/allow-list.ts';
import { checkTarget, type GuardOptions } from '../../outgoing/guard.ts';
import { DEFAULT_PORTS, parsePorts } from '../../outgoing/ports.ts';

/** What made-up DNS answers; a name that is missing here does not resolve. */
const NAMES: Record<string, string[]> = {
  'public.example': ['93.184.216.34'],
  'public6.example': ['2606:4700:4700::1111'],
  'both.example': ['93.184.216.34', '2606:4700:4700::1111'],
  'twice.example': ['93.184.216.34', '93.184.216.34'],
  'dns64.example': ['93.184.216.34', '64:ff9b::5db8:d822'],
  'xn--bcher-kva.example': ['93.184.216.34'],
  'under_score.example': ['93.184.216.34'],
  'private.example': ['10.0.0.5'],
  'private6.example': ['fd12:3456::1'],
  'mixed.example': ['93.184.216.34', '127.0.0.1'],
  'mixed6.example': ['93.184.216.34', '::1'],
  'two-private.example': ['10.0.0.5', '10.0.0.6'],
  'mapped.example': ['::ffff:10.0.0.5'],
  'mapped-public.example': ['::ffff:93.184.216.34'],
  'linklocal.example': ['fe80::1%eth0'],
  'zone.example': ['2606:4700:4700::1111%eth0'],
  'nonsense.example': ['not-an-address'],
  'blank.example': [''],
  'octal.example': ['0177.0.0.1'],
  'decimal.example': ['2130706433'],
  'alias.example': ['public.example'],
  'late-nonsense.example': ['93.184.216.34', 'not-an-address'],
  'metadata.goog': ['169.254.169.254'],
  'rebound.example': ['169.254.169.254'],
  'aws6.example': ['fd00:ec2::254'],
  'receiver.lan': ['192.168.7.7'],
  receiver: ['172.18.0.4'],
  public: ['93.184.216.34'],
  localhost: ['127.0.0.1', '::1'],
  'hooks.localhost': ['127.0.0.1'],
  'public.internal': ['93.184.216.34'],
  'public.corp': ['93.184.216.34'],
  'metadata.google.internal': ['169.254.169.254'],
  'thousand.example': Array.from({ length: 1000 }, (_, i) => `93.184.${i >> 8}.${i & 255}`),
  'needle.example': [
    ...Array.from({ length: 999 }, (_, i) => `93.184.${i >> 8}.${i & 255}`),
    '10.0.0.1',
  ],
};

const PUBLIC4 = ['93.184.216.34'];
const PUBLIC6 = ['2606:4700:4700::1111'];
const MALFORMED = /not a valid URL/;
const NO_HOST = /neither a name nor an address/;
const PRIVATE_NAME = /is a private name/;
const UNLISTED = /not on the list/;
const JUNK = /resolves to something that is not an IP address/;
const inside = (range: string) => new RegExp(`not a public address: ${range.replace('.', '\\.')} `);

type Row = [
  url: string,
  /** The addresses that would be connected to, or the refusal. */
  expected: string[] | RegExp,
  allow?: string[],
  ports?: string[],
];

const CASES: Record<string, Row[]> = {
  URLs: [
    ['https://public.example/hook', PUBLIC4],
    ['https://PUBLIC.example/', PUBLIC4],
    ['  https://public.example/\n', PUBLIC4],
    ['https://public.example\\@127.0.0.1/', PUBLIC4],
    ['https://public.example/?next=http://127.0.0.1/', PUBLIC4],
    ['not a url', MALFORMED],
    ['', MALFORMED],
    ['//public.example/', MALFORMED],
    ['https://', MALFORMED],
    ['https://:443/', MALFORMED],
    ['https://public.example:65536/', MALFORMED],
    ['https://public.example:-1/', MALFORMED],
    ['ftp://public.example/', /Only http and https/],
    ['file:///etc/passwd', /Only http and https/],
    ['javascript:alert(1)', /Only http and https/],
    ['gopher://public.example/', /Only http and https/],
    ['https://user:secret@public.example/', /user name or a password/],
    ['https://user@public.example/', /user name or a password/],
    ['https://:secret@public.example/', /user name or a password/],
    ['https://public.example@127.0.0.1/', /user name or a password/],
    ['https://127.0.0.1#@public.example/', inside('127.0.0.0/8')],
    ['https://127.0.0.1\\@public.example/', inside('127.0.0.0/8')],
    ['http:127.0.0.1', inside('127.0.0.0/8')],
    ['http:\\\\127.0.0.1\\', inside('127.0.0.0/8')],
    ['http://127.0.\t0.1/', inside('127.0.0.0/8')],
  ],
  'IPv4 in every notation': [
    ['http://93.184.216.34/', PUBLIC4],
    ['http://1572395042/', PUBLIC4],
    ['http://0x5db8d822/', PUBLIC4],
    ['http://0135.0270.0330.042/', PUBLIC4],
    ['http://127.0.0.1/', inside('127.0.0.0/8')],
    ['http://127.1/', inside('127.0.0.0/8')],
    ['http://127.0.1/', inside('127.0.0.0/8')],
    ['http://2130706433/', inside('127.0.0.0/8')],
    ['http://0x7f000001/', inside('127.0.0.0/8')],
    ['http://017700000001/', inside('127.0.0.0/8')],
    ['http://0177.0.0.1/', inside('127.0.0.0/8')],
    ['http://0177.0x0.0.01/', inside('127.0.0.0/8')],
    ['http://0x7f.1/', inside('127.0.0.0/8')],
    ['http://127.0.0.1./', inside('127.0.0.0/8')],
    ['http://%31%32%37.0.0.1/', inside('127.0.0.0/8')],
    ['http://１２７.0.0.1/', inside('127.0.0.0/8')],
    ['http://①②⑦.0.0.1/', inside('127.0.0.0/8')],
    ['http://127。0。0。1/', inside('127.0.0.0/8')],
    ['http://127.0.0.1../', NO_HOST],
    ['http://1.2.3.4.5/', MALFORMED],
    ['http://256.0.0.1/', MALFORMED],
    ['http://4294967296/', MALFORMED],
    ['http://public.0x7f/', MALFORMED],
  ],
  'IPv4 ranges and their neighbours': [
    ['http://0/', inside('0.0.0.0/8')],
    ['http://0.0.0.0/', inside('0.0.0.0/8')],
    ['http://0.255.255.255/', inside('0.0.0.0/8')],
    ['http://1.0.0.0/', ['1.0.0.0']],
    ['http://9.255.255.255/', ['9.255.255.255']],
    ['http://10.0.0.1/', inside('10.0.0.0/8')],
    ['http://11.0.0.0/', ['11.0.0.0']],
    ['http://100.63.255.255/', ['100.63.255.255']],
    ['http://100.64.0.1/', inside('100.64.0.0/10')],
    ['http://100.127.255.255/', inside('100.64.0.0/10')],
    ['http://100.128.0.0/', ['100.128.0.0']],
    ['http://100.100.100.200/', inside('100.100.100.200/32')],
    ['http://126.255.255.255/', ['126.255.255.255']],
    ['http://127.255.255.255/', inside('127.0.0.0/8')],
    ['http://128.0.0.0/', ['128.0.0.0']],
    ['http://168.63.129.15/', ['168.63.129.15']],
    ['http://168.63.129.16/', inside('168.63.129.16/32')],
    ['http://169.253.255.255/', ['169.253.255.255']],
    ['http://169.254.169.254/latest/meta-data/', inside('169.254.0.0/16')],
    ['http://169.254.170.2/v2/credentials', inside('169.254.0.0/16')],
    ['http://169.255.0.0/', ['169.255.0.0']],
    ['http://172.15.255.255/', ['172.15.255.255']],
    ['http://172.16.0.1/', inside('172.16.0.0/12')],
    ['http://172.31.255.255/', inside('172.16.0.0/12')],
    ['http://172.32.0.0/', ['172.32.0.0']],
    ['http://192.0.0.1/', inside('192.0.0.0/24')],
    ['http://192.0.0.192/', inside('192.0.0.192/32')],
    ['http://192.0.1.0/', ['192.0.1.0']],
    ['http://192.0.2.1/', inside('192.0.2.0/24')],
    ['http://192.31.196.1/', inside('192.31.196.0/24')],
    ['http://192.52.193.1/', inside('192.52.193.0/24')],
    ['http://192.88.99.1/', inside('192.88.99.0/24')],
    ['http://192.88.100.0/', ['192.88.100.0']],
    ['http://192.168.0.1/', inside('192.168.0.0/16')],
    ['http://192.169.0.0/', ['192.169.0.0']],
    ['http://192.175.48.1/', inside('192.175.48.0/24')],
    ['http://198.18.0.1/', inside('198.18.0.0/15')],
    ['http://198.19.255.255/', inside('198.18.0.0/15')],
    ['http://198.20.0.0/', ['198.20.0.0']],
    ['http://198.51.100.1/', inside('198.51.100.0/24')],
    ['http://203.0.113.1/', inside('203.0.113.0/24')],
    ['http://203.0.114.0/', ['203.0.114.0']],
    ['http://223.255.255.255/', ['223.255.255.255']],
    ['http://224.0.0.1/', inside('224.0.0.0/4')],
    ['http://239.255.255.255/', inside('224.0.0.0/4')],
    ['http://240.0.0.1/', inside('240.0.0.0/4')],
    ['http://255.255.255.255/', inside('240.0.0.0/4')],
  ],
  'IPv6 ranges and their neighbours': [
    ['http://[2606:4700:4700::1111]/', PUBLIC6],
    ['http://[2606:4700:4700:0:0:0:0:1111]/', PUBLIC6],
    ['http://[::]/', inside('::/128')],
    ['http://[::1]/', inside('::1/128')],
    ['http://[0:0:0:0:0:0:0:1]/', inside('::1/128')],
    ['http://[fe80::1]/', inside('fe80::/10')],
    ['http://[febf::1]/', inside('fe80::/10')],
    ['http://[fe80::1%25eth0]/', MALFORMED],
    ['http://[fec0::1]/', inside('fec0::/10')],
    ['http://[fc00::1]/', inside('fc00::/7')],
    ['http://[fdff::1]/', inside('fc00::/7')],
    ['http://[fd00:ec2::254]/', inside('fd00:ec2::/32')],
    ['http://[fd20:ce::254]/', inside('fd20:ce::254/128')],
    ['http://[ff02::1]/', inside('ff00::/8')],
    ['http://[100::1]/', inside('100::/64')],
    ['http://[100:0:0:1::1]/', inside('100:0:0:1::/64')],
    ['http://[1fff::1]/', /no range of the public internet/],
    ['http://[4000::1]/', /no range of the public internet/],
    ['http://[2001:1::1]/', inside('2001::/23')],
    ['http://[2001:2::1]/', inside('2001:2::/48')],
    ['http://[2001:10::1]/', inside('2001:10::/28')],
    ['http://[2001:20::1]/', inside('2001:20::/28')],
    ['http://[2001:2f:ffff::1]/', inside('2001:20::/28')],
    ['http://[2001:30::1]/', inside('2001:30::/28')],
    ['http://[2001:200::1]/', ['2001:200::1']],
    ['http://[2001:db7:ffff::1]/', ['2001:db7:ffff::1']],
    ['http://[2001:db8::1]/', inside('2001:db8::/32')],
    ['http://[2001:db9::1]/', ['2001:db9::1']],
    ['http://[2620:4f:8000::1]/', inside('2620:4f:8000::/48')],
    ['http://[2620:4f:8001::1]/', ['2620:4f:8001::1']],
    ['http://[3fff::1]/', inside('3fff::/20')],
    ['http://[3fff:fff::1]/', inside('3fff::/20')],
    ['http://[3fff:1000::1]/', ['3fff:1000::1']],
    ['http://[5f00::1]/', inside('5f00::/16')],
  ],
  'IPv4 inside IPv6': [
    ['http://[::ffff:93.184.216.34]/', PUBLIC4],
    ['http://[::ffff:127.0.0.1]/', inside('127.0.0.0/8')],
    ['http://[::ffff:7f00:1]/', inside('127.0.0.0/8')],
    ['http://[::ffff:169.254.169.254]/', inside('169.254.0.0/16')],
    ['http://[::127.0.0.1]/', inside('::/96')],
    ['http://[::93.184.216.34]/', inside('::/96')],
    ['http://[::ffff:0:127.0.0.1]/', inside('::ffff:0:0:0/96')],
    ['http://[64:ff9b::93.184.216.34]/', ['64:ff9b::5db8:d822']],
    ['http://[64:ff9b::7f00:1]/', inside('127.0.0.0/8')],
    ['http://[64:ff9b::10.0.0.1]/', inside('10.0.0.0/8')],
    ['http://[64:ff9b::a9fe:a9fe]/', inside('169.254.0.0/16')],
    ['http://[64:ff9b:0:1::1]/', /no range of the public internet/],
    ['http://[64:ff9b:1::1]/', inside('64:ff9b:1::/48')],
    ['http://[64:ff9b:1::5db8:d822]/', inside('64:ff9b:1::/48')],
    ['http://[2002:7f00:1::]/', inside('2002::/16')],
    ['http://[2002:5db8:d822::1]/', inside('2002::/16')],
    ['http://[2003::1]/', ['2003::1']],
    ['http://[2001::1]/', inside('2001::/32')],
    ['http://[2001:0:5db8:d822::1]/', inside('2001::/32')],
    ['http://[2606:4700::5efe:10.0.0.1]/', /ISATAP/],
    ['http://[2606:4700::200:5efe:10.0.0.1]/', /ISATAP/],
    ['http://[2606:4700::1:5efe:10.0.0.1]/', ['2606:4700::1:5efe:a00:1']],
  ],
  names: [
    ['https://public.example./', PUBLIC4],
    ['https://public6.example/', PUBLIC6],
    ['https://both.example/', [...PUBLIC4, ...PUBLIC6]],
    ['https://twice.example/', PUBLIC4],
    ['https://bücher.example/', PUBLIC4],
    ['https://ｐｕｂｌｉｃ.example/', PUBLIC4],
    ['https://p%75blic.example/', PUBLIC4],
    ['https://under_score.example/', PUBLIC4],
    ['http://localhost/', PRIVATE_NAME],
    ['http://LOCALHOST./', PRIVATE_NAME],
    ['http://ｌｏｃａｌｈｏｓｔ/', PRIVATE_NAME],
    ['http://loc%61lhost/', PRIVATE_NAME],
    ['http://hooks.localhost/', PRIVATE_NAME],
    ['http://metadata.google.internal/', PRIVATE_NAME],
    ['http://metadata.google.internal./', PRIVATE_NAME],
    ['http://public.internal/', PRIVATE_NAME],
    ['http://public.corp/', PRIVATE_NAME],
    ['http://printer.local/', PRIVATE_NAME],
    ['http://nas.home.arpa/', PRIVATE_NAME],
    ['http://public/', PRIVATE_NAME],
    ['http://public./', PRIVATE_NAME],
    ['http://localhost../', NO_HOST],
    ['http://public..example/', NO_HOST],
    ['http://.public.example/', NO_HOST],
    ['http://public.example../', NO_HOST],
    ['http://pub*lic.example/', NO_HOST],
    ['http://pub%00lic.example/', MALFORMED],
    ['http://pub%2flic.example/', MALFORMED],
    [`http://${'a'.repeat(64)}.example/`, NO_HOST],
    [`http://${'a.'.repeat(130)}example/`, /too long/],
  ],
  'what names resolve to': [
    ['https://mapped-public.example/', PUBLIC4],
    ['https://dns64.example/', ['93.184.216.34', '64:ff9b::5db8:d822']],
    ['https://thousand.example/', (NAMES['thousand.example'] ?? []).slice(0, 16)],
    ['https://private.example/', inside('10.0.0.0/8')],
    ['https://private6.example/', inside('fc00::/7')],
    ['https://mixed.example/', inside('127.0.0.0/8')],
    ['https://mixed6.example/', inside('::1/128')],
    ['https://mapped.example/', inside('10.0.0.0/8')],
    ['https://needle.example/', inside('10.0.0.0/8')],
    ['https://metadata.goog/', inside('169.254.0.0/16')],
    ['https://linklocal.example/', JUNK],
    ['https://zone.example/', JUNK],
    ['https://nonsense.example/', JUNK],
    ['https://blank.example/', JUNK],
    ['https://octal.example/', JUNK],
    ['https://decimal.example/', JUNK],
    ['https://alias.example/', JUNK],
    ['https://late-nonsense.example/', JUNK],
  ],
  ports: [
    ['http://public.example/', PUBLIC4],
    ['http://public.example:443/', PUBLIC4],
    ['http://public.example:1024/', PUBLIC4],
    ['http://public.example:8080/hook?a=b', PUBLIC4],
    ['https://public.example:65535/', PUBLIC4],
    ['http://public.example:0/', /Port 0 is not allowed/],
    ['http://public.example:22/', /Port 22 is not allowed/],
    ['http://public.example:25/', /Port 25 is not allowed/],
    ['http://public.example:1023/', /Port 1023 is not allowed/],
    ['http://public.example:6379/', /Port 6379 is not allowed/],
    ['http://public.example:6380/', PUBLIC4],
    ['http://public.example:6667/', /Port 6667 is not allowed/],
    ['http://93.184.216.34:11211/', /Port 11211 is not allowed/],
    ['https://public.example/', PUBLIC4, [], ['443']],
    ['http://public.example/', /Port 80 is not allowed/, [], ['443']],
    ['http://public.example:6379/', PUBLIC4, [], ['443', '6379']],
    ['http://public.example:6379/', /Port 6379 is not allowed/, [], ['6000-6999']],
    ['http://public.example:8443/', PUBLIC4, [], ['443', '8000 - 8999']],
    ['http://public.example/', /Port 80 is not allowed/, [], []],
    // An entry of the allow-list that names the port opens it, for its host only.
    ['http://public.example:25/', PUBLIC4, ['public.example:25']],
    ['http://93.184.216.34:25/', PUBLIC4, ['93.184.216.34:25']],
    ['http://public.example:25/', PUBLIC4, ['93.184.216.34:25']],
    ['http://127.0.0.1:5432/', ['127.0.0.1'], ['127.0.0.1:5432']],
    ['http://public.example:25/', /Port 25 is not allowed/, ['public.example']],
    ['http://127.0.0.1:25/', /Port 25 is not allowed/, ['127.0.0.0/8']],
    ['http://public6.example:25/', UNLISTED, ['public.example:25']],
    ['http://both.example:25/', UNLISTED, ['93.184.216.34:25']],
    ['http://public.example:26/', /Port 26 is not allowed/, ['public.example:25']],
  ],
  'what the operator vouches for, and only that': [
    ['http://127.0.0.1:9000/', ['127.0.0.1'], ['127.0.0.0/8']],
    ['http://0x7f.1:9000/', ['127.0.0.1'], ['127.0.0.0/8']],
    ['http://127.0.0.1:9000/', ['127.0.0.1'], ['127.0.0.1:9000']],
    ['http://127.0.0.1:9001/', inside('127.0.0.0/8'), ['127.0.0.1:9000']],
    ['http://127.0.0.2/', inside('127.0.0.0/8'), ['127.0.0.1']],
    ['http://[::1]:9000/', ['::1'], ['[::1]:9000']],
    ['http://[::1]/', ['::1'], ['::1']],
    ['http://[::1]/', inside('::1/128'), ['127.0.0.0/8']],
    ['http://10.1.2.3/', ['10.1.2.3'], ['10.1.2.3']],
    ['http://10.1.2.3/', ['10.1.2.3'], ['::ffff:10.0.0.0/104']],
    ['http://[::ffff:10.1.2.3]/', ['10.1.2.3'], ['10.0.0.0/8']],
    ['http://192.168.0.1/', inside('192.168.0.0/16'), ['10.0.0.0/8']],
    ['http://private.example/', ['10.0.0.5'], ['10.0.0.0/8']],
    ['http://mapped.example/', ['10.0.0.5'], ['10.0.0.0/8']],
    ['http://two-private.example/', inside('10.0.0.0/8'), ['10.0.0.5']],
    ['https://mixed.example/', inside('127.0.0.0/8'), ['10.0.0.0/8']],
    ['https://mixed.example/', ['93.184.216.34', '127.0.0.1'], ['127.0.0.1']],
    ['http://receiver.lan:8443/', ['192.168.7.7'], ['receiver.lan']],
    ['http://receiver.lan.:8443/', ['192.168.7.7'], ['receiver.lan']],
    ['http://receiver.lan:8443/', ['192.168.7.7'], ['Receiver.LAN:8443']],
    ['http://receiver.lan/', ['192.168.7.7'], ['receiver.lan:80']],
    ['http://receiver.lan/', ['192.168.7.7'], ['192.168.7.0/24']],
    ['http://receiver.lan:8080/', UNLISTED, ['receiver.lan:8443']],
    ['http://receiver:8080/', ['172.18.0.4'], ['receiver']],
    ['http://receiver:8080/', ['172.18.0.4'], ['172.16.0.0/12']],
    ['http://localhost:9000/', ['127.0.0.1', '::1'], ['localhost']],
    ['http://localhost:9000/', ['127.0.0.1', '::1'], ['127.0.0.0/8', '::1']],
    ['http://localhost/', UNLISTED, ['127.0.0.0/8']],
    ['http://hooks.localhost/', ['127.0.0.1'], ['127.0.0.0/8']],
    ['http://public.internal/', UNLISTED, ['10.0.0.0/8']],
    ['http://public.internal/', PUBLIC4, ['public.internal']],
    ['https://nonsense.example/', JUNK, ['nonsense.example']],
    // Metadata is never meant by a range or a name.
    ['http://169.254.169.254/', inside('169.254.0.0/16'), ['169.254.0.0/16']],
    ['http://169.254.169.254/', inside('169.254.0.0/16'), ['0.0.0.0/0', '::/0']],
    ['http://100.100.100.200/', inside('100.100.100.200/32'), ['100.64.0.0/10']],
    ['http://100.100.100.201/', ['100.100.100.201'], ['100.64.0.0/10']],
    ['http://[fd00:ec2::254]/', inside('fd00:ec2::/32'), ['fd00::/8']],
    ['http://[fd00:ec3::254]/', ['fd00:ec3::254'], ['fd00::/8']],
    ['http://[fd00:42::42]/', inside('fd00:42::42/128'), ['fd00::/8']],
    ['http://[fd00:42::43]/', ['fd00:42::43'], ['fd00::/8']],
    ['http://[fd20:ce::254]/', inside('fd20:ce::254/128'), ['fd00::/8']],
    ['http://[fe80::a9fe:a9fe]/', inside('fe80::/10'), ['fe80::/10']],
    ['http://168.63.129.16/', inside('168.63.129.16/32'), ['168.63.0.0/16']],
    ['http://192.0.0.192/', inside('192.0.0.192/32'), ['192.0.0.0/24']],
    ['http://192.0.0.193/', ['192.0.0.193'], ['192.0.0.0/24']],
    ['http://rebound.example/', inside('169.254.0.0/16'), ['rebound.example']],
    ['http://aws6.example/', inside('fd00:ec2::/32'), ['aws6.example', 'fd00::/8']],
    ['http://[64:ff9b::a9fe:a9fe]/', inside('169.254.0.0/16'), ['64:ff9b::/96']],
    ['http://169.254.169.254/', ['169.254.169.254'], ['169.254.169.254']],
    ['http://169.254.169.253/', inside('169.254.0.0/16'), ['169.254.169.254']],
  ],
};

async function resolve(hostname: string): Promise<string[]> {
  const addresses = NAMES[hostname];
  if (!addresses) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  return addresses;
}

function check(url: string, changes: Partial<GuardOptions> = {}) {
  const ports = parsePorts(DEFAULT_PORTS);
  return checkTarget(url, { ports, allow: [], resolve, resolveTimeoutMs: 1_000, ...changes });
}

for (const [title, rows] of Object.entries(CASES)) {
  t.test(title, async (t) => {
    for (const [url, expected, allow = [], ports = DEFAULT_PORTS] of rows) {
      const verdict = await check(url, { allow: parseAllowList(allow), ports: parsePorts(ports) });
      const words = `${JSON.stringify(url)} with [${allow}] and ports [${ports}]`;
      if (verdict.kind === 'refused' && expected instanceof RegExp) {
        t.match(verdict.reason, expected, words);
        t.match(verdict.reason, /^\S.{8,480}\.$/, 'a sentence');
      } else {
        t.strictSame(verdict.kind === 'allowed' ? verdict.addresses : verdict, expected, words);
      }
    }
  });
}

t.test('a name without an answer is not refused: it may have one later', async (t) => {
  t.match(await check('https://missing.example/'), {
    kind: 'unresolved',
    reason: 'missing.example could not be resolved (ENOTFOUND).',
  });
  t.match(await check('https://empty.example/', { resolve: async () => [] }), {
    kind: 'unresolved',
    reason: 'empty.example has no address.',
  });
});

t.test('a resolver that hangs is not waited for, and is told so', async (t) => {
  let heard: AbortSignal | undefined;
  const hang = (_hostname: string, signal: AbortSignal) => {
    heard = signal;
    return new Promise<string[]>(() => {});
  };
  t.match(await check('https://slow.example/', { resolve: hang, resolveTimeoutMs: 20 }), {
    kind: 'unresolved',
    reason: 'slow.example could not be resolved (ETIMEDOUT).',
  });
  t.equal(heard?.aborted, true);
});

t.test('nothing is resolved for what is refused by its form or its port', async (t) => {
  const resolve = async () => t.fail('was asked') as never;
  for (const url of ['http://public.example:22/', 'http://localhost/', 'http://a..b/']) {
    t.equal((await check(url, { resolve })).kind, 'refused', url);
  }
});

t.test('every check asks again: a name may have been pointed elsewhere', async (t) => {
  const answers = [['93.184.216.34'], ['169.254.169.254']];
  const resolve = async () => answers.shift() ?? [];
  t.equal((await check('https://rebinding.example/', { resolve })).kind, 'allowed');
  t.equal((await check('https://rebinding.example/', { resolve })).kind, 'refused');
});

t.test('lists that cannot be read are refused with the entry', async (t) => {
  for (const entry of [
    '10.0.0.0/64',
    '010.0.0.0/8',
    '10.0.0.0/',
    '::ffff:10.0.0.0/8',
    'a b',
    'http://host/',
    'host/path',
    'user@host',
    '10.0.0/8x',
  ]) {
    t.throws(() => parseAllowList([entry]), /is neither/, entry);
  }
  for (const entry of ['0', '65536', '90-80', '80-', 'http', '-1', '80:90', '1024-70000']) {
    t.throws(() => parsePorts([entry]), /is neither/, entry);
  }
  t.strictSame([parseAllowList(['', ' ']), parsePorts(['', ' '])], [[], []]);
});
