import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';

/** Format of ids in cookies: 256 random bits. */
const ID = /^[\w-]{43}$/;

/** An id that a program sends as a bearer token. No browser adds one by itself, so it needs no check for forgery. */
export const bearerOf = (c: Context): string | undefined =>
  /^Bearer ([\w-]{43})$/.exec(c.req.header('authorization') ?? '')?.[1];

/** Returns a text in the form of a JWT, which jobs send. It is not verified here. */
export const jobTokenOf = (c: Context): string | undefined =>
  /^Bearer ([\w-]+\.[\w-]+\.[\w-]*)$/.exec(c.req.header('authorization') ?? '')?.[1];

/** One cookie that only this address sets and reads, and that no script sees. */
export interface IdCookie {
  /** Undefined: there is none, or it is none of ours. */
  read(c: Context): string | undefined;
  write(c: Context, id: string, maxAgeSeconds: number): void;
  clear(c: Context): void;
}

/**
 * @param secure - `__Host-`: https only, this host only, whole site. False for a console on the own machine, which has no
 * certificate; browsers keep the prefix for https.
 */
export function idCookie(name: string, { secure }: { readonly secure: boolean }): IdCookie {
  const full = secure ? `__Host-${name}` : name;
  // Lax, not Strict: the way back from GitLab starts on another site.
  const options = { path: '/', httpOnly: true, secure, sameSite: 'Lax' } as const;
  return {
    read(c) {
      const id = getCookie(c, full);
      return id !== undefined && ID.test(id) ? id : undefined;
    },
    write: (c, id, maxAge) => setCookie(c, full, id, { ...options, maxAge }),
    clear(c) {
      deleteCookie(c, full, options);
    },
  };
}
