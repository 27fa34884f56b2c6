import { raw } from 'hono/html';
import type { Child, PropsWithChildren } from 'hono/jsx';
import type { User } from '../../core/signin/model.ts';
import { ICON_HREF, SCRIPT_HREF, STYLE_HREF } from './assets.ts';
import { mayOpen, NAVIGATION, type NavigationHref } from './page-access.ts';
import { HELD_PATTERNS } from './parts/amounts.tsx';
import { format, type Reader } from './parts/format.ts';
import { Done, hidden, type Markup, PostForm } from './parts/layout.tsx';

export const reachable = ({ roles }: Pick<User, 'roles'>) =>
  NAVIGATION.filter(({ href }) => mayOpen(`GET ${href}`, roles));

export interface Frame {
  readonly title: string;
  readonly at: NavigationHref | 'none';
  readonly heading?: Child;
  readonly about?: Child;
  readonly crumbs?: readonly Child[] | undefined;
  readonly actions?: Child;
}

export function ConsolePage(parts: PropsWithChildren<Frame>): Markup {
  const { title, at, heading = title, about, crumbs = [], actions, children } = parts;
  const { user, done } = format();
  return (
    <Document title={title}>
      <header class="top">
        <div>
          {BRAND}
          <nav aria-label="Main">
            <ul>
              {reachable(user).map(({ href, text }) => (
                <li>
                  <a href={href} aria-current={href === at ? 'page' : undefined}>
                    {text}
                    {href === '/requests' && waitingCount(user)}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <div class="who">
            <a href="/me">{user.name}</a>
            <PostForm action="/signout">
              <button class="plain">Sign out</button>
            </PostForm>
          </div>
        </div>
      </header>
      <main id="main" tabindex={-1}>
        <div class="head">
          <div>
            {crumbs.length > 0 && (
              <nav class="crumbs" aria-label="Above">
                <ol>
                  {crumbs.map((each) => (
                    <li>{each}</li>
                  ))}
                </ol>
              </nav>
            )}
            <h1>{heading}</h1>
            {about !== undefined && <p>{about}</p>}
          </div>
          {actions && <div class="actions">{actions}</div>}
        </div>
        <Done text={done} />
        {children}
      </main>
      <dialog id="go" aria-label="Go to">
        <form class="filters" method="get" action="/go">
          <label for="go-to">
            Go to
            <input
              {...{ type: 'text', id: 'go-to', name: 'to', autocomplete: 'off', maxlength: 500 }}
              placeholder="A page, a job, a group"
            />
          </label>
          <button class="main">Go</button>
        </form>
      </dialog>
    </Document>
  );
}

const waitingCount = ({ waiting = 0 }: Reader) =>
  waiting > 0 && [' ', <span class="count">{[waiting, hidden(' waiting for you')]}</span>];

type Titled = PropsWithChildren<Pick<Frame, 'title'>>;

export const BarePage = ({ title, children }: Titled): Markup => (
  <Document title={title}>
    <header class="top">
      <div>{BRAND}</div>
    </header>
    <main id="main" tabindex={-1}>
      <div class="head">
        <h1>{title}</h1>
      </div>
      {children}
    </main>
  </Document>
);

const BRAND = (
  <a class="brand" href="/">
    <svg viewBox="0 0 18 18" aria-hidden="true">
      <path d="M3 16V2M3 6h12M9 6v3M14 6v3" />
    </svg>
    Tollgate
  </a>
);

const Document = ({ title, children }: Titled): Markup => (
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
        {children}
      </body>
    </html>
  </>
);
