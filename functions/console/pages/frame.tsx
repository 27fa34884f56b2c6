import { raw } from 'hono/html';
import type { User } from '../../core/signin/user.ts';
import { ICON_HREF, SCRIPT_HREF, STYLE_HREF } from './assets/assets.ts';
import { HELD_PATTERNS } from './bar.tsx';
import type { Markup } from './markup.ts';
import { mayOpen } from './page-access.ts';

export type Place = 'overview' | 'requests' | 'shadow' | 'break-glass' | 'import' | 'jobs' | 'log' | 'none';

/** Whoever the page is for. */
export interface Reader extends User {
  /** Requests that wait for them to decide; absent: not known, or they decide none. */
  readonly waiting?: number;
}

export interface Frame {
  readonly title: string;
  /** Which entry of the navigation this is. */
  readonly at: Place;
  readonly user: Reader;
}

const NAVIGATION: readonly (readonly [Place, string, string])[] = [
  ['overview', '/', 'Budgets'],
  ['requests', '/requests', 'Requests'],
  ['jobs', '/jobs', 'Find a job'],
  ['shadow', '/shadow', 'Shadow report'],
  ['break-glass', '/break-glass', 'Break-glass'],
  ['import', '/import', 'CSV'],
  ['log', '/history', 'History'],
];

/** A page of somebody who is signed in. */
export const page = ({ title, at, user }: Frame, body: Markup): Markup =>
  document(
    title,
    <>
      <header class="top">
        <div>
          {BRAND}
          <nav aria-label="Main">
            <ul>
              {NAVIGATION.filter(([, href]) => mayOpen(`GET ${href}`, user.roles)).map(
                ([place, href, text]) => (
                  <li>
                    <a href={href} aria-current={place === at ? 'page' : undefined}>
                      {text}
                      {place === 'requests' && (user.waiting ?? 0) > 0 && (
                        <>
                          {' '}
                          <span class="count">
                            {user.waiting}
                            <span class="hidden"> waiting for you</span>
                          </span>
                        </>
                      )}
                    </a>
                  </li>
                ),
              )}
            </ul>
          </nav>
          <div class="who">
            <a href="/me">{user.name}</a>
            <form method="post" action="/signout">
              {csrf(user)}
              <button class="plain">Sign out</button>
            </form>
          </div>
        </div>
      </header>
      <main id="main" tabindex={-1}>
        {body}
      </main>
    </>,
  );

/** A page of somebody who may not be signed in. */
export const barePage = (title: string, body: Markup): Markup =>
  document(
    title,
    <>
      <header class="top">
        <div>{BRAND}</div>
      </header>
      <main id="main" tabindex={-1}>
        {body}
      </main>
    </>,
  );

/** Goes into every form that changes something. */
export const csrf = (user: User): Markup => <input type="hidden" name="csrf" value={user.csrfToken} />;

const BRAND = (
  <a class="brand" href="/">
    <svg viewBox="0 0 18 18" aria-hidden="true">
      <path d="M3 16V2M3 6h12" />
      <path d="M9 6v3M14 6v3" />
    </svg>
    Tollgate
  </a>
);

const document = (title: string, body: Markup): Markup => (
  <>
    {raw('<!doctype html>')}
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title} · Tollgate</title>
        <link rel="icon" type="image/svg+xml" href={ICON_HREF} />
        <link rel="stylesheet" href={STYLE_HREF} />
        <script src={SCRIPT_HREF} defer />
      </head>
      <body>
        <a class="skip" href="#main">
          To the content
        </a>
        {HELD_PATTERNS}
        {body}
      </body>
    </html>
  </>
);
