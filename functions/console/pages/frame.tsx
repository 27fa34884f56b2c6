import { raw } from 'hono/html';
import type { PropsWithChildren } from 'hono/jsx';
import type { Reconciliation } from '../../answers/limits/budgets-model.ts';
import type { User } from '../../core/signin/model.ts';
import { ICON_HREF, SCRIPT_HREF, STYLE_HREF } from './assets.ts';
import { mayOpen, NAVIGATION, type NavigationHref } from './page-access.ts';
import { HELD_PATTERNS } from './parts/amounts.tsx';
import { type Markup, PostForm } from './parts/layout.tsx';

/** The page's user. */
export interface Reader extends User {
  /** Requests that wait for them to decide; absent: not known, or they decide none. */
  readonly waiting?: number;
  /** Result of the reconciliation; absent: unknown now. */
  readonly reconciliation?: Pick<Reconciliation, 'state' | 'text'>;
}

interface Frame {
  readonly title: string;
  /** Which entry of the navigation this is. */
  readonly at: NavigationHref | 'none';
  readonly user: Reader;
}

/** A page for signed-in users. */
export const ConsolePage = ({ title, at, user, children }: PropsWithChildren<Frame>): Markup => (
  <Document title={title}>
    <header class="top">
      <div>
        {BRAND}
        <nav aria-label="Main">
          <ul>
            {NAVIGATION.filter(({ href }) => mayOpen(`GET ${href}`, user.roles)).map(({ href, text }) => (
              <li>
                <a href={href} aria-current={href === at ? 'page' : undefined}>
                  {text}
                  {href === '/requests' && <WaitingCount of={user} />}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="who">
          <a href="/me">{user.name}</a>
          <PostForm user={user} action="/signout">
            <button class="plain">Sign out</button>
          </PostForm>
        </div>
      </div>
    </header>
    <main id="main" tabindex={-1}>
      {children}
    </main>
    <Badge of={user} />
    <dialog id="go" aria-label="Go to">
      <GoForm user={user} id="go-to" />
    </dialog>
  </Document>
);

/** At the foot of every page. */
const Badge = ({ of: { reconciliation } }: { readonly of: Reader }): Markup | '' =>
  reconciliation === undefined ? (
    ''
  ) : (
    <footer>
      <p class={reconciliation.state === 'differs' ? 'note bad' : undefined}>{reconciliation.text}</p>
    </footer>
  );

const WaitingCount = ({ of: { waiting = 0 } }: { readonly of: Reader }): Markup | '' =>
  waiting === 0 ? (
    ''
  ) : (
    <>
      {' '}
      <span class="count">
        {waiting}
        <span class="hidden"> waiting for you</span>
      </span>
    </>
  );

/** A page that needs no sign-in. */
export const BarePage = ({ title, children }: PropsWithChildren<Pick<Frame, 'title'>>): Markup => (
  <Document title={title}>
    <header class="top">
      <div>{BRAND}</div>
    </header>
    <main id="main" tabindex={-1}>
      {children}
    </main>
  </Document>
);

const BRAND = (
  <a class="brand" href="/">
    <svg viewBox="0 0 18 18" aria-hidden="true">
      <path d="M3 16V2M3 6h12" />
      <path d="M9 6v3M14 6v3" />
    </svg>
    Tollgate
  </a>
);

const Document = ({ title, children }: PropsWithChildren<Pick<Frame, 'title'>>): Markup => (
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

/** Reachable pages by name. */
export const reachable = ({ roles }: Pick<User, 'roles'>) => [
  ...NAVIGATION.filter(({ href }) => mayOpen(`GET ${href}`, roles)),
  { href: '/me', text: 'My account' },
];

/** @param id - of the field: a page may have two. */
export const GoForm = ({ user, id }: { readonly user: User; readonly id: string }): Markup => (
  <form class="filters" method="get" action="/go">
    <label for={id}>
      Go to
      <input
        type="text"
        id={id}
        name="to"
        list={`${id}-pages`}
        placeholder="A page, a job, a group"
        autocomplete="off"
        maxlength={500}
      />
    </label>
    <datalist id={`${id}-pages`}>
      {reachable(user).map(({ text }) => (
        <option value={text} />
      ))}
    </datalist>
    <button class="main">Go</button>
  </form>
);
