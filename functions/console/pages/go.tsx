import { parseJobReference } from '../../answers/job/recorded-job.ts';
import type { User } from '../../core/signin/model.ts';
import { ConsolePage, GoForm, reachable } from './frame.tsx';
import { type PageRoutes, query, send } from './page-deps.ts';
import { address, type Markup } from './parts/layout.tsx';

const WORD_CHARACTERS_MAX = 500;

/** `GET /go?to=…` leads to what is meant; without a word it asks for one. */
export const goRoutes: PageRoutes = (app) => {
  app.get('/go', async (c) => {
    const word = query(c, 'to', WORD_CHARACTERS_MAX);
    return word === undefined ? send(c, goPage(c.var.user)) : c.redirect(placeOf(word, c.var.user), 303);
  });
};

function placeOf(word: string, user: User): string {
  const job = parseJobReference(word);
  if (job.ok) return `/jobs/${job.value.jobId}`;
  const name = word.toLowerCase();
  const page = reachable(user).find(({ text }) => text.toLowerCase().startsWith(name));
  return page?.href ?? address('/', { q: word });
}

const goPage = (user: User): Markup => (
  <ConsolePage
    title="Go to"
    at="none"
    user={user}
    about="The name of a page, the number of a job, or a part of a group’s path."
  >
    <div class="card">
      <GoForm id="f-to" />
    </div>
  </ConsolePage>
);
