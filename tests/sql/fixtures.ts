import type { Test } from 'tap';
import { createDatabase } from '../support/database.ts';
import { readTestEnvironment } from '../support/environment.ts';
import { Stage } from './stage.ts';

export {
  type Entry,
  PASSWORD_HASH,
  type People,
  type Row,
  type Stage,
  type Told,
} from './stage.ts';

/** A clone of the set stage: its rows are as old as the test run. */
export async function createStage(t: Test): Promise<Stage> {
  const { stage } = readTestEnvironment();
  if (!stage) throw new Error('This test server has no stage.');
  return new Stage(await createDatabase(t, stage.template), stage.ids);
}

/** Asserts that Postgres refuses with this SQLSTATE and, where given, this detail and hint. */
export async function refused(
  t: Test,
  attempt: Promise<unknown>,
  expected: { code: string; detail?: string; hint?: RegExp; message?: RegExp; constraint?: string },
  what: string,
): Promise<void> {
  await t.rejects(attempt, expected, what);
}
