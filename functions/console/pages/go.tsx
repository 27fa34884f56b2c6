import { Hono } from 'hono';
import { parseJobReference } from '../../answers/job/recorded-job.ts';
import type { SignInEnv, User } from '../../core/signin/model.ts';
import { ConsolePage, GoForm, reachable } from './frame.tsx';
import { query, send } from './page-deps.ts';
import { address, type Markup } from './parts/layout.tsx';

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
