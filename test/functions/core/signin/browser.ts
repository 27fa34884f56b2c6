/** As much of a browser as a sign-in needs: cookies with their paths, and redirects followed one by one. */
export interface Browser {
  /** Follows redirects, at GitLab's list of users the link that `as` names. */
  open(url: string, options?: { readonly as?: number | 'decline'; readonly accept?: string }): Promise<Page>;
  /** One request, no redirects. */
  send(url: string, init?: RequestInit): Promise<Response>;
  /** What it would send there. */
  cookies(url: string): ReadonlyMap<string, string>;
  setCookie(url: string, name: string, value: string): void;
  /** Everything any server ever set. */
  readonly received: string[];
}

interface Page {
  readonly url: string;
  readonly status: number;
  readonly text: string;
  /** All addresses on the way. */
  readonly way: readonly string[];
}

const STEPS_MAX = 15;

interface Cookie {
  readonly origin: string;
  readonly name: string;
  readonly path: string;
  readonly value: string;
}

export function newBrowser(): Browser {
  const jar = new Map<string, Cookie>();
  const received: string[] = [];

  const put = (cookie: Cookie): void => {
    jar.set(`${cookie.origin} ${cookie.name} ${cookie.path}`, cookie);
  };

  const keep = (url: URL, header: string): void => {
    received.push(header);
    const [pair = '', ...attributes] = header.split(/;\s*/);
    const [name = '', value = ''] = pair.split('=', 2);
    const attribute = (wanted: string): string | undefined =>
      attributes.find((one) => one.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1);
    const cookie = { origin: url.origin, name, path: attribute('path') ?? '/', value };
    const gone = attribute('max-age') === '0' || Date.parse(attribute('expires') ?? '2100') < Date.now();
    if (gone) jar.delete(`${cookie.origin} ${name} ${cookie.path}`);
    else put(cookie);
  };

  const cookies = (address: string): ReadonlyMap<string, string> => {
    const url = new URL(address);
    return new Map(
      [...jar.values()]
        .filter(({ origin, path }) => origin === url.origin && url.pathname.startsWith(path))
        .map(({ name, value }) => [name, value]),
    );
  };

  const send = async (address: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    const sent = [...cookies(address)].map(([name, value]) => `${name}=${value}`).join('; ');
    if (sent !== '') headers.set('cookie', sent);
    if (!headers.has('accept')) headers.set('accept', 'text/html');
    const response = await fetch(address, { ...init, headers, redirect: 'manual' });
    for (const header of response.headers.getSetCookie()) keep(new URL(address), header);
    return response;
  };

  return {
    send,
    cookies,
    received,
    setCookie: (url, name, value) => put({ origin: new URL(url).origin, name, path: '/', value }),
    async open(start, { as, accept = 'text/html' } = {}) {
      const way: string[] = [];
      let url = start;
      for (let step = 1; step <= STEPS_MAX; step += 1) {
        way.push(url);
        const response = await send(url, { headers: { accept } });
        const location = response.headers.get('location');
        if (location !== null) {
          await response.body?.cancel();
          url = String(new URL(location, url));
        } else if (as !== undefined && /\/interaction\/[^/]+$/.test(url)) {
          await response.body?.cancel();
          url = `${url}/${as}`;
        } else return { url, status: response.status, text: await response.text(), way };
      }
      throw new Error(`no page after ${STEPS_MAX} steps: ${way.join(' → ')}`);
    },
  };
}
