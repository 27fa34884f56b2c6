import { parseJobReference } from '../../answers/job/job-reference.ts';
import type { User } from '../../core/signin/model.ts';
import { reachable } from './frame.tsx';
import { type PageRoutes, query } from './page.ts';
import { address } from './parts/layout.tsx';

const WORD_CHARACTERS_MAX = 500;

/** `GET /go?to=…` leads to a job, a page, or the search of groups. */
export const goRoutes: PageRoutes = (app) => {
  app.get('/go', async (c) => {
    const word = query.text(c, 'to', WORD_CHARACTERS_MAX);
    return c.redirect(word === undefined ? '/' : findTarget(word, c.var.user), 303);
  });
};

function findTarget(word: string, user: User): string {
  const job = parseJobReference(word);
  if (job.ok) return `/jobs/${job.value.jobId}`;
  const name = word.toLowerCase();
  const pages = [...reachable(user), { href: '/me', text: 'My account' }];
  const page = pages.find(({ text }) => text.toLowerCase().startsWith(name));
  return page?.href ?? address('/', { q: word });
}
