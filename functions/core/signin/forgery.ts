import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';

const CSRF_FIELD = 'csrf';
const CSRF_HEADER = 'x-csrf-token';

const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];
const FORM = /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i;

export const isSafe = (c: Context): boolean => SAFE_METHODS.includes(c.req.method);

/**
 * Returns true if one of our own pages sent the request. Stricter than Hono's `csrf`, which needs one of two
 * headers and checks only forms: here neither header may contradict, one must exist, and any body is
 * checked.
 *
 * @param origin - our own in the browser, e.g. `https://budget.example.com`; behind a proxy the request's
 * differs.
 */
export function isFromHere(c: Context, origin: string): boolean {
  const site = c.req.header('sec-fetch-site');
  const sender = c.req.header('origin');
  if (site === undefined && sender === undefined) return false;
  return (site ?? 'same-origin') === 'same-origin' && (sender ?? origin) === origin;
}

/**
 * Returns true if the header, or the form's field, has this session's token. The form's body stays readable.
 */
export async function hasCsrfToken(c: Context, csrfToken: string): Promise<boolean> {
  const sent = c.req.header(CSRF_HEADER) ?? (await fieldOf(c));
  return typeof sent === 'string' && timingSafeEqual(digest(sent), digest(csrfToken));
}

async function fieldOf(c: Context): Promise<unknown> {
  if (!FORM.test(c.req.header('content-type') ?? '')) return undefined;
  // A body that is no form has no token either.
  const form = await c.req.parseBody().catch(() => undefined);
  return form?.[CSRF_FIELD];
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
