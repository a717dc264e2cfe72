/**
 * Checks the style of every SQL file under db/. Prints `file:line: message` per finding and exits
 * 1 if there is any.
 *
 * Everywhere: key words in lower case (outside comments, literals and quoted names; the bodies of
 * functions are code too), no tabs, no trailing blanks, no line over 140 characters. In
 * db/functions also: one function per file with the file's name, a header comment that says who
 * calls it and what it raises, `comment on`, `revoke … from public`, and a fixed search path.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { lineAt, splitPieces } from '../db/sql-text.ts';

const MAX_LINE_CHARACTERS = 140;
const FUNCTIONS_FOLDER = path.join('db', 'functions');

/** Words that are never names here, so that an upper-case one is a key word. */
const KEY_WORDS = new Set(
  `add after all alter and any array as asc before begin between bigint boolean by bytea cascade
   case cast check coalesce collate column comment commit conflict constraint create cross current
   current_timestamp declare default deferrable delete desc distinct do domain drop each else elsif
   end enable exception execute exists false filter first following for force foreign found from
   full function grant group having if immutable in index inherit inner inout insert int integer
   interval into is join json jsonb key language last lateral left like limit lock loop materialized
   new not notice nothing null nulls offset old on only or order out outer over parallel partition
   perform plpgsql policy preceding primary procedure public raise range recursive references
   replace restrict return returning returns revoke right role rollback row rows rule
   safe schema security select sequence set setof similar stable statement strict table temporary
   text then timestamptz to transition trigger true truncate type unbounded union unique update
   usage using uuid values varchar view volatile when where while window with`.split(/\s+/),
);

interface Finding {
  file: string;
  line: number;
  message: string;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const findings = sqlFiles(path.join(root, 'db')).flatMap(checkFile);
for (const { file, line, message } of findings) console.error(`${file}:${line}: ${message}`);
if (findings.length > 0) {
  console.error(`\n${findings.length} findings in the SQL.`);
  process.exitCode = 1;
}

function sqlFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sql'))
    .map((name) => path.join(folder, name))
    .sort();
}

function checkFile(absolute: string): Finding[] {
  const file = path.relative(root, absolute);
  const text = readFileSync(absolute, 'utf8');
  const found: [index: number, message: string][] = [...checkLines(text), ...checkCase(text, 0)];
  if (file.startsWith(FUNCTIONS_FOLDER)) {
    found.push(...checkFunctionFile(text, path.basename(file, '.sql')));
  }
  return found
    .sort((left, right) => left[0] - right[0])
    .map(([index, message]) => ({ file, line: lineAt(text, index), message }));
}

function* checkLines(text: string): Generator<[number, string]> {
  let start = 0;
  for (const line of text.split('\n')) {
    if (line.includes('\t')) yield [start, 'a tab: indent with blanks'];
    if (/\s$/.test(line)) yield [start, 'blanks at the end of the line'];
    const length = Array.from(line).length;
    if (length > MAX_LINE_CHARACTERS) {
      yield [start, `${length} characters, more than ${MAX_LINE_CHARACTERS}`];
    }
    start += line.length + 1;
  }
  if (text !== '' && !text.endsWith('\n'))
    yield [text.length, 'no line end at the end of the file'];
}

function* checkCase(text: string, offset: number): Generator<[number, string]> {
  for (const piece of splitPieces(text)) {
    const start = offset + piece.start;
    if (piece.kind === 'literal') {
      const tag = /^\$\w*\$/.exec(piece.text)?.[0];
      // A dollar-quoted literal is a body, and a body is code.
      if (tag) yield* checkCase(piece.text.slice(tag.length, -tag.length), start + tag.length);
    }
    if (piece.kind !== 'code') continue;
    for (const match of piece.text.matchAll(/[A-Za-z_][\w$]*/g)) {
      const word = match[0];
      if (word === word.toLowerCase() || !KEY_WORDS.has(word.toLowerCase())) continue;
      yield [start + match.index, `key word ${word}: write ${word.toLowerCase()}`];
    }
  }
}

function* checkFunctionFile(text: string, name: string): Generator<[number, string]> {
  const pieces = splitPieces(text);
  const header = text.slice(0, pieces.find((piece) => !isBlankOrComment(piece))?.start ?? 0);
  if (!header.trim()) yield [0, 'no header comment at the top'];
  for (const words of ['Called by', 'Errors']) {
    if (header.trim() && !header.includes(words)) {
      yield [0, `the header comment does not say "${words}"`];
    }
  }
  // Positions stay those of the file: what is not code is blanked out, not cut out.
  const code = pieces
    .map((piece) => (piece.kind === 'code' ? piece.text : piece.text.replaceAll(/[^\n]/g, ' ')))
    .join('');
  yield* checkDefinition(text, code, name);
}

function* checkDefinition(text: string, code: string, name: string): Generator<[number, string]> {
  const creations = [
    ...code.matchAll(/\bcreate\s+(?:or\s+replace\s+)?(?:function|procedure)\s+([\w.]+)/gi),
  ];
  const [creation, second] = creations;
  if (!creation) {
    yield [0, 'no create function in this file'];
    return;
  }
  if (second) yield [second.index, 'a second function: one per file'];
  const created = (creation[1] ?? '').split('.').at(-1);
  if (created !== name) yield [creation.index, `function ${created} in a file named ${name}.sql`];
  if (!/\bcomment\s+on\s+(?:function|procedure|routine)\b/i.test(code)) {
    yield [creation.index, 'no comment on function'];
  }
  if (!/\brevoke\s+all\s+on\s+(?:function|procedure|routine)\b[^;]*\bfrom\s+public\b/i.test(code)) {
    yield [creation.index, 'no revoke all on function … from public'];
  }
  const needsPath = /\bsecurity\s+definer\b|\blanguage\s+plpgsql\b/i.test(code);
  if (needsPath && !/\bset\s+search_path\s*(?:=|to)\s*''/i.test(text)) {
    yield [creation.index, "security definer and plpgsql functions set search_path = ''"];
  }
}

function isBlankOrComment(piece: { kind: string; text: string }): boolean {
  return piece.kind === 'comment' || (piece.kind === 'code' && piece.text.trim() === '');
}
