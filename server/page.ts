import { notFound } from './problem.ts';

interface Page<Item> {
  success: true;
  items: Item[];
  nextCursor: string | null;
}

/**
 * A page out of rows that were asked for with `limit + 1`: the one too many only tells that there
 * is more.
 */
export function page<Item>(
  rows: readonly Item[],
  limit: number,
  cursorOf: (item: Item) => string,
): Page<Item> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return {
    success: true,
    items,
    nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null,
  };
}

/**
 * The text of a statement that lists the children of one parent by id: `$1` the parent, `$2` the
 * id to continue after, `$3` how many. A parent that is there but has none gives one row of
 * nulls, so that a list of nothing and a parent one may not see differ. All arguments are
 * constants of the routes, never anything from a request.
 */
export function childrenSql(parent: string, child: string, key: string, columns: string): string {
  return (
    `select child.* from ${parent} as parent left join lateral (` +
    `select ${columns} from ${child} where ${key} = parent.id and id > $2 order by id limit $3` +
    ') as child on true where parent.id = $1 order by child.id'
  );
}

/** The page of rows of {@link childrenSql}; no row at all is a 404. */
export function childrenPage<Item extends { id: number }>(
  rows: readonly Item[],
  limit: number,
): Page<Item> {
  if (rows.length === 0) throw notFound();
  const items = rows.filter((row) => row.id !== null);
  return page(items, limit, (item) => String(item.id));
}
