/**
 * Writes .env.example and the table of variables in README.md from config/contract.ts.
 *
 *   npx tsx scripts/env-docs.ts           writes both
 *   npx tsx scripts/env-docs.ts --check   exits 1 when one of them says something else
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { CONTRACT, type Variable } from '../config/contract.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const EXAMPLE = '.env.example';
const README = 'README.md';
const HEADING = '## Configuration';
const LINE_CHARACTERS = 100;

const INTRODUCTION = [
  'Copy to .env and take the "#" off the lines you want to change. Every value shown is the default;',
  'a variable without one may stay unset, unless it says otherwise.',
];

const read = (CONTRACT as readonly Variable[]).filter(({ kind }) => kind !== 'removed');

function exampleFile(): string {
  const entries = read.map((variable) => {
    const necessity = describeNecessity(variable);
    const text = necessity ? `${variable.why} ${capitalised(necessity)}.` : variable.why;
    const comment = wrap(text).map((line) => `# ${line}`);
    return [...comment, `#${variable.name}=${variable.default ?? ''}`].join('\n');
  });
  const introduction = INTRODUCTION.map((line) => `# ${line}`).join('\n');
  return `${[introduction, ...entries].join('\n\n')}\n`;
}

function readmeTable(): string {
  const rows = read.map((variable) => [
    `\`${variable.name}\``,
    [
      variable.default === undefined ? undefined : `\`${variable.default}\``,
      describeNecessity(variable),
    ]
      .filter(Boolean)
      .join('; '),
    variable.why,
  ]);
  return table(['variable', 'default', 'what for'], rows);
}

/** When the variable has to be set, in a few words. */
function describeNecessity({ kind, requiredWith }: Variable): string | undefined {
  if (kind === 'required') return 'required';
  if (kind === 'required-in-production') return 'required in production';
  return requiredWith && `required with ${requiredWith.join(' or ')}`;
}

/** As the formatter lays it out: every column as wide as its widest cell. */
function table(head: string[], rows: string[][]): string {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

function readmeFile(readme: string): string {
  const start = readme.indexOf('\n|', readme.indexOf(HEADING)) + 1;
  const rest = readme.slice(start);
  const length = rest.search(/\n(?!\|)/);
  return readme.slice(0, start) + readmeTable() + rest.slice(length);
}

function wrap(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length + 3 > LINE_CHARACTERS) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const readFile = (name: string) => readFileSync(path.join(ROOT, name), 'utf8');
const pages = [
  { name: EXAMPLE, text: exampleFile() },
  { name: README, text: readmeFile(readFile(README)) },
];
for (const { name, text } of pages) {
  if (!values.check) {
    writeFileSync(path.join(ROOT, name), text);
  } else if (readFile(name) !== text) {
    console.error(`${name} is not what config/contract.ts says: run npx tsx scripts/env-docs.ts`);
    process.exitCode = 1;
  }
}
