import type { Context } from 'hono';
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** The problem in a sentence, and the remedy. */
export interface SignInNotice {
  readonly code: string;
  readonly title: string;
  readonly sentence: string;
  readonly remedy: string;
  /** A link below our own address. */
  readonly link?: { readonly href: string; readonly text: string };
}

export type RenderNotice = (notice: SignInNotice) => string | Promise<string>;

/** People get pages; scripts and the command line get JSON. */
export const wantsPage = (c: Context): boolean =>
  !c.req.path.startsWith('/api/') && (c.req.header('accept') ?? '').includes('text/html');

/** A page, or `{error: {code, message, remedy}}`. Kept by no cache. */
export async function respondWith(
  c: Context,
  status: ContentfulStatusCode,
  notice: SignInNotice,
  render: RenderNotice,
): Promise<Response> {
  c.header('cache-control', 'no-store');
  if (wantsPage(c)) return c.html(await render(notice), status);
  const { code, sentence, remedy } = notice;
  return c.json({ error: { code, message: sentence, remedy } }, status);
}

/** The default page without style and script. */
export const plainPage: RenderNotice = async ({ title, sentence, remedy, link }) =>
  String(
    await html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} · Tollgate</title></head>
<body><main><h1>${title}</h1><p>${sentence}</p><p>${remedy}</p>${link && html`<p><a href="${link.href}">${link.text}</a></p>`}</main></body>
</html>`,
  );
