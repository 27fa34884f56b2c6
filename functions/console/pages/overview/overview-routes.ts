import { Hono } from 'hono';
import { withoutAbsent } from '../../../../policies/without-absent.ts';
import type { OverviewOrder, OverviewQuery } from '../../../answers/groups/model.ts';
import type { SignInEnv } from '../../../core/signin/index.ts';
import { query, queryCursor, readWholeNumber } from '../asked.ts';
import { type PageContext, type PagesDeps, pageFormatOf, send } from '../pages-deps.ts';
import { unknownPlace } from '../problem-page.tsx';
import { overviewPage } from './overview-page.tsx';

/** All visible budgets, flat or by level. */
export function overviewRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const { read } = deps;
  const app = new Hono<SignInEnv>();

  app.get('/', async (c) => {
    const { user } = c.var;
    const asked = overviewAsked(c);
    const [overview, above] = await Promise.all([
      read.overview(asked, user),
      groupsAbove(c, deps, asked.under),
    ]);
    const owns = user.roles.ownedGroupIds.length > 0;
    if (above === undefined) return send(c, unknownPlace(user), 404);
    return send(c, overviewPage(user, { overview, asked, above, owns }, pageFormatOf(deps)));
  });

  return app;
}

/** A line is about one and a half kilobytes: a page stays below 100 KB. */
const ROWS = 50;

const SORTS: readonly OverviewOrder[] = ['runs-out-first', 'spent', 'name'];

function overviewAsked(c: PageContext): OverviewQuery {
  const search = query(c, 'q');
  const sort = SORTS.find((each) => each === query(c, 'sort'));
  const under =
    readWholeNumber(query(c, 'under')) ?? (query(c, 'view') === 'tree' ? ('roots' as const) : undefined);
  const cursor = queryCursor(c);
  return {
    ...withoutAbsent({ search, sort }),
    // Searches cover all levels.
    ...(under !== undefined && search === undefined && { under }),
    ...(query(c, 'mine') === '1' && { mine: true }),
    ...(cursor !== undefined && { cursor }),
    max: ROWS,
  };
}

/** The steps of the tree down to a group; undefined: it is not theirs to see. */
async function groupsAbove(c: PageContext, { read }: PagesDeps, under: OverviewQuery['under']) {
  if (typeof under !== 'number') return [];
  const view = await read.subject(`group/${under}`, {}, c.var.user);
  return (
    view &&
    [...view.above, view].map(({ subject, path }) => ({ id: Number(subject.slice('group/'.length)), path }))
  );
}
