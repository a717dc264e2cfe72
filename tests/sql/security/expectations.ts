import { readFileSync } from 'node:fs';
import type { Stage } from '../fixtures.ts';
import { measure } from './measure.ts';
import { PERSONAS, type PersonaName } from './two-tenants.ts';

const FILE = new URL('./access.txt', import.meta.url);

/** The lines of one kind (`relation` or `function`), without remarks and blank lines. */
export function expectedLines(kind: 'relations' | 'functions'): string[] {
  const [, text = ''] = readFileSync(FILE, 'utf8').split(`\n== ${kind} ==\n`);
  const [own = ''] = text.split('\n== ');
  return own
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** What is measured, in the form of the file: a relation, and below it who may do what. */
export async function relationLines(stage: Stage, only?: string[]): Promise<string[]> {
  const lines: string[] = [];
  for (const [name, byPersona] of await measure(stage, only)) {
    lines.push(name);
    const groups = new Map<string, PersonaName[]>();
    for (const [persona, may] of byPersona) {
      if (may) groups.set(may, [...(groups.get(may) ?? []), persona]);
    }
    for (const [may, personas] of groups) lines.push(`  ${personas.join(' ')}: ${may}`);
    if (groups.size === 0) lines.push('  nobody');
  }
  return lines;
}

/** Each line with the name of its relation before it, so that lines can be compared one by one. */
export function blocks(lines: string[]): string[] {
  let name = '';
  return lines.map((line) => {
    if (!line.startsWith(' ')) name = line;
    return line === name ? line : `${name}${line}`;
  });
}

/** The lines of the file that belong to these relations. */
export function expectedOf(only: string[]): string[] {
  let isWanted = false;
  return expectedLines('relations').filter((line) => {
    if (!line.startsWith(' ')) isWanted = only.includes(line);
    return isWanted;
  });
}

/** Every function with who may execute it, its owner aside; the generated ones under one name. */
export async function functionLines(stage: Stage): Promise<string[]> {
  const roles = Object.entries(PERSONAS)
    .filter(([, { role }], at, all) => all.findIndex(([, other]) => other.role === role) === at)
    .map(([persona, { role }]) => [role === 'authenticated' ? 'authenticated' : persona, role]);
  const rows = await stage.look(
    `select case when pronamespace = 'bellwire_tracked'::regnamespace then 'bellwire_tracked.*'
         else replace(function.oid::regprocedure::text, ',', ', ') end as name,
       array(
         select role.persona from unnest($1::text[], $2::text[]) with ordinality as role(persona, name, place)
         where has_function_privilege(role.name, function.oid, 'execute')
           and role.name::regrole <> function.proowner
         order by role.place) as callers,
       proowner::regrole::text as owner
     from pg_proc as function
     where pronamespace::regnamespace::text in ('bellwire', 'identity', 'suite', 'api', 'bellwire_tracked')
     order by 1`,
    [roles.map(([persona]) => persona), roles.map(([, role]) => role)],
  );
  const lines = rows.map(({ name, callers, owner }) => {
    const own = owner === 'bellwire_definer' ? '' : ` OWNED BY ${owner}`;
    return `${name}: ${(callers as string[]).join(' ') || '-'}${own}`;
  });
  return [...new Set(lines)].sort();
}
