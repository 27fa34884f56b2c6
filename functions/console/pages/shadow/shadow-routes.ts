import { Hono } from 'hono';
import { withoutAbsent } from '../../../../policies/without-absent.ts';
import type { SignInEnv } from '../../../core/signin/index.ts';
import { query, queryCursor, readReportDays, readWholeNumber } from '../asked.ts';
import { type PagesDeps, pageFormatOf, send } from '../pages-deps.ts';
import { REPORT_DONE } from '../rollout/rollout-routes.ts';
import { shadowPage } from './shadow-page.tsx';

/** The shadow report; what sends it to an owner is the rollout's. */
export function shadowRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const { read } = deps;
  const app = new Hono<SignInEnv>();

  app.get('/shadow', async (c) => {
    const { user } = c.var;
    const days = readReportDays(query(c, 'days'));
    const group = readWholeNumber(query(c, 'group'));
    const project = readWholeNumber(query(c, 'project'));
    const cursor = queryCursor(c);
    const view = await read.shadow({ days, ...withoutAbsent({ group, project, cursor }), max: CARDS }, user);
    const done = REPORT_DONE[query(c, 'done') ?? ''];
    const shown = {
      view,
      days,
      group,
      project,
      canTell: deps.tellOwner !== undefined,
      origin: deps.origin,
      done,
    };
    return send(c, shadowPage(user, shown, pageFormatOf(deps)));
  });

  return app;
}

/** A card is about a kilobyte: a page stays below 100 KB. */
const CARDS = 40;
