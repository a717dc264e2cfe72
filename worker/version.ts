import { readFileSync } from 'node:fs';

const manifest: { version: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

/** What receivers and mail servers see as the sender. */
export const USER_AGENT = `Bellwire/${manifest.version}`;
