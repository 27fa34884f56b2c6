const PAGES_MAX = 400;

/** Pages with something in them that no link of a fresh console leads to. */
export const FIRST: readonly string[] = [
  ...[
    '/',
    '/go',
    '/?q=nothing-like-it',
    '/budgets?q=nothing-like-it',
    '/groups/999',
    '/ask',
    '/jobs?q=nothing',
  ],
  ...['set', 'grant', 'freeze', 'breakglass', 'rollout', 'scale'].map(
    (kind) => `/edit?kind=${kind}&subject=group/101`,
  ),
  ...['/reports?by=hour', '/reports?by=day&period=last-quarter', '/reports?from=2026-11-02&to=2026-11-01'],
  ...['/ask?subject=group/101', '/groups/102', '/projects/1001', '/rollout/step?subject=group/103'],
];

interface Answer {
  readonly status: number;
  readonly to: string | null;
  readonly type: string;
  readonly text: string;
}

/** Same path but for numbers, same names in the query. */
export function shapeOf(href: string): string {
  const [path = '', query = ''] = href.split('?');
  const asked = [...new URLSearchParams(query)].map(([name, value]) =>
    /^(by|kind|period|sort)$/.test(name) ? `${name}=${value}` : name,
  );
  return `${path.replace(/\d+/g, '0')}?${asked.sort().join('&')}`;
}

/**
 * Opens these pages and follows every link from there on. `from`: the page with the link.
 *
 * @param alikeMax - of pages that differ by numbers and values of their query so many are opened
 */
export async function crawled(
  get: (path: string) => Promise<Answer>,
  first: readonly string[],
  alikeMax = 3,
) {
  const from = new Map<string, string | undefined>(first.map((path) => [path, undefined]));
  const alike = new Map<string, number>();
  const pages: (Answer & { readonly path: string; readonly from: string | undefined })[] = [];
  for (const path of from.keys()) {
    const answer = await get(path);
    pages.push({ path, from: from.get(path), ...answer });
    if (!answer.type.startsWith('text/html') && answer.to === null) continue;
    const links = [...answer.text.matchAll(/(?:href|src)="(\/[^"#]*)/g)].map(([, href = '']) => href);
    for (const found of [...links.map((href) => href.replaceAll('&amp;', '&')), answer.to ?? '']) {
      const count = alike.get(shapeOf(found)) ?? 0;
      if (found === '' || from.has(found) || count >= alikeMax || from.size >= PAGES_MAX) continue;
      alike.set(shapeOf(found), count + 1);
      from.set(found, path);
    }
  }
  return pages;
}
