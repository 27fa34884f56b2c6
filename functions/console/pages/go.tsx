import { Hono } from 'hono';
import { parseJobReference } from '../../answers/job/recorded-job.ts';
import type { SignInEnv, User } from '../../core/signin/index.ts';
import { ConsolePage } from './frame.tsx';
import { mayOpen, NAVIGATION } from './page-access.ts';
import { query, send } from './page-deps.ts';
import { address, type Markup } from './parts/layout.tsx';

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

const WORD_CHARACTERS_MAX = 500;

/** `GET /go?to=…` leads to what is meant; without a word it asks for one. */
export function goRoutes(): Hono<SignInEnv> {
  const app = new Hono<SignInEnv>();
  app.get('/go', async (c) => {
    const word = query(c, 'to', WORD_CHARACTERS_MAX);
    return word === undefined ? send(c, goPage(c.var.user)) : c.redirect(placeOf(word, c.var.user), 303);
  });
  return app;
}

function placeOf(word: string, user: User): string {
  const job = parseJobReference(word);
  if (job.ok) return `/jobs/${job.value.jobId}`;
  const name = word.toLowerCase();
  const page = reachable(user).find(({ text }) => text.toLowerCase().startsWith(name));
  return page?.href ?? address('/', { q: word });
}

const goPage = (user: User): Markup => (
  <ConsolePage title="Go to" at="none" user={user}>
    <div class="head">
      <div>
        <h1>Go to</h1>
        <p>The name of a page, the number of a job, or a part of a group’s path.</p>
      </div>
    </div>
    <div class="card">
      <GoForm user={user} id="f-to" />
    </div>
  </ConsolePage>
);
