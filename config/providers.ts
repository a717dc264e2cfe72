/** How people sign in. AUTH_PROVIDERS names those that are offered. */
const PROVIDERS = ['local', 'google', 'oidc'] as const;

export type Provider = (typeof PROVIDERS)[number];

/** What can be configured; the others are known, so that a name that is none is told apart. */
const CONFIGURABLE: readonly Provider[] = ['local'];

/** Reads the comma list; a refusal is a sentence without its subject. */
export function readProviders(text: string): { refusal: string } | { providers: Provider[] } {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const choice = `use ${PROVIDERS.join(', ')}, by comma`;
  if (names.length === 0) return { refusal: `names no way to sign in: ${choice}` };
  const unknown = names.find((name) => !isProvider(name));
  if (unknown !== undefined) {
    return { refusal: `names "${unknown}", which is no way to sign in: ${choice}` };
  }
  const providers = [...new Set(names.filter(isProvider))];
  const missing = providers.find((name) => !CONFIGURABLE.includes(name));
  if (missing !== undefined) {
    return { refusal: `names ${missing}, which is not configured: leave it out` };
  }
  return { providers };
}

function isProvider(name: string): name is Provider {
  return (PROVIDERS as readonly string[]).includes(name);
}
