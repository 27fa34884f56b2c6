/** Our address in the browser, by GitLab's redirect. */
interface OwnAddress {
  readonly redirectUrl: string;
  /** `https://budget.example.com` */
  readonly origin: string;
  /** Https; without it only on the own machine. */
  readonly secure: boolean;
}

export const CALLBACK_PATH = '/signin/callback';

const LOOPBACK: readonly string[] = ['127.0.0.1', '[::1]', 'localhost'];

/** @throws {Error} naming what is wrong with it: a sign-in over plain http shows its cookies to the network. */
export function ownAddress(redirectUrl: string): OwnAddress {
  const url = URL.canParse(redirectUrl) ? new URL(redirectUrl) : undefined;
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === undefined || !isPlain || url.pathname !== CALLBACK_PATH || !isSafeUrl(url)) {
    throw new Error(
      `the sign-in's redirect URL is not usable; expected one like https://budget.example.com${CALLBACK_PATH}`,
    );
  }
  return { redirectUrl, origin: url.origin, secure: url.protocol === 'https:' };
}

/** Https, or a server on the own machine. */
export const isSafeUrl = (url: URL): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.includes(url.hostname));
