/** GitLab's most. */
const PER_PAGE = 100;

/**
 * Returns the query of the next page, or undefined after the last. It reads both of GitLab's ways: `Link`
 * (keyset and numbered pages) and `X-Next-Page` (numbered). Only a link's query is used, never its host,
 * because the token must stay at the configured address.
 */
export function nextPage(headers: Headers): string | undefined {
  const link = linkTo('next', headers.get('link') ?? '');
  if (link !== undefined) return link;
  const number = headers.get('x-next-page') ?? '';
  return /^\d+$/.test(number) ? `page=${number}` : undefined;
}

function linkTo(relation: string, header: string): string | undefined {
  for (const [, address = '', parameters = ''] of header.matchAll(/<([^>]*)>([^<]*)/g)) {
    if (!new RegExp(`;\\s*rel="?${relation}"?`, 'i').test(parameters)) continue;
    const query = address.indexOf('?');
    if (query >= 0) return address.slice(query + 1);
  }
  return undefined;
}

/** The query of one page: what is asked for, at the place that `page` names. */
export function pageQuery(
  asked: Readonly<Record<string, string>>,
  page: string | undefined,
): URLSearchParams {
  const query = new URLSearchParams(page);
  for (const [name, value] of Object.entries(asked)) query.set(name, value);
  query.set('per_page', String(PER_PAGE));
  return query;
}
