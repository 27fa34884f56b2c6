import { Hono } from 'hono';
import type { SignInEnv } from '../../../core/signin/index.ts';
import { query, queryCursor } from '../asked.ts';
import { type PagesDeps, pageFormatOf, send } from '../pages-deps.ts';
import { budgetsAsked } from './budgets-asked.ts';
import { budgetsPage } from './budgets-page.tsx';

/** Every limit the user may see, ranked by trouble. */
export function budgetsRoutes(deps: PagesDeps): Hono<SignInEnv> {
  return new Hono<SignInEnv>().get('/budgets', async (c) => {
    const { user } = c.var;
    const asked = budgetsAsked((name) => (name === 'cursor' ? queryCursor(c) : query(c, name)));
    const budgets = await deps.read.budgets(asked, user);
    return send(c, budgetsPage(user, { budgets, asked }, pageFormatOf(deps)));
  });
}
