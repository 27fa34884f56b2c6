import type { GroupSum, UsedInMonth } from '../../../functions/answers/groups/model.ts';
import type { BudgetRow, ExceptionRow } from '../../../functions/answers/limits/budgets-model.ts';
import {
  agreementText,
  alertsText,
  forecastText,
  lastAlertOf,
} from '../../../functions/answers/status/texts.ts';
import { readInstant } from '../../../policies/document/values.ts';
import { isCap } from '../../../policies/limits/cap.ts';
import { type Edge, edgeText } from '../../../policies/text/edge-text.ts';
import { amountText, bareAmountText } from '../../../policies/units/unit-texts.ts';
import { type Command, EXIT } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { type ApiClient, answeredInProcess, found } from '../api/api-in-process.ts';
import { type BudgetContext, withBudget } from '../api/open-api.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { rollupZone } from '../rollup-zone.ts';
import { BUDGET_DEPS, BUDGET_FLAGS, BUDGET_FLAGS_HELP, type BudgetDeps } from './budget-flags.ts';
import { forecastJson, limitStandingJson, limitText, standingPath, standingsText } from './standing-text.ts';
import { knownSubject, SUBJECT_HELP, subjectWord } from './subject-word.ts';
import { wideOrLong } from './wide-or-long.ts';

const HELP = `tollgate budget show <group> [flags]

One group: how its limits and those of the groups above it stand, what each period will come to and how far off such
forecasts were (tollgate report forecast has them all), what is said about each limit, and the grants, freezes and
break-glasses there are, with the ids by which they are taken back. Then what the groups right below it and its own projects
used this month (days begin in $TOLLGATE_ROLLUP_ZONE, else UTC): spent and held, which comes to what the group used.

${SUBJECT_HELP}
${BUDGET_FLAGS_HELP}

Exit codes: 0 told, 1 the table does not answer, 3 wrong usage`;

export const budgetShowCommandOn = (deps: BudgetDeps): Command => ({
  name: 'budget show',
  summary: 'One group: its limits, those above it, grants, freezes and break-glasses',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(args, BUDGET_FLAGS, { max: 1, what: 'one group' });
    return withBudget(deps.open, values, io, async (budget) => {
      const { api, directory } = budget;
      const subject = await knownSubject(words[0] ?? 'instance', budget);
      const query = { holding: subject, max: '1000' } as const;
      const { set, currency, rows } = await answeredInProcess(api.budgets.$get({ query }));
      const { agreements, below } = await usedBy(subject, api);
      const exceptions = await answeredInProcess(api.exceptions.$get({ query: { subject } }));
      const path = subjectWord(subject, directory);
      if (values.json) {
        const limits = rows.map((row) => ({
          ...limitStandingJson(row),
          own: row.subject === subject,
          zone: row.zone,
          softAmount: row.softAmount ?? null,
          contact: row.contact ?? null,
          costCenter: row.costCenter ?? null,
          reason: row.reason ?? null,
          forecast: forecastJson(row),
          agreement:
            row.subject === subject ? (agreements.find(({ limit }) => limit === row.id) ?? null) : null,
        }));
        const told = { subject, path, set: set ?? null, currency, limits, exceptions, below: below ?? null };
        io.out(`${JSON.stringify(told)}\n`);
        return EXIT.ok;
      }
      const paint = paintWhen(io.colours);
      io.out(`${paint.strong(printable(path))}${path === subject ? '' : `  ${paint.dim(subject)}`}\n`);
      if (rows.length === 0) io.out('No limit holds here.\n');
      else {
        io.out(standingsText(rows, { currency, nowMs: io.nowMs(), columns: io.columns, paint }));
        io.out(rows.map((row) => noteText(row, currency) + forecastLine(row, currency)).join(''));
        io.out(agreements.map((each) => agreementLine(each, currency, rollupZone(io), paint)).join(''));
      }
      if (below !== undefined) io.out(groupsBelowText(path, below, currency, io.columns, paint));
      io.out(exceptionsText(exceptions, budget, io.columns, paint));
      return EXIT.ok;
    });
  },
});

export const budgetShowCommand: Command = budgetShowCommandOn(BUDGET_DEPS);

function noteText(row: BudgetRow, currency: string): string {
  const { contact, costCenter, reason, id } = row;
  const alerts = alertsText(row);
  const said = [
    ...cohortWords(row, currency),
    alerts && `${alerts}, to ${row.addressee}`,
    lastAlertOf(row, currency)?.text,
    costCenter && `cost center ${costCenter}`,
    contact && `ask ${contact}`,
    reason,
  ].filter(Boolean);
  if (said.length === 0) return '';
  return `${printable(`${standingPath(row)} ${id}: ${limitText(row, currency)}, ${said.join(', ')}`)}\n`;
}

/** The sentence that the page has below its chart. */
function forecastLine(row: BudgetRow, currency: string): string {
  const text = forecastText(row, currency);
  return text === undefined ? '' : `${printable(`${standingPath(row)} ${row.id}: ${text}`)}\n`;
}

function cohortWords({ cohort, shared, borrowed = 0, unit }: BudgetRow, currency: string): readonly string[] {
  if (shared === undefined) return [];
  const told = (units: number): string => amountText(units, unit, currency);
  const lent = `cohort ${cohort}: ${bareAmountText(shared.used, unit)} of ${told(shared.amount)} lent in use`;
  return shared.mayBorrow === 0
    ? [lent]
    : [`${lent}, ${bareAmountText(borrowed, unit)} of at most ${told(shared.mayBorrow)} borrowed`];
}

function agreementLine(agreement: Agreement, currency: string, zone: string, paint: Paint): string {
  const { tone, text } = agreementText(agreement, currency, zone);
  return `${tone === 'fits' ? paint.good('figures agree') : paint.warn('figures differ')}  ${agreement.limit}: ${text}\n`;
}

interface GroupsBelow extends GroupSum {
  /** Right below, by path, at most 25. */
  readonly groups: readonly (UsedInMonth & { readonly subject: string; readonly path: string })[];
}

interface UsedBy {
  readonly agreements: readonly Agreement[];
  /** Absent: there are none. */
  readonly below?: GroupsBelow;
}

type Agreement = Parameters<typeof agreementText>[0];

/** Limits may be written for what the directory does not know yet. */
const NOTHING: UsedBy = { agreements: [] };

/** Use of a subject and its direct subgroups; other kinds of subjects have none. */
async function usedBy(subject: string, api: ApiClient): Promise<UsedBy> {
  if (isCap(subject)) return NOTHING;
  const [kind = '', ...names] = subject.split('/');
  const [name, query] = [names.join('/'), {}];
  switch (kind) {
    case 'instance': {
      const { agreements } = await answeredInProcess(api.instance.$get({ query }));
      const roots = { under: 'roots', sort: 'name', max: '25' } as const;
      const { rows, sum } = await answeredInProcess(api.groups.$get({ query: roots }));
      return { agreements, ...belowOf(rows, sum) };
    }
    case 'group': {
      const view = await found(api.groups[':id'].$get({ param: { id: name }, query }));
      return view === undefined ? NOTHING : { ...view, ...belowOf(view.children, view.childrenSum) };
    }
    case 'project':
      return (await found(api.projects[':id'].$get({ param: { id: name }, query }))) ?? NOTHING;
    case 'runner-class':
      return (await found(api['runner-classes'][':name'].$get({ param: { name }, query }))) ?? NOTHING;
    default:
      return NOTHING;
  }
}

interface ChildRow {
  readonly subject: string;
  readonly path: string;
  readonly metered: UsedInMonth;
}

function belowOf(rows: readonly ChildRow[], sum: GroupSum | undefined): Pick<UsedBy, 'below'> {
  if (rows.length === 0 || sum === undefined) return {};
  const groups = rows.map(({ subject, path, metered: { settledMicros, heldMicros, seconds, jobs } }) => ({
    ...{ subject, path, settledMicros, heldMicros, seconds, jobs },
  }));
  return { below: { groups, ...sum } };
}

/** A line for each group, one for the rest, one for the total. */
function groupsBelowText(
  label: string,
  { groups, rest, restLabel, total }: GroupsBelow,
  currency: string,
  columns: number,
  paint: Paint,
): string {
  const row = (name: string, { settledMicros, heldMicros, jobs }: UsedInMonth): readonly string[] => [
    printable(name),
    bareAmountText(settledMicros + heldMicros, 'micros'),
    shadowCount(jobs),
  ];
  const rows = [...groups.map((each) => row(each.path, each)), row(restLabel, rest), row(label, total)];
  const right = { align: 'right' } as const;
  const titles = [{ title: 'this month' }, { title: currency, ...right }, { title: 'jobs', ...right }];
  return `\n${table(titles, rows, columns, paint.dim)}`;
}

function edgeWords(written: string, which: Edge, zone: string): string {
  const atMs = readInstant(written, which, zone);
  return atMs === undefined ? written : edgeText(atMs, which, zone);
}

function exceptionsText(
  all: readonly ExceptionRow[],
  { directory }: Pick<BudgetContext, 'directory'>,
  columns: number,
  paint: Paint,
): string {
  if (all.length === 0) return '';
  const titles = ['', 'id', 'on', 'what', 'from', 'until', 'by', 'why'];
  const rows = all.map(({ kind, id, subject, what, from, until, zone, by, reason }) =>
    [
      kind,
      id,
      subjectWord(subject, directory),
      what,
      edgeWords(from, 'start', zone),
      until === '' ? 'it is lifted' : edgeWords(until, 'end', zone),
      by,
      reason,
    ].map(printable),
  );
  return `\n${wideOrLong(titles, rows, columns, paint)}`;
}
