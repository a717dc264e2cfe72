import fc from 'fast-check';

/**
 * A bound for a machine that is busy with something else, and for shrinking a failure, which asks
 * the database again and again: after this a property ends with what it has found.
 */
const TIME_LIMIT_MS = 30_000;

/**
 * Holds a property for a fixed number of sequences of steps. A failure names the seed; with
 * `PROPERTY_SEED` set to it, `npm test -- <file>` makes the very same sequences again.
 */
export async function holdsForAll<Step>(
  step: fc.Arbitrary<Step>,
  options: { runs: number; maxSteps: number },
  run: (steps: Step[]) => Promise<void>,
): Promise<void> {
  const seed = Number(process.env.PROPERTY_SEED);
  const steps = fc.array(step, { minLength: 1, maxLength: options.maxSteps, size: 'max' });
  await fc.assert(fc.asyncProperty(steps, run), {
    numRuns: options.runs,
    interruptAfterTimeLimit: TIME_LIMIT_MS,
    ...(process.env.PROPERTY_SEED ? { seed } : {}),
  });
}
