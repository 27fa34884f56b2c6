import { Hono } from 'hono';
import { PLAN_ROWS_MAX } from '../../../answers/plans/plans-view.ts';
import { actingUser } from '../../../answers/reading/acting-user.ts';
import { dayText, today } from '../../../answers/reading/usage-days.ts';
import type { PlanDraft } from '../../../core/limits/index.ts';
import type { SignInEnv } from '../../../core/signin/index.ts';
import { adopt, adoptionOf, notToAdopt } from '../../adopt-plan.ts';
import { readValues } from '../asked.ts';
import { stalePage } from '../edit/stale-page.tsx';
import { type PageContext, type PagesDeps, pageFormatOf, send } from '../pages-deps.ts';
import { approvalPage, forbiddenPage, problemPage, unknownPlace } from '../problem-page.tsx';
import { adoptionPage } from './adoption-page.tsx';

/** What adopting a plan does, and the click that does it. */
export function adoptionRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const { desk, read, log } = deps;
  const app = new Hono<SignInEnv>();

  app.get('/plans/:id/adoption', async (c) => {
    const draft = await desk.plan(c.req.param('id'));
    return draft === undefined ? send(c, unknownPlace(c.var.user), 404) : show(c, draft);
  });

  app.post('/plans/:id/adoption', async (c) => {
    const { user } = c.var;
    const draft = await desk.plan(c.req.param('id'));
    if (draft === undefined) return send(c, unknownPlace(user), 404);
    const { why = '', set = '', confirmed } = await readValues(c);
    // Whoever looked at other limits sees first what it comes to now.
    if (why === '' || (draft.set ?? '') !== set || refusal(draft) !== undefined) return show(c, draft);
    const by = { ...actingUser(user), why, source: 'plan', confirmed: confirmed === 'yes' };
    const outcome = await adopt(draft, by, desk);
    const back = `/plans/${encodeURIComponent(draft.plan.id)}`;
    switch (outcome.outcome) {
      case 'live':
        log.info('plan adopted', { user: user.id, edit: outcome.pointer.edit, rows: outcome.rows.length });
        return c.redirect(`/history?saved=${outcome.pointer.edit}`, 303);
      case 'unchanged':
        return c.redirect('/history?saved=nothing', 303);
      case 'forbidden':
        return send(c, forbiddenPage(user, outcome.denied, [], back), 403);
      case 'needs_approval':
        return send(c, approvalPage(user, outcome, back), 202);
      case 'needs_confirmation':
        return show(c, draft, true);
      case 'stale':
        return send(c, stalePage(user, outcome, { back, hint: AGAIN }, pageFormatOf(deps)), 409);
      case 'invalid':
        return send(
          c,
          problemPage(user, notNow('It does not fit the limits as they are by now.', back)),
          422,
        );
    }
  });

  return app;

  function refusal(draft: PlanDraft): string | undefined {
    return notToAdopt(draft, dayText(today(deps.zone, deps.clock.nowMs())));
  }

  async function show(c: PageContext, draft: PlanDraft, unconfirmed = false): Promise<Response> {
    const { user } = c.var;
    const back = `/plans/${encodeURIComponent(draft.plan.id)}`;
    const no = refusal(draft);
    if (no !== undefined) return send(c, problemPage(user, notNow(no, back)), 422);
    const [preview, view] = await Promise.all([
      read.preview([adoptionOf(draft)], draft.set, user),
      read.plan({ id: draft.plan.id, max: PLAN_ROWS_MAX }, user),
    ]);
    if (preview.outcome !== 'valid' || view === undefined)
      return send(c, problemPage(user, notNow(UNFIT, back)), 422);
    return send(
      c,
      adoptionPage(user, { view: { ...view, set: draft.set }, preview, unconfirmed }, pageFormatOf(deps)),
      unconfirmed ? 409 : 200,
    );
  }
}

const AGAIN = 'Look at the plan again, and adopt it on the limits as they are now.';
const UNFIT = 'It does not fit the limits as they are by now.';

const notNow = (sentence: string, href: string) => ({
  title: 'Not adopted',
  sentence,
  remedy: 'Nothing was changed.',
  link: { href, text: 'Back to the plan' },
});
