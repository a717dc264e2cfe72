#!/usr/bin/env node
// The sources are TypeScript and run as they are: tsx translates each file when it is loaded.
import { register } from 'tsx/esm/api';

// Loading takes a moment, and the first process of a container gets no signal that it has no handler
// for. Nothing is begun yet, so there is nothing to stop; the command takes over from here.
if (['start', 'server', 'worker', 'db'].includes(process.argv[2])) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      console.error(`stopped on ${signal} during boot`);
      process.exit(0);
    });
  }
}

register();
const { main } = await import('../cli/main.ts');
await main(process.argv);
