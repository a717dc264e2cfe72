/**
 * What a statement is called in a log: the first function it calls, or else the first thing it names.
 * The text itself may be long, and parameters are never part of it.
 */
export function statementName(text: string): string {
  const called =
    /\b([a-z_]+\.[a-z_]+)\(/.exec(text) ?? /\b(?:from|into|update) ([a-z_.]+)/.exec(text);
  return called?.[1] ?? text.trim().slice(0, LONGEST_NAME);
}

const LONGEST_NAME = 20;
