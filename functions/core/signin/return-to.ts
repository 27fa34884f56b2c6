/** Longer than any address of ours, and short enough for a cookie. */
const LENGTH_MAX = 1_000;
/** Base to distinguish own paths from other addresses; `.invalid` is reserved. */
const HERE = 'https://here.invalid';

/**
 * Path and query to go back to after the sign-in: always below our own address, `/` for everything else, such as
 * `//evil.example`, `/\evil.example` or `https:evil.example`.
 */
export function safeReturnTo(asked: string | undefined): string {
  if (asked === undefined || asked.length > LENGTH_MAX || !/^\/(?![/\\])/.test(asked)) return '/';
  // A browser drops tabs and line ends inside an address, so that `/\t/evil.example` would be one.
  if (/[\p{Cc}\\]/u.test(asked) || !URL.canParse(asked, HERE)) return '/';
  const { origin, pathname, search } = new URL(asked, HERE);
  // Dots in a path can leave two slashes at its start.
  if (origin !== HERE || pathname.startsWith('//')) return '/';
  return /^\/sign(in|out)(\/|$)/.test(pathname) ? '/' : `${pathname}${search}`;
}
