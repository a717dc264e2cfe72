import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from '@babel/parser';

/**
 * Where source reads the environment, found in its syntax tree. TypeScript 7 has no parser to call any
 * more; Babel's reads the same language and brings nothing else along.
 */

const ROOT = path.resolve(import.meta.dirname, '../..');
/** An example is a program of somebody else, with an environment of its own. */
const NOT_OURS = new Set(['node_modules', 'tests', 'dist', 'docs', 'coverage', 'examples']);
/** How a checked environment is called wherever it is handed around. */
const ENVIRONMENTS = new Set(['settings', 'environment']);
const PROCESS = new Set(['process']);
const VARIABLE = /^[A-Z][A-Z0-9_]*$/;

export interface Reads {
  /** Names read by name, with the places. */
  names: Map<string, string[]>;
  /** Places that read a variable whose name is computed, of the process or of what is handed around. */
  computed: string[];
  /** Files that hand the environment around as a whole. */
  whole: string[];
}

interface Node {
  type: string;
  loc?: { start: { line: number } };
  [property: string]: unknown;
}

/** All of Bellwire's source, whatever folders there will be; not the tests. */
export function sourceFiles(): string[] {
  return readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .filter(({ name }) => !name.startsWith('.') && !NOT_OURS.has(name))
    .flatMap(({ name }) =>
      readdirSync(path.join(ROOT, name), { recursive: true }).map((file) =>
        path.join(name, String(file)),
      ),
    )
    .filter((file) => /\.(ts|tsx|js|mjs|jsx)$/.test(file) && !file.includes('node_modules'))
    .sort();
}

export function environmentReads(files: string[]): Reads {
  const reads: Reads = { names: new Map(), computed: [], whole: [] };
  for (const file of files) readText(readFileSync(path.join(ROOT, file), 'utf8'), file, reads);
  return reads;
}

export function readText(text: string, file: string, reads: Reads): Reads {
  const tree = parse(text, {
    sourceType: 'module',
    plugins: file.endsWith('x') ? ['typescript', 'jsx'] : ['typescript'],
  });
  visit(tree.program as unknown as Node, undefined, (node, parent) => {
    const place = `${file}:${node.loc?.start.line}`;
    if (importsEnvironment(node)) reads.whole.push(place);
    if (isProcessEnvironment(node)) noteProcess(node, parent, place, reads);
    else if (takesProcess(node)) reads.whole.push(place);
    else if (isMember(node) && isNamed(node.object as Node, ENVIRONMENTS)) {
      const name = propertyName(node);
      if (name === undefined) reads.computed.push(place);
      else if (VARIABLE.test(name)) note(name, place, reads);
    } else if (node.type === 'VariableDeclarator' && isNamed(node.init as Node, ENVIRONMENTS)) {
      noteDestructured(node.id as Node, place, reads);
    }
  });
  return reads;
}

/** What becomes of `process.env` decides: a name, a computed name, or all of it. */
function noteProcess(node: Node, parent: Node | undefined, place: string, reads: Reads): void {
  if (parent && isMember(parent) && parent.object === node) {
    const name = propertyName(parent);
    if (name === undefined) reads.computed.push(place);
    else note(name, place, reads);
    return;
  }
  reads.whole.push(place);
}

function noteDestructured(pattern: Node, place: string, reads: Reads): void {
  if (pattern?.type !== 'ObjectPattern') return;
  for (const property of pattern.properties as Node[]) {
    const key = property.key as { name?: string } | undefined;
    if (key?.name && VARIABLE.test(key.name)) note(key.name, place, reads);
  }
}

function note(name: string, place: string, reads: Reads): void {
  reads.names.set(name, [...(reads.names.get(name) ?? []), place]);
}

/** `process.env` or `globalThis.process.env`, however it is written. */
function isProcessEnvironment(node: Node): boolean {
  if (!isMember(node) || propertyName(node) !== 'env') return false;
  const object = node.object as Node;
  return isNamed(object, PROCESS) || (isMember(object) && propertyName(object) === 'process');
}

/** `const { env } = process`, or the process under another name or handed on: with all of it. */
function takesProcess(node: Node): boolean {
  const taken = [node.init, node.right, ...((node.arguments as Node[] | undefined) ?? [])];
  return taken.some((value) => isNamed(value as Node, PROCESS));
}

/** import { env } from 'node:process' */
function importsEnvironment(node: Node): boolean {
  if (node.type !== 'ImportDeclaration') return false;
  return /^(node:)?process$/.test(String((node.source as { value?: string }).value));
}

function isMember(node: Node | undefined): node is Node {
  return node?.type === 'MemberExpression' || node?.type === 'OptionalMemberExpression';
}

function isNamed(node: Node | null | undefined, names: ReadonlySet<string>): boolean {
  return node?.type === 'Identifier' && names.has(String(node.name));
}

/** Undefined for one that is computed. */
function propertyName(node: Node): string | undefined {
  const property = node.property as Node;
  if (node.computed !== true) return String(property.name);
  return property.type === 'StringLiteral' ? String(property.value) : undefined;
}

function visit(
  node: Node,
  parent: Node | undefined,
  look: (node: Node, parent: Node | undefined) => void,
): void {
  look(node, parent);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child === 'object' && child !== null && 'type' in child) {
        visit(child as Node, node, look);
      }
    }
  }
}
