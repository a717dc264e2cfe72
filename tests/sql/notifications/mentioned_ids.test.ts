import fc from 'fast-check';
import t from 'tap';
import { createStage } from '../fixtures.ts';

const span = (id: number | string) => `<span data-type="mention" data-id="${id}">@x</span>`;

/** text now, text before, who is newly mentioned */
const CASES: [what: string, html: string | null, before: string | null, ids: number[] | null][] = [
  ['a node', span(7), null, [7]],
  [
    'among other attributes',
    '<span class="m" data-id="7" id=a data-type="mention" data-label="A">',
    null,
    [7],
  ],
  ['single quotes', "<span data-type='mention' data-id='7'>", null, [7]],
  ['no quotes', '<span data-type=mention data-id=7>', null, [7]],
  ['spaces around =', '<span data-type = "mention" data-id = "7" >', null, [7]],
  ['upper case', '<SPAN DATA-TYPE="MENTION" DATA-ID="7">@x</SPAN>', null, [7]],
  ['line breaks', '<span\n data-type="mention"\n\tdata-id="7">', null, [7]],
  ['self-closing', '<span data-type="mention" data-id="7"/>', null, [7]],
  ['nested in other nodes', `<ul><li><p>a ${span(7)} b</p></li></ul>`, null, [7]],
  ['twice is once', span(7) + span(7), null, [7]],
  ['several, sorted', span(9) + span(7), null, [7, 9]],
  ['inside code', `<code>${span(7)}</code>`, null, null],
  ['inside pre', `<pre>\n${span(7)}\n</pre>`, null, null],
  [
    'inside pre with attributes',
    `<pre class="x"><code class="y">${span(7)}</code></pre>`,
    null,
    null,
  ],
  ['inside PRE', `<PRE>${span(7)}</PRE>`, null, null],
  ['inside code that never ends', `<code>${span(7)}`, null, null],
  ['before and after code', `${span(7)}<code>${span(8)}</code>${span(9)}`, null, [7, 9]],
  ['between two code parts', `<code>a</code>${span(7)}<code>b</code>`, null, [7]],
  ['code inside pre, then a node', `<pre><code>x</code></pre>${span(7)}`, null, [7]],
  ['inside a comment', `<!-- ${span(7)} -->`, null, null],
  ['a tag that only begins like code', `<codex>${span(7)}</codex>`, null, [7]],
  ['another type', '<span data-type="emoji" data-id="7">', null, null],
  ['no type', '<span data-id="7">mention</span>', null, null],
  ['no id', '<span data-type="mention">', null, null],
  ['another element', '<div data-type="mention" data-id="7">', null, null],
  ['spanner', '<spanner data-type="mention" data-id="7">', null, null],
  ['an attribute that ends alike', '<span x-data-type="mention" data-id="7">', null, null],
  ['a type that ends alike', '<span data-type="mentioned" data-id="7">', null, null],
  ['entity-encoded', '&lt;span data-type="mention" data-id="7"&gt;', null, null],
  ['not a number', span('7; drop table'), null, null],
  ['a negative number', span(-7), null, null],
  ['a number out of range', span('9'.repeat(30)), null, null],
  ['an empty id', span(''), null, null],
  [
    'the mark inside another attribute',
    '<span title=\'data-type="mention" data-id="7"\'>',
    null,
    null,
  ],
  ['an unclosed tag', '<span data-type="mention" data-id="7"', null, null],
  ['plain words', 'I mention 7 people', null, null],
  ['nothing', null, null, null],
  ['empty', '', '', null],
  ['already mentioned', span(7), span(7), null],
  ['one more', span(7) + span(8), span(7), [8]],
  ['moved within the text', `<p>new</p>${span(7)}`, span(7), null],
  ['was an example before', span(7), `<code>${span(7)}</code>`, [7]],
  ['is an example now', `<code>${span(7)}</code>`, span(7), null],
  ['no more', 'mention nobody', span(7), null],
];

/** The same, without a text before: what a browser's tokenizer makes of broken and of hostile text. */
const TOKENS: [what: string, html: string, ids: number[] | null][] = [
  ['a > in a value before', `<span title="a>b" data-type="mention" data-id="7">`, [7]],
  ['a > in a value after', `<span data-type="mention" data-id="7" title='a>b'>`, [7]],
  ['a > in a value between', `<span data-type="mention" title=">" data-id="7">`, [7]],
  ['a quote of the other kind', `<span title='"' data-type="mention" data-id="7">`, [7]],
  ['a quote within a name', '<span a" data-type=mention data-id=7>', [7]],
  ['a quote within a value', '<span a=b"c> <i d=" data-type=mention>', null],
  ['values that touch', '<span data-type="mention"data-id="7">', [7]],
  ['a slash between', '<span/data-type="mention"/data-id="7">', [7]],
  ['form feeds between', '<span\fdata-type="mention"\fdata-id="7">', [7]],
  ['other white space is none', '<span\u00a0data-type="mention" data-id="7">', null],
  ['a slash is part of a bare value', '<span data-type=mention data-id=7/>', null],
  ['an equals sign in front', '<span ="a" data-type="mention" data-id="7">', [7]],
  ['an equals sign too many', '<span data-type=="mention" data-id="7">', null],
  ['a value that is missing', '<span data-id= data-type="mention">', null],
  ['a bare attribute first', '<span data-id data-id="7" data-type="mention">', null],
  ['two ids, the first wins', '<span data-id="7" data-type="mention" data-id="8">', [7]],
  ['two ids in any case', '<span DATA-ID="7" data-type="mention" data-id="8">', [7]],
  ['two types, the first wins', '<span data-type="x" data-type="mention" data-id="7">', null],
  ['x-data-id', '<span data-type="mention" x-data-id="7">', null],
  ['data-id-x', '<span data-type="mention" data-id-x="7">', null],
  ['data-idx', '<span data-type="mention" data-idx="7">', null],
  ['the id in the value of another', `<span data-type="mention" title=' data-id="7" '>`, null],
  ['the type in the value of another', `<span title=' data-type="mention" ' data-id="7">`, null],
  ['a node in a value', `<a title='${span(7)}'>`, null],
  ['a node in a value that ends later', `<a title="<span data-type=mention data-id=7>">`, null],
  ['pre in a value', `<a title="<pre>">x</a>${span(7)}`, [7]],
  ['the end of code in a value', `<code><a title="</code>">${span(7)}</code>`, null],
  ['the end of code within a comment', `<code><!-- </code> -->${span(7)}</code>`, null],
  ['an end tag with attributes', `<code>x</code title=">">${span(7)}`, [7]],
  ['nested code', `<code><code>x</code>${span(7)}</code>${span(8)}`, [8]],
  ['nested pre', `<pre><pre>x</pre>${span(7)}</pre>${span(8)}`, [8]],
  ['pre in code, crosswise', `<pre><code></pre>${span(7)}</code>${span(8)}`, [8]],
  ['an end without a begin', `</code></pre></template>${span(7)}`, [7]],
  ['code closes itself in XML alone', `<code/>${span(7)}</code>${span(8)}`, [8]],
  ['a name that goes on', `<pre-x>${span(7)}</pre-x><pre_>${span(8)}`, [7, 8]],
  ['an end tag is no node', '</span data-type="mention" data-id="7">', null],
  ['script', `<script>"${span(7)}"</script>${span(8)}`, [8]],
  ['style', `<style>${span(7)}</style >${span(8)}`, [8]],
  ['textarea', `<textarea title=">">${span(7)}</textarea>${span(8)}`, [8]],
  ['textarea ends inside what looks like a value', `<textarea><a b="</textarea>${span(7)}`, [7]],
  ['script in textarea', `<textarea><script></textarea>${span(7)}`, [7]],
  ['the end of another in textarea', `<textarea></script>${span(7)}</textarea>`, null],
  [
    'ends that are none',
    `<style></styles></ style><</styl</styl>${span(7)}</style>${span(8)}`,
    [8],
  ],
  ['an end that begins twice', `<style></st</style>${span(7)}`, [7]],
  ['a comment in style is none', `<style><!-- </style>${span(7)}`, [7]],
  ['textarea that never ends', `<textarea>${span(7)}</text`, null],
  ['title', `<title>${span(7)}</title>${span(8)}`, [8]],
  ['xmp and iframe', `<xmp>${span(7)}</xmp><iframe>${span(8)}</iframe>${span(9)}`, [9]],
  ['noscript', `<noscript>${span(7)}</noscript>${span(8)}`, [8]],
  ['plaintext', `${span(7)}<plaintext>${span(8)}</plaintext>`, [7]],
  ['template', `<template>${span(7)}</template>${span(8)}`, [8]],
  ['nested templates', `<template><template></template>${span(7)}</template>${span(8)}`, [8]],
  ['a template takes its open code along', `<template><code></template>${span(7)}`, [7]],
  ['an unclosed comment', `${span(8)}<!-- ${span(7)}`, [8]],
  ['the shortest comments', `<!-->${span(7)}<!--->${span(8)}<!---->${span(9)}`, [7, 8, 9]],
  ['a comment ended with a bang', `<!-- a --!>${span(7)}`, [7]],
  ['dashes in a comment', `<!-- - -- --- > --!- ${span(7)} --->${span(8)}`, [8]],
  ['a comment in a value', `<a b="<!--">${span(7)}`, [7]],
  ['a declaration ends at >', `<!doctype ">${span(7)}<![CDATA[${span(8)}]]>`, [7]],
  ['an instruction ends at >', `<?php ${span(7)} ?>${span(8)}`, [8]],
  ['an end tag without a name', `</>${span(7)}</ ${span(8)}>`, [7]],
  ['< in the text', `1 < 2 <3 <${span(7)}`, [7]],
  ['an unclosed value ends at the next quote', `<a b="x>${span(7)}${span(8)}`, [8]],
  ['an unclosed value hides the rest', `${span(7)}<a b='x>${span(8)}`, [7]],
  ['an unclosed tag before a node', `<a <span data-type="mention" data-id="7">`, null],
  ['a value begun at the end', '<span data-type="mention" data-id=', null],
  ['the largest id', span('9223372036854775807'), [Number('9223372036854775807')]],
  ['one more', span('9223372036854775808'), null],
  ['a hundred digits', span('1'.repeat(100)), null],
  ['blanks around the digits', span(' 7 '), null],
  ['a sign', span('+7'), null],
  ['another script of digits', span('\u0667'), null],
  ['hexadecimal', span('0x7'), null],
  ['quotes within quotes', `<span data-type="mention" data-id="'7'">`, null],
  ['a decimal reference', span('&#52;2'), [42]],
  ['a hexadecimal reference', span('4&#x32;'), [42]],
  ['references in upper case, with zeros', span('&#X0034;&#00050;'), [42]],
  ['references without semicolons', span('&#52&#x32'), [42]],
  ['a longer number without a semicolon', span('&#522'), null],
  ['a reference in a reference', span('&#&#53;2;'), null],
  ['a reference to a letter', span('&#97;'), null],
  ['an encoded type does not count', '<span data-type="&#109;ention" data-id="7">mention', null],
  ['control characters', `\u0001<span data-type="mention" data-id="7">\u0001\u0002\u007f`, [7]],
  ['a control character in a name', '<span\u0001 data-type="mention" data-id="7">', null],
  ['a control character in a value', '<span data-type="mention\u0001" data-id="7">', null],
];

t.test('who a text newly mentions', async (t) => {
  const stage = await createStage(t);
  for (const [what, html, before, ids] of CASES) {
    t.strictSame(
      await stage.value('select bellwire.mentioned_ids($1, $2)', [html, before]),
      ids,
      what,
    );
  }
  for (const [what, html, ids] of TOKENS) {
    t.strictSame(await stage.value('select bellwire.mentioned_ids($1, null)', [html]), ids, what);
  }
});

/** HTML with the people it visibly mentions. */
interface Sample {
  html: string;
  ids: number[];
}

const blank = fc.constantFrom(' ', '\n', '\t', '\f', ' / ', '\r\n ');
const upperOrLower = (word: string) =>
  fc.mixedCase(fc.constant(word), { toggleCase: (letter) => letter.toUpperCase() });
const quoted = (value: string) =>
  fc.constantFrom(`"${value}"`, `'${value}'`, value.includes(' ') ? `"${value}"` : value);
const attribute = (name: string, value: string) =>
  fc
    .tuple(upperOrLower(name), fc.constantFrom('=', ' = ', '=\n'), quoted(value))
    .map((parts) => parts.join(''));
const noise = fc.constantFrom(
  'hidden',
  'title="a > b"',
  "title='<pre>'",
  'title="</code>"',
  `alt='<span data-type="mention" data-id="999">'`,
  'x-data-id="999"',
  'data-type-x="mention"',
  'title="<!--"',
  "a=b'c",
);
const text = fc.constantFrom(
  'Ahoy',
  ' a < b ',
  '&amp;',
  '"',
  "'",
  '>',
  '--',
  '<3',
  '\u00e9',
  '</>',
);

const mention: fc.Arbitrary<Sample> = fc
  .record({
    name: upperOrLower('span'),
    id: fc.integer({ min: 1, max: 99 }),
    before: fc.array(noise, { maxLength: 2 }),
    after: fc.array(noise, { maxLength: 2 }),
    blank,
    isIdFirst: fc.boolean(),
  })
  .chain((given) =>
    fc
      .tuple(attribute('data-type', 'mention'), attribute('data-id', String(given.id)))
      .map(([type, id]) => ({
        html: `<${[
          given.name,
          ...given.before,
          ...(given.isIdFirst ? [id, type] : [type, id]),
          ...given.after,
        ].join(given.blank)}${given.blank}>@x</span>`,
        ids: [given.id],
      })),
  );

const join = (samples: Sample[]): Sample => ({
  html: samples.map(({ html }) => html).join(''),
  ids: samples.flatMap(({ ids }) => ids),
});

const { sample } = fc.letrec<{ sample: Sample; inner: Sample }>((tie) => ({
  inner: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    text.map((html) => ({ html, ids: [] })),
    mention,
    // Shows what is inside it.
    fc
      .tuple(fc.constantFrom('p', 'div', 'b', 'codex', 'prefix'), noise, tie('sample'))
      .map(([name, extra, { html, ids }]) => ({
        html: `<${name} ${extra}>${html}</${name}>`,
        ids,
      })),
    // Hides it.
    fc
      .tuple(fc.constantFrom('pre', 'code', 'template', 'noscript', 'CODE'), tie('sample'))
      .map(([name, { html }]) => ({ html: `<${name}>${html}</${name}>`, ids: [] })),
    fc
      .tuple(fc.constantFrom('textarea', 'style', 'title', 'xmp'), mention)
      .map(([name, { html }]) => ({ html: `<${name}>"<!--${html}</${name}>`, ids: [] })),
    mention.map(({ html }) => ({ html: `<!-- ${html} -->`, ids: [] })),
  ),
  sample: fc.array(tie('inner'), { maxLength: 4 }).map(join),
}));

t.test('generated text: exactly whom it visibly mentions', async (t) => {
  const stage = await createStage(t);
  const sorted = (ids: number[]) => [...new Set(ids)].sort((left, right) => left - right);
  await t.resolves(
    fc.assert(
      fc.asyncProperty(sample, sample, async (now, before) => {
        const earlier = new Set(before.ids);
        const expected = sorted(now.ids.filter((id) => !earlier.has(id)));
        const found = await stage.value<number[] | null>('select bellwire.mentioned_ids($1, $2)', [
          now.html,
          before.html,
        ]);
        return JSON.stringify(found ?? []) === JSON.stringify(expected);
      }),
      { numRuns: 200 },
    ),
  );
});

/** Pieces that are cheap to repeat and dear to a parser that goes back. */
const HOSTILE: [what: string, piece: string, begin?: string][] = [
  ['open tags', '<span data-type="mention" '],
  ['open spans', '<span '],
  ['open code', '<code>'],
  ['open pre', '<pre>'],
  ['open comments', '<!-- mention '],
  ['nodes', '<span data-type="mention" data-id="7">'],
  ['angle brackets', '<'],
  ['open values', '<a b="'],
  ['quotes', '"', '<span data-id='],
  ['equals signs', '=', '<span '],
  ['blanks', ' ', '<span '],
  ['names', 'data-id ', '<span data-type=mention '],
  ['values', 'data-id="7" ', '<span data-type=mention '],
  ['dashes', '-', '<!--'],
  ['ends of code', '</code>'],
  ['ends without a name', '</'],
  ['empty styles', '<style></style>'],
  ['ends that are none', '</styl', '<style>'],
  ['digits', '7', '<span data-type=mention data-id='],
  ['references', '&#52;', '<span data-type=mention data-id='],
  ['templates', '<template>'],
];
const HOSTILE_CHARACTERS = 1_000_000;

/** Four times the text takes four times as long; in squared time it would be sixteen. */
t.test('the time is linear in the length of the text', async (t) => {
  const stage = await createStage(t);
  const most = 10;
  const milliseconds = async (html: string) => {
    const [row] = await stage.look(
      'explain (analyze, format json) select bellwire.mentioned_ids($1, null)',
      [html],
    );
    const plans = row?.['QUERY PLAN'] as { 'Execution Time': number }[] | undefined;
    return plans?.[0]?.['Execution Time'] ?? Number.NaN;
  };
  await milliseconds(`mention <style></style>${span(7)}`);
  for (const [what, piece, begin = ''] of HOSTILE) {
    const text = (length: number) =>
      `mention${begin}${piece.repeat(Math.ceil(length / piece.length))}`;
    const short = await milliseconds(text(HOSTILE_CHARACTERS / 32));
    const long = await milliseconds(text(HOSTILE_CHARACTERS / 8));
    t.ok(long < most * Math.max(short, 5), `${what}: ${short} ms, four times the text ${long} ms`);
  }
});

t.test('a hostile text of a million characters is saved within seconds', async (t) => {
  const stage = await createStage(t);
  for (const [what, piece, begin = ''] of HOSTILE) {
    const length = HOSTILE_CHARACTERS - 'mention'.length - begin.length;
    const html = `mention${begin}${piece.repeat(Math.floor(length / piece.length))}`;
    const attempt = stage.database.asUser(stage.people.member, async (client) => {
      await client.query("set local statement_timeout = '10s'");
      await client.query('select api.save_document($1, $2)', [stage.documentId, html]);
    });
    t.equal(
      await attempt.then(
        () => 'saved',
        (error) => error.message,
      ),
      'saved',
      what,
    );
  }
});
