import type { createStage, Stage } from '../fixtures.ts';

interface Step {
  step: string;
  passed: boolean | null;
  explanation: string;
}

const STEPS = [
  'entry',
  'action',
  'actor',
  'watch',
  'reason',
  'failure',
  'queue',
  'window',
  'access',
  'preferences',
  'verdict',
];

export async function explain(stage: Stage, person: number, activity: number): Promise<Step[]> {
  const steps = await stage.byAdministrator('select * from bellwire.explain_delivery($1, $2)', [
    person,
    activity,
  ]);
  return steps as unknown as Step[];
}

export const named = (steps: Step[], name: string) => steps.find(({ step }) => step === name);

export const obstacles = (steps: Step[]) =>
  steps
    .filter(({ step, passed }) => step !== 'verdict' && passed === false)
    .map(({ step }) => step);

/** The entry that this adds, of this action. */
export async function entry(
  stage: Stage,
  action: string,
  change: () => Promise<unknown>,
): Promise<number> {
  await change();
  return stage.value('select max(id) from bellwire.activity_log where action = $1', [action]);
}

export const publish = (stage: Stage, by: number) =>
  entry(stage, 'log.publish', () =>
    stage.by(by, 'select api.publish_document($1, $2)', [stage.documentId, 'v1']),
  );

export const prefer = (stage: Stage, person: number, kind: string, wish: object) =>
  stage.by(person, 'select api.set_notification_preferences($1)', [
    JSON.stringify({ [kind]: wish }),
  ]);

/** Asserts the verdict, and that exactly these questions went against it. */
export async function verdict(
  t: Parameters<typeof createStage>[0],
  stage: Stage,
  person: number,
  activity: number,
  expected: { told: boolean; says: RegExp; against: string[] },
  what: string,
): Promise<Step[]> {
  const steps = await explain(stage, person, activity);
  t.strictSame(
    steps.map(({ step }) => step),
    STEPS,
    `${what}: every question, the verdict last`,
  );
  t.strictSame(obstacles(steps), expected.against, `${what}: what stands against it`);
  const last = named(steps, 'verdict');
  t.equal(last?.passed, expected.told, `${what}: told or not`);
  t.match(last?.explanation, expected.says, what);
  const rows = await stage.look(
    'select from bellwire.notifications where user_id = $1 and activity_id = $2',
    [person, activity],
  );
  t.equal(rows.length === 1, expected.told, `${what}: and so it is`);
  return steps;
}
