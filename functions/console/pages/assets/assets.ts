import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import { SCRIPT } from './script.ts';
import { STYLE_BASE } from './style-base.ts';
import { STYLE_PARTS } from './style-parts.ts';

interface Asset {
  /** Named by its content, so that a deploy never meets an older one in a cache. */
  readonly href: string;
  readonly body: string;
  readonly type: string;
}

const HASH_CHARACTERS = 12;

function asset(name: string, type: string, body: string): Asset {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, HASH_CHARACTERS);
  return { href: `/assets/${hash}/${name}`, body, type };
}

/** Text within the program, so that one bundle is all there is to deploy. */
const STYLE = asset(
  'console.css',
  'text/css; charset=utf-8',
  `${STYLE_BASE}${STYLE_PARTS}`.replaceAll('\n', ''),
);
const PROGRAM = asset('console.js', 'text/javascript; charset=utf-8', SCRIPT);

const ICON = asset(
  'icon.svg',
  'image/svg+xml',
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 18 18"><rect width="18" height="18" rx="4" fill="#0a54ab"/><path d="M4 15V3.5M4 7h11M9.5 7v3M13.5 7v3" fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round"/></svg>',
);

export const ICON_HREF = ICON.href;
export const STYLE_HREF = STYLE.href;
export const SCRIPT_HREF = PROGRAM.href;

/** Asked for by browsers on their own, wherever they are. */
const FAVICON_PATH = '/favicon.ico';
const DAY = 'public, max-age=86400';
const YEAR = 'public, max-age=31536000, immutable';

/** `GET /assets/<hash>/console.css`, `.js` and the icon. They contain no data, so they need no sign-in. */
export function createAssets(): Hono {
  const app = new Hono();
  for (const { href, body, type } of [STYLE, PROGRAM, ICON]) {
    app.get(href, (c) => c.body(body, 200, { 'content-type': type, 'cache-control': YEAR }));
  }
  app.get(FAVICON_PATH, (c) => c.body(ICON.body, 200, { 'content-type': ICON.type, 'cache-control': DAY }));
  return app;
}
