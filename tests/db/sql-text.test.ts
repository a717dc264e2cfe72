import fc from 'fast-check';
import t from 'tap';
import { lineAt, splitPieces, statementStarts } from '../../db/sql-text.ts';

t.test('pieces: code, comments, literals and quoted names', async (t) => {
  const cases: [string, [string, string][]][] = [
    [
      'a -- b;\nc',
      [
        ['code', 'a '],
        ['comment', '-- b;'],
        ['code', '\nc'],
      ],
    ],
    [
      '/* a /* b */ c */d',
      [
        ['comment', '/* a /* b */ c */'],
        ['code', 'd'],
      ],
    ],
    [
      "'it''s'",
      [
        ['literal', "'it'"],
        ['literal', "'s'"],
      ],
    ],
    [
      "e'a\\'b' c",
      [
        ['code', 'e'],
        ['literal', "'a\\'b'"],
        ['code', ' c'],
      ],
    ],
    [
      "'a\\' b",
      [
        ['literal', "'a\\'"],
        ['code', ' b'],
      ],
    ],
    ['"A;b"', [['quoted-identifier', '"A;b"']]],
    [
      '$x$ $$ ; $x$;',
      [
        ['literal', '$x$ $$ ; $x$'],
        ['code', ';'],
      ],
    ],
    ['a$b$c', [['code', 'a$b$c']]],
    ['$1 + $2', [['code', '$1 + $2']]],
    ["'open", [['literal', "'open"]]],
  ];
  for (const [sql, expected] of cases) {
    t.strictSame(
      splitPieces(sql).map(({ kind, text }) => [kind, text]),
      expected,
      sql,
    );
  }
});

t.test('pieces joined are the text, whatever it is', async (t) => {
  const fragment = fc.constantFrom(
    "'",
    '"',
    '$$',
    '$a$',
    '--',
    '/*',
    '*/',
    '\n',
    '\\',
    'e',
    ';',
    'x ',
  );
  fc.assert(
    fc.property(
      fc.array(fragment).map((parts) => parts.join('')),
      (sql) => {
        const joined = splitPieces(sql)
          .map((piece) => piece.text)
          .join('');
        return joined === sql;
      },
    ),
  );
  t.pass('for random mixtures of quotes and comments');
});

t.test('statements begin at their first word', async (t) => {
  const sql = [
    '-- a comment; with a semicolon',
    'select 1; /* between */ select $$ ; $$;',
    '',
    "  insert into a values (';');",
    'create function f() returns int begin atomic select case when true then 1 end; end;',
    'select 2',
  ].join('\n');
  const lines = statementStarts(sql).map((start) => [
    lineAt(sql, start),
    sql.slice(start, start + 6),
  ]);
  t.strictSame(lines, [
    [2, 'select'],
    [2, 'select'],
    [4, 'insert'],
    [5, 'create'],
    [6, 'select'],
  ]);
});
