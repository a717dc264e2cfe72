import type { BenchDatabase } from './database.ts';

/** One line of the bench: `ratio` is how `value` compares with the thing named in `against`. */
export interface Measurement {
  figure: string;
  value: number;
  unit: string;
  against: string;
  /** Above 1: better than the other; rates and times alike. */
  ratio: number;
  goal?: number;
}

export type Figure = (
  database: BenchDatabase,
  log: (line: string) => void,
) => Promise<Measurement[]>;

/** Runs `work` once and says how long it took. Unit: seconds. */
export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e9;
}

/** The middle of several runs: one disturbed by something else on the machine does not count. */
export function median(values: number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** The value that so large a part of them does not exceed. */
export function percentile(values: number[], part: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.ceil(sorted.length * part) - 1] ?? Number.NaN;
}

export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
