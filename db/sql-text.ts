/**
 * Just enough of Postgres's lexer to tell code from comments and literals. The migration runner
 * finds the line of a failing statement with it, and the SQL lint reads only code.
 */

export type PieceKind = 'code' | 'comment' | 'literal' | 'quoted-identifier';

/** A stretch of the text of one kind; `start` counts UTF-16 units from 0. */
export interface Piece {
  kind: PieceKind;
  start: number;
  text: string;
}

const DOLLAR_TAG = /^\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/;
const WORD_CHARACTER = /[\w$\u0080-\uffff]/;

/** Splits SQL into pieces; joined again they are the text. An unclosed literal runs to the end. */
export function splitPieces(sql: string): Piece[] {
  const pieces: Piece[] = [];
  let codeStart = 0;
  let at = 0;
  while (at < sql.length) {
    const special = specialAt(sql, at);
    if (!special) {
      at++;
      continue;
    }
    if (at > codeStart) {
      pieces.push({ kind: 'code', start: codeStart, text: sql.slice(codeStart, at) });
    }
    pieces.push({ kind: special.kind, start: at, text: sql.slice(at, special.end) });
    at = special.end;
    codeStart = at;
  }
  if (codeStart < sql.length) {
    pieces.push({ kind: 'code', start: codeStart, text: sql.slice(codeStart) });
  }
  return pieces;
}

function specialAt(sql: string, at: number): { kind: PieceKind; end: number } | undefined {
  switch (sql[at]) {
    case '-':
      return sql[at + 1] === '-' ? { kind: 'comment', end: endOf(sql, '\n', at, 0) } : undefined;
    case '/':
      return sql[at + 1] === '*' ? { kind: 'comment', end: endOfBlockComment(sql, at) } : undefined;
    case '"':
      return { kind: 'quoted-identifier', end: endOfQuoted(sql, at, '"', false) };
    case "'":
      return { kind: 'literal', end: endOfQuoted(sql, at, "'", hasEscapePrefix(sql, at)) };
    case '$':
      return dollarQuotedAt(sql, at);
    default:
      return undefined;
  }
}

function endOf(sql: string, closing: string, from: number, extra: number): number {
  const found = sql.indexOf(closing, from);
  return found < 0 ? sql.length : found + extra;
}

/** Postgres's block comments nest. */
function endOfBlockComment(sql: string, start: number): number {
  let depth = 0;
  for (let at = start; at < sql.length; at++) {
    if (sql.startsWith('/*', at)) {
      depth++;
      at++;
    } else if (sql.startsWith('*/', at)) {
      depth--;
      at++;
      if (depth === 0) return at + 1;
    }
  }
  return sql.length;
}

/** A doubled quote stands for itself and needs no care: the two halves are neighbouring pieces. */
function endOfQuoted(sql: string, start: number, quote: string, escapes: boolean): number {
  for (let at = start + 1; at < sql.length; at++) {
    if (escapes && sql[at] === '\\') at++;
    else if (sql[at] === quote) return at + 1;
  }
  return sql.length;
}

/** In e'…' a backslash escapes the quote. */
function hasEscapePrefix(sql: string, at: number): boolean {
  return /[eE]/.test(sql[at - 1] ?? '') && !WORD_CHARACTER.test(sql[at - 2] ?? '');
}

function dollarQuotedAt(sql: string, at: number): { kind: PieceKind; end: number } | undefined {
  if (WORD_CHARACTER.test(sql[at - 1] ?? '')) return undefined;
  const tag = DOLLAR_TAG.exec(sql.slice(at))?.[0];
  if (!tag) return undefined;
  return { kind: 'literal', end: endOf(sql, tag, at + tag.length, tag.length) };
}

/**
 * Where each statement of a script begins, counted in UTF-16 units. Statements of comments and
 * blanks alone are left out: the server executes nothing for them.
 */
export function statementStarts(sql: string): number[] {
  const starts: number[] = [];
  let begun = false;
  // Semicolons inside `begin atomic … end` belong to the function's body.
  let depth = 0;
  let previous = '';
  for (const piece of splitPieces(sql)) {
    if (piece.kind === 'comment') continue;
    const tokens = piece.kind === 'code' ? piece.text.matchAll(/[\w$]+|\S/g) : [];
    if (piece.kind !== 'code' && !begun) {
      starts.push(piece.start);
      begun = true;
    }
    for (const token of tokens) {
      const word = token[0].toLowerCase();
      if (word === ';' && depth === 0) {
        begun = false;
        continue;
      }
      if (!begun) starts.push(piece.start + token.index);
      begun = true;
      if (word === 'atomic' && previous === 'begin') depth = 1;
      else if (depth > 0 && word === 'case') depth++;
      else if (depth > 0 && word === 'end') depth--;
      previous = word;
    }
  }
  return starts;
}

/** The line, counted from 1, of a place in a text. */
export function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) line++;
  return line;
}
