import { Hono } from 'hono';
import type { BudgetsQuery } from '../../../answers/budgets/model.ts';
import type { SignInEnv } from '../../../core/signin/index.ts';
import {
  VIEW_NAME_CHARACTERS_MAX,
  VIEWS_MAX,
  type ViewChange,
  type ViewList,
} from '../../../core/views/index.ts';
import { query, queryCursor, readValues } from '../asked.ts';
import { type PageContext, type PagesDeps, pageFormatOf, send } from '../pages-deps.ts';
import { budgetsAsked, listAddress, listQuery, readQuery } from './budgets-asked.ts';
import { budgetsPage } from './budgets-page.tsx';
import type { KnownViews } from './views-part.tsx';

/** Every limit somebody may see, ranked by trouble, and the views of it that have a name. */
export function budgetsRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const { views } = deps;
  const app = new Hono<SignInEnv>();

  app.get('/budgets', async (c) => {
    const shown = await viewsOf(c, deps);
    // Whoever asks for nothing gets the view they chose to open with.
    const isOpened = new URL(c.req.url).search === '';
    const first = isOpened && shown !== undefined ? firstOf(shown.own, shown.everybody) : undefined;
    return showBudgets(c, deps, first === undefined ? askedIn(c) : readQuery(first), shown);
  });

  app.post('/budgets/views', async (c) => {
    const { name = '', query: asked = '', step, of } = await readValues(c);
    const here = readQuery(asked);
    const shown = await viewsOf(c, deps);
    const refuse = (problem: string, status: 403 | 409 | 422) =>
      showBudgets(c, deps, here, shown && { ...shown, problem }, status);
    if (views === undefined || shown === undefined) return refuse('Views are not kept here.', 409);
    if (of === 'everybody' && !shown.mayShare)
      return refuse('Only finance and administrators keep views for everybody.', 403);
    if (name === '' || name.length > VIEW_NAME_CHARACTERS_MAX)
      return refuse(`Give it a name of at most ${VIEW_NAME_CHARACTERS_MAX} characters.`, 422);
    const change = changeOf(step, name, listQuery(here));
    if (change === undefined) return refuse('Choose what becomes of the view.', 422);
    const outcome = await views.change(of === 'everybody' ? of : c.var.user.id, change);
    if (outcome === 'full')
      return refuse(`There are ${VIEWS_MAX} views already: delete one before you keep another.`, 422);
    if (outcome === 'contended') return refuse('Somebody else changed these views: send it again.', 409);
    return c.redirect(listAddress(step === 'drop' ? '' : listQuery(here)), 303);
  });

  return app;
}

async function showBudgets(
  c: PageContext,
  deps: PagesDeps,
  asked: BudgetsQuery,
  views: KnownViews | undefined,
  status: 200 | 403 | 409 | 422 = 200,
): Promise<Response> {
  const { user } = c.var;
  const budgets = await deps.read.budgets(asked, user);
  return send(c, budgetsPage(user, { budgets, asked, views }, pageFormatOf(deps)), status);
}

const askedIn = (c: PageContext): BudgetsQuery =>
  budgetsAsked((name) => (name === 'cursor' ? queryCursor(c) : query(c, name)));

/** Undefined: they are not kept, or cannot be read now; the list comes without them. */
async function viewsOf(c: PageContext, { views, log }: PagesDeps): Promise<KnownViews | undefined> {
  const { id, roles } = c.var.user;
  if (views === undefined) return undefined;
  try {
    const [own, everybody] = await Promise.all([views.read(id), views.read('everybody')]);
    return { own, everybody, mayShare: roles.finance || roles.admin };
  } catch (error) {
    log.warn('views not read', { error: error instanceof Error ? error.name : 'unknown' });
    return undefined;
  }
}

/** One's own choice goes before everybody's. */
function firstOf(...lists: readonly ViewList[]): string | undefined {
  const list = lists.find(({ first }) => first !== undefined);
  return list?.views.find(({ name }) => name === list.first)?.query;
}

function changeOf(step: string | undefined, name: string, asked: string): ViewChange | undefined {
  switch (step) {
    case 'keep':
      return { keep: { name, query: asked } };
    case 'drop':
      return { drop: name };
    case 'first':
      return { first: name };
    case 'last':
      return { first: '' };
    default:
      return undefined;
  }
}
