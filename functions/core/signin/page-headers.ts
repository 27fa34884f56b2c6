import type { MiddlewareHandler } from 'hono';
import { NONCE, type SecureHeadersVariables, secureHeaders } from 'hono/secure-headers';

const SELF = "'self'";
const NOTHING = "'none'";

/** A year. Browsers ignore it where the console runs without https. */
const HSTS = 'max-age=31536000';

/**
 * Security headers of all pages: scripts and styles from here or with the request's nonce
 * (`c.get('secureHeadersNonce')`), forms to here, no frames, no caches. Use it once, around all routes.
 */
export function pageHeaders(): MiddlewareHandler<{ Variables: SecureHeadersVariables }> {
  const secured = secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: [NOTHING],
      scriptSrc: [SELF, NONCE],
      styleSrc: [SELF, NONCE],
      imgSrc: [SELF],
      connectSrc: [SELF],
      formAction: [SELF],
      frameAncestors: [NOTHING],
      baseUri: [NOTHING],
    },
    strictTransportSecurity: HSTS,
    xFrameOptions: 'DENY',
    referrerPolicy: 'same-origin',
    crossOriginOpenerPolicy: 'same-origin',
    crossOriginResourcePolicy: 'same-origin',
  });
  return async (c, next) => {
    await secured(c, async () => {
      await next();
      // Files with a name of their own may say otherwise.
      if (!c.res.headers.has('cache-control')) c.res.headers.set('cache-control', 'no-store');
    });
  };
}
