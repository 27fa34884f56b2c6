import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';

const CSRF_FIELD = 'csrf';
const CSRF_HEADER = 'x-csrf-token';

const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];
const FORM = /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i;

export const isSafe = (c: Context): boolean => SAFE_METHODS.includes(c.req.method);

/**
 * Whether one of our own pages sent this. Stricter than Hono's `csrf`, which takes one header of two and looks at forms
 * only: here neither header may contradict, one has to be there, and whatever the body is.
 *
 * @param origin - our own, as the browser sees it, e.g. `https://budget.example.com`; behind a proxy the request's differs.
 */
export function isFromHere(c: Context, origin: string): boolean {
  const site = c.req.header('sec-fetch-site');
  const sender = c.req.header('origin');
  if (site === undefined && sender === undefined) return false;
  return (site ?? 'same-origin') === 'same-origin' && (sender ?? origin) === origin;
}

/** Whether the header, or else the field of the form, has this session's token. A form's body can be read once more. */
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
