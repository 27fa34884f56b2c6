import type { Context } from 'hono';

/** GitLab's defaults and bounds. */
const PER_PAGE = 20;
/** GitLab does not count lists longer than this. */
const COUNTED_MAX = 10_000;
export const PER_PAGE_MAX = 100;

/** One page, and the headers that lead to the others. */
interface RestPage<Entry> {
  readonly entries: readonly Entry[];
  readonly headers: Readonly<Record<string, string>>;
}

/** Answers one numbered page of a list. */
export function listPage<Entry>(
  c: Context,
  all: readonly Entry[],
  entity: (entry: Entry) => object,
): Response {
  const { entries, headers } = numberedPage(all, new URL(c.req.url));
  return c.json(
    entries.map((entry) => entity(entry)),
    200,
    headers,
  );
}

export const notFound = (c: Context): Response => c.json({ message: '404 Not found' }, 404);

export const noKeyset = (c: Context): Response =>
  c.json({ error: 'Keyset pagination is not yet available for this type of request' }, 405);

/** Pages by number: they shift when an entry is added or removed in between, as GitLab's do. */
export function numberedPage<Entry>(all: readonly Entry[], url: URL): RestPage<Entry> {
  const perPage = perPageOf(url);
  const page = Math.max(1, Math.trunc(Number(url.searchParams.get('page'))) || 1);
  const pages = Math.max(1, Math.ceil(all.length / perPage));
  const next = page < pages ? String(page + 1) : '';
  return {
    entries: all.slice((page - 1) * perPage, page * perPage),
    headers: {
      'x-page': String(page),
      'x-per-page': String(perPage),
      'x-next-page': next,
      'x-prev-page': page > 1 ? String(page - 1) : '',
      ...(all.length <= COUNTED_MAX && {
        'x-total': String(all.length),
        'x-total-pages': String(pages),
      }),
      ...(next !== '' && { link: nextLink(url, 'page', next) }),
    },
  };
}

/** Pages by a cursor at the last id: nothing shifts. `Link` is the only header. */
export function keysetPage(ascending: readonly number[], url: URL): RestPage<number> {
  const perPage = perPageOf(url);
  const { ids, isLast } = olderThan(ascending, readCursor(url.searchParams.get('cursor')), perPage);
  const last = ids.at(-1);
  return {
    entries: ids,
    headers: isLast || last === undefined ? {} : { link: nextLink(url, 'cursor', cursorAt(last)) },
  };
}

/** Pages by the last id, in either order: the link has `id_after` or `id_before`. */
export function keysetPageById(ascending: readonly number[], url: URL): RestPage<number> {
  const perPage = perPageOf(url);
  const rising = url.searchParams.get('sort') === 'asc';
  const ids = rising ? ascending : ascending.toReversed();
  const entries = ids.slice(0, perPage);
  const last = ids.length > perPage ? entries.at(-1) : undefined;
  const link =
    last === undefined ? {} : { link: nextLink(url, rising ? 'id_after' : 'id_before', String(last)) };
  return { entries, headers: link };
}

/** Ids below `id` in descending order; without `id`, from the highest. */
export function olderThan(
  ascending: readonly number[],
  id: number | undefined,
  count: number,
): { readonly ids: readonly number[]; readonly isLast: boolean } {
  const older = id === undefined ? ascending.length : countBelow(ascending, id);
  return { ids: ascending.slice(Math.max(0, older - count), older).reverse(), isLast: older <= count };
}

function nextLink(url: URL, name: string, value: string): string {
  const next = new URL(url);
  next.searchParams.set(name, value);
  return `<${next}>; rel="next"`;
}

function perPageOf(url: URL): number {
  const asked = Math.trunc(Number(url.searchParams.get('per_page'))) || PER_PAGE;
  return Math.min(PER_PAGE_MAX, Math.max(1, asked));
}

const cursorAt = (id: number): string =>
  Buffer.from(JSON.stringify({ id: String(id), _kd: 'n' })).toString('base64url');

function readCursor(cursor: string | null): number | undefined {
  if (cursor === null) return undefined;
  const { id } = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  return Number(id);
}

/** The number of ascending ids below `id`. */
function countBelow(ascending: readonly number[], id: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
