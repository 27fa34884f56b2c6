import {
  BUDGET_ORDERS,
  type BudgetRow,
  type Budgets,
  type Reconciliation,
  RISK_FILTERS,
  SUBJECT_KINDS,
} from '../../../functions/answers/limits/budgets-model.ts';
import { lastAlertOf } from '../../../functions/answers/status/texts.ts';
import { LIMIT_KINDS } from '../../../policies/units/unit.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo } from '../../terminal/command.ts';
import { readChoice, readFlags, readWhole } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { answeredInProcess } from '../api/api-in-process.ts';
import { withBudget } from '../api/open-api.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { BUDGET_DEPS, BUDGET_FLAGS, BUDGET_FLAGS_HELP, type BudgetDeps } from './budget-flags.ts';
import { limitStandingJson, standingPath, standingsText } from './standing-text.ts';
import { knownSubject } from './subject-word.ts';

/** Two or three screens; --all and --json have the rest. */
const ROWS_SHOWN = 100;
/** One call of many. */
const PAGE_ROWS = 1_000;

const HELP = `tollgate budget ls [flags]

How do the limits stand? Used (final), held by running jobs, left, and when they run out by the usage of the last eight weeks. Limits
that refuse jobs now come first. Amounts are those in force now: with grants and what was carried over.

  --group <group>      only this group and what is below it: a path or GitLab's id
  --search <text>      only limits with this in their path, id or owner
  --kind <kind>        only limits of: ${SUBJECT_KINDS.join(', ')}
  --unit <unit>        only limits that count: ${LIMIT_KINDS.join(', ')}
  --over <percent>     only limits of which at least so much is used and held
  --trouble <which>    used-up, or runs-out: that, what refuses jobs, and what is gone before its period ends
  --sort <order>       ${BUDGET_ORDERS.join(', ')}   (default: ${BUDGET_ORDERS[0]}: refusing jobs, used up, soonest gone, fullest)
  --alerts             whom a limit's alerts told last, at which level, when and by what; what failed is told anyhow
  --all                every row, not only the first ${ROWS_SHOWN}
${BUDGET_FLAGS_HELP}

Exit codes: 0 told, 1 the table does not answer, 3 wrong usage`;

const FLAGS = {
  group: 'text',
  search: 'text',
  kind: 'text',
  unit: 'text',
  trouble: 'text',
  sort: 'text',
  over: 'text',
  alerts: 'switch',
  all: 'switch',
  ...BUDGET_FLAGS,
} as const;

export const budgetLsCommandOn = (deps: BudgetDeps): Command => ({
  name: 'budget ls',
  summary: 'How do the limits stand? Used, held, left, and when they run out',
  help: HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, FLAGS);
    const over =
      values.over === undefined ? undefined : readWhole('over', values.over.replace(/%$/, ''), 0, 1_000);
    return withBudget(deps.open, values, io, async (budget) => {
      const below = values.group === undefined ? {} : { below: await knownSubject(values.group, budget) };
      const asked = {
        ...below,
        ...choicesAsked(values),
        ...(over !== undefined && { percent_min: String(over) }),
      };
      const isWhole = values.all || values.json;
      const max = String(isWhole ? PAGE_ROWS : ROWS_SHOWN);
      let page = await answeredInProcess(budget.api.budgets.$get({ query: { ...asked, max } }));
      const rows = [...page.rows];
      while (isWhole && page.next !== undefined) {
        page = await answeredInProcess(
          budget.api.budgets.$get({ query: { ...asked, max, cursor: page.next } }),
        );
        rows.push(...page.rows);
      }
      const books = await answeredInProcess(budget.api.reconciliation.$get());
      return tell({ ...page, rows }, values, io, books);
    });
  },
});

export const budgetLsCommand: Command = budgetLsCommandOn(BUDGET_DEPS);

type Choice = 'search' | 'kind' | 'unit' | 'trouble' | 'sort';

/** As the API asks. @throws {UsageError} for what is none of the choices. */
function choicesAsked(values: { readonly [Name in Choice]?: string | undefined }) {
  const { search, kind, unit, trouble, sort } = values;
  return {
    ...(search !== undefined && { search }),
    ...(kind !== undefined && { kind: readChoice('kind', kind, SUBJECT_KINDS) }),
    ...(unit !== undefined && { unit: readChoice('unit', unit, LIMIT_KINDS) }),
    ...(trouble !== undefined && { trouble: readChoice('trouble', trouble, RISK_FILTERS) }),
    ...(sort !== undefined && { sort: readChoice('sort', sort, BUDGET_ORDERS) }),
  };
}

interface HowToTell {
  readonly json: boolean;
  readonly alerts: boolean;
}

function tell(
  { set, currency, nowMs, rows, total, forecastMax, refusing, usedUp, runsOut }: Budgets,
  { json, alerts }: HowToTell,
  io: TerminalIo,
  books: Reconciliation,
): ExitCode {
  if (json) {
    io.out(`${JSON.stringify({ currency, limits: rows.map(limitStandingJson), reconciliation: books })}\n`);
    return EXIT.ok;
  }
  const paint = paintWhen(io.colours);
  if (rows.length === 0) io.out('No limit is like this.\n');
  else io.out(standingsText(rows, { currency, nowMs, columns: io.columns, paint }));
  io.out(rows.map((row) => alertLine(row, currency, alerts, paint)).join(''));
  const more = total - rows.length;
  const notes = [
    `${shadowCount(refusing)} refusing jobs, ${shadowCount(usedUp)} used up, ${shadowCount(runsOut)} gone before their period ends`,
    ...(more > 0 ? [`… and ${shadowCount(more)} more: --all shows them`] : []),
    ...(total > forecastMax ? [`forecasts are of the ${forecastMax} fullest only`] : []),
    ...(set === undefined ? ['no set was ever published: these are those of policies/limits.yaml'] : []),
  ];
  io.out(notes.map((note) => paint.dim(`${note}\n`)).join(''));
  io.out(`${books.state === 'differs' ? paint.bad(books.text) : paint.dim(books.text)}\n`);
  return EXIT.ok;
}

/** The sentence that the page has at the limit. */
function alertLine(row: BudgetRow, currency: string, isAsked: boolean, paint: Paint): string {
  const last = lastAlertOf(row, currency);
  if (last === undefined || (last.state !== 'failed' && !isAsked)) return '';
  const text = printable(`${standingPath(row)} ${row.id}: ${last.text}`);
  return `${last.state === 'failed' ? paint.warn(text) : text}\n`;
}
