import { readFileSync } from 'node:fs';

/** A page of the documentation, named from the root of the checkout. */
export function readPage(name: string): string {
  return readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
}

/** The text of a section, from its heading to the next one of the same depth. */
export function section(page: string, heading: string): string {
  const [, text] = page.split(`\n## ${heading}\n`);
  if (text === undefined) throw new Error(`There is no section "${heading}".`);
  return text.split('\n## ')[0] ?? '';
}

/** The fenced blocks of one language in a text. */
export function blocks(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, block]) => block ?? '',
  );
}

/** The rows of every table in a text, heads and rules left out. */
export function tableRows(text: string): string[][] {
  const lines = text.split('\n');
  return lines
    .filter((line, at) => {
      const isHead = lines[at + 1]?.startsWith('| ---');
      return line.startsWith('| ') && !line.startsWith('| ---') && !isHead;
    })
    .map((line) => {
      const cells = line.split(/(?<!\\)\|/).slice(1, -1);
      return cells.map((cell) => cell.trim());
    });
}
