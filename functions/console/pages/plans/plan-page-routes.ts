import { Hono } from 'hono';
import { pathKey } from '../../../../policies/place/directory.ts';
import { planCsv } from '../../../answers/plans/plan-csv.ts';
import { PLAN_ROWS_MAX } from '../../../answers/plans/plans-view.ts';
import { actingUser } from '../../../answers/reading/acting-user.ts';
import {
  type CsvProblem,
  type PlanEdit,
  type PlanOutcome,
  SCALED_KINDS,
} from '../../../core/limits/index.ts';
import type { SignInEnv } from '../../../core/signin/index.ts';
import { atLines, readPlanFile } from '../../plan-file.ts';
import { readForm } from '../../unreadable-request.ts';
import { query, readValues } from '../asked.ts';
import { dialectOf } from '../import/draft-import.ts';
import { type PageContext, type PagesDeps, pageFormatOf, send } from '../pages-deps.ts';
import type { Values } from '../parts/form-field.tsx';
import { unknownPlace } from '../problem-page.tsx';
import { adoptionRoutes } from './adoption-routes.ts';
import { PAGE_ROWS, planPage } from './plan-page.tsx';
import { typedAmounts } from './plan-table.tsx';
import { plansPage } from './plans-page.tsx';

/** Excel reads a UTF-8 file without it as Windows-1252. */
const BYTE_ORDER_MARK = '\ufeff';

/** The list, one plan, what is written into it, and its file. */
export function planPageRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const { desk, read } = deps;
  const app = new Hono<SignInEnv>();

  app.get('/plans', (c) => showPlans(c, {}, []));

  app.post('/plans', async (c) => {
    const values = await readValues(c);
    const { name = '', from = '' } = values;
    const outcome = await desk.editPlan({ kind: 'new', name, from }, actingUser(c.var.user));
    if (outcome.outcome === 'saved') return c.redirect(`/plans/${encodeURIComponent(outcome.plan.id)}`, 303);
    return showPlans(c, values, problemsOf(outcome));
  });

  app.get('/plans/:id', (c) => showPlan(c, {}, []));

  app.post('/plans/:id', async (c) => {
    const values = await readValues(c);
    const id = c.req.param('id');
    const edit = await editMeant(id, values);
    const outcome: PlanOutcome =
      edit === undefined
        ? invalid(`No group is called ${values.group}.`)
        : await desk.editPlan(edit, actingUser(c.var.user));
    if (outcome.outcome === 'unknown') return send(c, unknownPlace(c.var.user), 404);
    if (outcome.outcome !== 'saved') return showPlan(c, values, problemsOf(outcome, values));
    return c.redirect(edit?.kind === 'discard' ? '/plans?done=discarded' : backTo(c, id), 303);
  });

  app.get('/plans/:id/plan.csv', async (c) => {
    const view = await read.plan({ id: c.req.param('id'), max: PLAN_ROWS_MAX }, c.var.user);
    if (view === undefined) return send(c, unknownPlace(c.var.user), 404);
    return c.body(BYTE_ORDER_MARK + planCsv(view, dialectOf(query(c, 'dialect'))), 200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="plan-${view.from}.csv"`,
    });
  });

  app.post('/plans/:id/file', async (c) => {
    const plan = c.req.param('id');
    const { file, dialect } = await readForm(c);
    const bytes = file instanceof File ? new Uint8Array(await file.arrayBuffer()) : new Uint8Array();
    const asked = { plan, dialect: dialectOf(typeof dialect === 'string' ? dialect : undefined) };
    const rows = readPlanFile(bytes, { ...asked, directory: await deps.directory() });
    if (!rows.ok) return showPlan(c, {}, rows.problems);
    const outcome = await desk.editPlan(rows.edit, actingUser(c.var.user));
    if (outcome.outcome === 'unknown') return send(c, unknownPlace(c.var.user), 404);
    if (outcome.outcome === 'invalid') return showPlan(c, {}, atLines(outcome.problems, rows.lines));
    if (outcome.outcome !== 'saved') return showPlan(c, {}, problemsOf(outcome));
    return c.redirect(backTo(c, plan), 303);
  });

  return app.route('/', adoptionRoutes(deps));

  /** Undefined: it names no group. */
  async function editMeant(id: string, values: Values): Promise<PlanEdit | undefined> {
    const { step, by = '', group = '', unit, round = '' } = values;
    if (step === 'discard') return { kind: 'discard', id };
    if (step !== 'scale') return { kind: 'amounts', id, amounts: typedAmounts(values) };
    const found = (await deps.directory())?.groupByPath.get(pathKey(group));
    if (group !== '' && found === undefined) return undefined;
    return {
      ...{ kind: 'scale', id, by, unit: SCALED_KINDS.find((each) => each === unit) ?? SCALED_KINDS[0] },
      subject: found === undefined ? 'instance' : `group/${found.id}`,
      ...(round !== '' && { round }),
    };
  }

  async function showPlans(
    c: PageContext,
    values: Values,
    problems: readonly CsvProblem[],
  ): Promise<Response> {
    const { user } = c.var;
    const byField = new Map(problems.map(({ column = 'name', message }) => [column, message]));
    const done = query(c, 'done') === 'discarded' ? 'The plan is discarded.' : undefined;
    const shown = { plans: await read.plans(user), values, problems: byField, done };
    return send(c, plansPage(user, shown, pageFormatOf(deps)), problems.length > 0 ? 422 : 200);
  }

  async function showPlan(
    c: PageContext,
    values: Values,
    problems: readonly CsvProblem[],
  ): Promise<Response> {
    const { user } = c.var;
    const cursor = query(c, 'cursor');
    const asked = { id: c.req.param('id') ?? '', max: PAGE_ROWS, ...(cursor !== undefined && { cursor }) };
    const view = await read.plan(asked, user);
    if (view === undefined) return send(c, unknownPlace(user), 404);
    const start = /^\d{1,6}$/.test(cursor ?? '') ? Number(cursor) : 0;
    const done = query(c, 'done') === 'written' ? 'It is in the plan.' : undefined;
    return send(
      c,
      planPage(user, { view, start, values, problems, done }, pageFormatOf(deps)),
      problems.length > 0 ? 422 : 200,
    );
  }
}

function backTo(c: PageContext, id: string): string {
  const cursor = query(c, 'cursor');
  const more = cursor === undefined || !/^\d{1,6}$/.test(cursor) ? '' : `&cursor=${cursor}`;
  return `/plans/${encodeURIComponent(id)}?done=written${more}`;
}

const invalid = (message: string): PlanOutcome => ({
  outcome: 'invalid',
  problems: [{ path: [], message }],
});

/** In words; `column` is the field of a form. */
function problemsOf(outcome: PlanOutcome, values: Values = {}): readonly CsvProblem[] {
  switch (outcome.outcome) {
    case 'invalid':
      return outcome.problems.map(({ path: [first, index], message }) => {
        const typed =
          first === 'amounts' && typeof index === 'number' ? typedAmounts(values)[index] : undefined;
        const column = typeof first === 'string' ? { column: first } : {};
        return { line: 0, ...column, message: typed === undefined ? message : `${typed.limit}: ${message}` };
      });
    case 'too_many':
      return [{ line: 0, message: `There are ${outcome.max} plans already: discard one that nobody needs.` }];
    case 'busy':
      return [{ line: 0, message: 'Others write into it at the same time: try again.' }];
    case 'forbidden':
      return [{ line: 0, message: 'To plan you must be of finance or an administrator.' }];
    default:
      return [];
  }
}
