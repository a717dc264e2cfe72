import t from 'tap';
import { Drain } from '../../worker/drain.ts';
import { until } from './support.ts';

t.test('runs until nothing is found, and looks again after that', async (t) => {
  const found = [true, true, false, false, true, false];
  let steps = 0;
  const drain = new Drain({
    step: async () => {
      steps += 1;
      return found.shift() ?? false;
    },
  });
  await drain.run();
  t.equal(found.length, 0, 'what came between two looks was found too');
  t.equal(steps, 8, 'and after that it looked twice more');
  t.equal(drain.isRunning, false);
});

t.test('asking during a run is not lost and holds up nobody', async (t) => {
  let release = () => {};
  let steps = 0;
  const drain = new Drain({
    step: async () => {
      steps += 1;
      if (steps === 1) {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      }
      return false;
    },
  });
  const run = drain.run();
  await until('the step is in progress', () => steps === 1);
  await drain.run();
  t.equal(steps, 1, 'the second caller did not wait and did not step');
  release();
  await run;
  t.equal(steps, 4, 'one look for the question, two more for quiet');
});

t.test('asking while it rests makes it look at once', async (t) => {
  const looks: number[] = [];
  const drain = new Drain({
    step: async () => {
      looks.push(performance.now());
      return false;
    },
  });
  const run = drain.run();
  await until('the second look', () => looks.length === 2);
  await drain.run();
  await until('the third look', () => looks.length === 3);
  t.ok((looks[2] ?? 0) - (looks[1] ?? 0) < 70, 'before the rest of 80 ms was over');
  await run;
});

t.test('a bounded run ends and says that there is more', async (t) => {
  let unfinished = 0;
  let steps = 0;
  const drain = new Drain({
    step: async () => {
      steps += 1;
      return true;
    },
    maxSteps: 10,
    onUnfinished: () => {
      unfinished += 1;
    },
  });
  await drain.run();
  t.strictSame({ steps, unfinished }, { steps: 10, unfinished: 1 });
});

t.test('a failing step rejects, and the next run is a fresh one', async (t) => {
  let fails = true;
  const drain = new Drain({
    step: async () => {
      if (fails) throw new Error('no database');
      return false;
    },
  });
  await t.rejects(drain.run(), /no database/);
  fails = false;
  await t.resolves(drain.run());
});

t.test('stop waits for the batch in hand and ends the rest', async (t) => {
  let finished = false;
  let release = () => {};
  const drain = new Drain({
    step: async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      finished = true;
      return true;
    },
  });
  const run = drain.run();
  const stopped = drain.stop();
  release();
  await stopped;
  t.equal(finished, true);
  await run;
  await drain.run();
  t.equal(drain.isRunning, false, 'after that it does nothing');
});
