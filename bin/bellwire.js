#!/usr/bin/env node
// The sources are TypeScript and run as they are: tsx translates each file when it is loaded.
import { register } from 'tsx/esm/api';

register();
const { main } = await import('../cli/main.ts');
await main(process.argv);
