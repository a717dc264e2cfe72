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

t.test('who a text newly mentions', async (t) => {
  const stage = await createStage(t);
  for (const [what, html, before, ids] of CASES) {
    t.strictSame(
      await stage.value('select bellwire.mentioned_ids($1, $2)', [html, before]),
      ids,
      what,
    );
  }
});

t.test('a hostile text of a million characters is saved within seconds', async (t) => {
  const stage = await createStage(t);
  for (const [what, piece] of [
    ['open tags', '<span data-type="mention" '],
    ['open code', '<code>'],
    ['open comments', '<!-- mention '],
    ['nodes', '<span data-type="mention" data-id="7">'],
    ['angle brackets', '<'],
  ] as const) {
    const html = `mention${piece.repeat(Math.floor(999_000 / piece.length))}`;
    const attempt = stage.database.asUser(stage.people.member, async (client) => {
      await client.query("set local statement_timeout = '5s'");
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
