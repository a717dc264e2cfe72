import type { Demo } from '../demo.ts';

/** The database recorded what the demo did: each action as often, and by whom. */
export async function checkActivity({ stage, ledger }: Demo): Promise<string> {
  const { rows } = await stage.admin.query<{ deed: string; count: number }>(
    "select action || ' by ' || actor_id as deed, count(*)::int as count " +
      'from bellwire.activity_log group by deed',
  );
  const recorded = new Map(rows.map(({ deed, count }) => [deed, count]));
  const expected = ledger.activityByPerson();
  const wrong = [...new Set([...recorded.keys(), ...expected.keys()])].filter(
    (deed) => recorded.get(deed) !== expected.get(deed),
  );
  if (wrong.length > 0) {
    const list = wrong.map(
      (deed) => `${deed} ${recorded.get(deed) ?? 0} instead of ${expected.get(deed) ?? 0}`,
    );
    throw new Error(`recorded ${list.join(', ')}`);
  }
  const total = [...recorded.values()].reduce((sum, count) => sum + count, 0);
  return (
    `${total} activity entries of ${ledger.activity().size} kinds, each as often as it was done ` +
    `and by whom; ${ledger.mergedCount} repeated edits merged into them`
  );
}

/** The kinds, most frequent first, for a line below the tick. */
export function describeActivity({ ledger }: Demo): string {
  return [...ledger.activity()]
    .sort(([, one], [, other]) => other - one)
    .map(([action, count]) => `${action} ${count}`)
    .join(', ');
}

export async function checkRuleFailures({ stage }: Demo): Promise<string> {
  const { rows } = await stage.admin.query<{ rule: string; message: string }>(
    'select rule, message from bellwire.rule_failures order by id',
  );
  const [first] = rows;
  if (first) throw new Error(`${rows.length} failures, the first: ${first.rule}: ${first.message}`);
  return 'no rule failed';
}
