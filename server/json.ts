const KEYS = new Map<string, string>();

/** `link_path` becomes `linkPath`. */
function camelKey(key: string): string {
  let camel = KEYS.get(key);
  if (camel === undefined) {
    camel = key.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
    // Column names only, so the map stays as small as the schema.
    KEYS.set(key, camel);
  }
  return camel;
}

/** Top-level keys only: what is inside a JSON column is the caller's own and passes untouched. */
export function camelRow(row: Record<string, unknown>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(row)) result[camelKey(key)] = value;
  return result;
}
