import { Lifecycle } from '../../cli/signals.ts';

/** A long-running command of one part, for tests/boot/gates.test.ts: what it does is the first parameter. */
const SOON_MS = 100;
/** Later than what still counts as the same Ctrl-C. */
const LATER_MS = 700;
const never = () => new Promise<void>(() => {});

const lifecycle = new Lifecycle();
const after = (ms: number, act: () => void) => setTimeout(act, ms);

const ACTS: Record<string, { stop: () => Promise<void>; act?: () => void }> = {
  'a stop that hangs': { stop: never },
  'a failure': {
    stop: async () => console.log('stopped all the same'),
    act: () => {
      throw new Error('a mistake in the program');
    },
  },
  'a Ctrl-C under npm, and another one': {
    stop: never,
    act: () => {
      process.emit('SIGINT');
      process.emit('SIGINT');
      after(SOON_MS, () => console.log('still stopping'));
      after(LATER_MS, () => process.emit('SIGINT'));
    },
  },
};

const { stop, act } = ACTS[process.argv[2] ?? ''] ?? { stop: never };
process.exit(
  await lifecycle.run(async () => {
    lifecycle.onStop('The part', stop);
    console.log('running');
    if (act) after(SOON_MS, act);
  }),
);
