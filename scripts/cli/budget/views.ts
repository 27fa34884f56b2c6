import {
  BUDGET_ORDERS,
  type BudgetRow,
  type Budgets,
  type ExceptionRow,
  type Reconciliation,
  RISK_FILTERS,
  SUBJECT_KINDS,
} from '../../../functions/answers/limits/budgets-model.ts';
import type { LogEntry } from '../../../functions/answers/limits/edit-models.ts';
import { alertsText, forecastText, lastAlertOf } from '../../../functions/answers/status/texts.ts';
import { readInstant } from '../../../policies/document/values.ts';
import { type Edge, edgeText, instantText } from '../../../policies/text/edge-text.ts';
import { LIMIT_KINDS } from '../../../policies/unit.ts';
import { amountText, bareAmountText } from '../../../policies/unit-texts.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { TerminalIo } from '../../terminal/command.ts';
import { command, print } from '../../terminal/define-command.ts';
import { choice, optionalWord, orElse, readWhole, text, toggle, whole } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { allPages, answeredInProcess } from '../api/api-in-process.ts';
import { type BudgetContext, withBudget } from '../api/open-api.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { rollupZone } from '../rollup-zone.ts';
import { BUDGET_FLAGS, knownSubject, SUBJECT_HELP, subjectOfWord, subjectWord } from './arguments.ts';
import { changeRowsText } from './change-text.ts';
import { forecastJson, limitStandingJson, limitText, standingPath, standingsText } from './limit-text.ts';

/** Two or three screens; --all and --json have the rest. */
const ROWS_SHOWN = 100;
const PAGE_ROWS = 1_000;

const budgetLs = command({
  name: 'budget ls',
  about: `Lists limits: used (final), held by running jobs, left, and when they run out by the usage of the last four weeks. Limits
that refuse jobs now come first. Amounts are those in force now: with grants and unused budget carried over.`,
  flags: {
    group: text('<group>', "only this group and below: a path or GitLab's id"),
    search: text('<text>', 'only limits with this in their path, id or owner'),
    kind: choice('<kind>', 'only limits of: ', SUBJECT_KINDS),
    unit: choice('<unit>', 'only limits that count: ', LIMIT_KINDS),
    over: text('<percent>', 'only limits that are used and held to at least this', (given, flag) =>
      readWhole(flag, given.replace(/%$/, ''), 0, 1_000),
    ),
    trouble: choice(
      '<which>',
      'only limits that are used up; or that are used up, refuse jobs or run out before their period ends: ',
      RISK_FILTERS,
    ),
    sort: choice('<order>', `(default: ${BUDGET_ORDERS[0]}) `, BUDGET_ORDERS),
    alerts: toggle(
      'the last alert of each limit: recipient, level, time and way. Failed alerts are always shown',
    ),
    all: toggle(`every row, not only the first ${ROWS_SHOWN}`),
    ...BUDGET_FLAGS,
  },
  examples: ['tollgate budget ls --group acme --over 80%', 'tollgate budget ls --trouble used-up --json'],
  run: ({ flags }, io) =>
    withBudget(flags, io, async (budget) => {
      const { search, kind, unit, trouble, sort, over } = flags;
      const asked = {
        ...(flags.group !== undefined && { below: await knownSubject(flags.group, budget) }),
        ...withoutAbsent({ search, kind, unit, trouble, sort }),
        ...(over !== undefined && { percent_min: String(over) }),
      };
      const read = (max: number, from: { readonly cursor?: string }) =>
        answeredInProcess(budget.api.budgets.$get({ query: { ...asked, ...from, max: String(max) } }));
      const pages =
        flags.all || flags.json
          ? await allPages((from) => read(PAGE_ROWS, from))
          : ([await read(ROWS_SHOWN, {})] as const);
      const [page, rows] = [pages[0], pages.flatMap((each) => each.rows)];
      const reconciliation = await answeredInProcess(budget.api.reconciliation.$get());
      const value = { currency: page.currency, limits: rows.map(limitStandingJson), reconciliation };
      return print(io, flags, value, () => listText({ ...page, rows }, flags.alerts, io, reconciliation));
    }),
});

function listText(
  { set, currency, nowMs, rows, total, refusing, usedUp, runsOut }: Budgets,
  alerts: boolean,
  io: TerminalIo,
  reconciliation: Reconciliation,
): string {
  const paint = paintWhen(io.colours);
  const more = total - rows.length;
  const notes = [
    `${shadowCount(refusing)} refusing jobs, ${shadowCount(usedUp)} used up, ${shadowCount(runsOut)} gone before their period ends`,
    ...(more > 0 ? [`… and ${shadowCount(more)} more: --all shows them`] : []),
    ...(set === undefined ? ['no set was ever published: these are those of policies/limits.yaml'] : []),
  ];
  return [
    rows.length === 0
      ? 'No limit is like this.\n'
      : standingsText(rows, { currency, nowMs, columns: io.columns, paint }),
    ...rows.map((row) => alertLine(row, alerts, paint)),
    ...notes.map((note) => paint.dim(`${note}\n`)),
    `${reconciliation.state === 'differs' ? paint.bad(reconciliation.text) : paint.dim(reconciliation.text)}\n`,
  ].join('');
}

function alertLine(row: BudgetRow, isAsked: boolean, paint: Paint): string {
  const last = lastAlertOf(row);
  if (last === undefined || (last.state !== 'failed' && !isAsked)) return '';
  const text = printable(`${standingPath(row)} ${row.id}: ${last.text}`);
  return `${last.state === 'failed' ? paint.warn(text) : text}\n`;
}

const budgetShow = command({
  name: 'budget show',
  about: `Shows one group: its limits and those of the groups above it, the forecast of each period and how far off such forecasts
were (tollgate report forecast has them all), the notes of each limit, and grants, freezes and break-glasses with their
ids. tollgate report spend --group has what the groups below it used.`,
  words: { group: optionalWord('<group>', `${SUBJECT_HELP} (default: instance)`) },
  flags: BUDGET_FLAGS,
  examples: ['tollgate budget show acme/payments', 'tollgate budget show runner-class/large --json'],
  run: ({ flags, words }, io) =>
    withBudget(flags, io, async (budget) => {
      const { api, directory } = budget;
      const subject = await knownSubject(words.group ?? 'instance', budget);
      const query = { holding: subject, max: '1000' } as const;
      const { set, currency, rows } = await answeredInProcess(api.budgets.$get({ query }));
      const exceptions = await answeredInProcess(api.exceptions.$get({ query: { subject } }));
      const path = subjectWord(subject, directory);
      const limits = rows.map((row) => ({
        ...limitStandingJson(row),
        own: row.subject === subject,
        zone: row.zone,
        softAmount: row.softAmount ?? null,
        contact: row.contact ?? null,
        costCenter: row.costCenter ?? null,
        reason: row.reason ?? null,
        forecast: forecastJson(row),
      }));
      const value = { subject, path, set: set ?? null, currency, limits, exceptions };
      return print(io, flags, value, () => {
        const paint = paintWhen(io.colours);
        return [
          `${paint.strong(printable(path))}${path === subject ? '' : `  ${paint.dim(subject)}`}\n`,
          ...(rows.length === 0
            ? ['No limit holds here.\n']
            : [
                standingsText(rows, { currency, nowMs: io.nowMs(), columns: io.columns, paint }),
                ...rows.map((row) => noteText(row, currency)),
              ]),
          exceptionsText(exceptions, budget, io.columns, paint),
        ].join('');
      });
    }),
});

function noteText(row: BudgetRow, currency: string): string {
  const { contact, costCenter, reason, id, cohort, shared, borrowed = 0, unit } = row;
  const alerts = alertsText(row);
  const lent =
    shared &&
    `cohort ${cohort}: ${bareAmountText(shared.used, unit)} of ${amountText(shared.amount, unit, currency)} lent in use, ${bareAmountText(borrowed, unit)} of at most ${amountText(shared.mayBorrow, unit, currency)} borrowed`;
  const notes = [
    lent,
    alerts && `${alerts}, to ${row.addressee}`,
    lastAlertOf(row)?.text,
    costCenter && `cost center ${costCenter}`,
    contact && `ask ${contact}`,
    reason,
  ].filter(Boolean);
  const forecast = forecastText(row, currency);
  return [notes.length > 0 && `${limitText(row, currency)}, ${notes.join(', ')}`, forecast]
    .filter(Boolean)
    .map((text) => `${printable(`${standingPath(row)} ${id}: ${text}`)}\n`)
    .join('');
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
  return `\n${table(titles, rows, columns, paint.dim)}`;
}

const PAGE_EDITS = 100;

const budgetHistory = command({
  name: 'budget history',
  about: 'Lists who changed the limits, when, from what to what, why and where from; newest first.',
  words: { group: optionalWord('<group>', `only changes of it: ${SUBJECT_HELP}`) },
  flags: { count: orElse(text('<n>', 'how many edits at most', whole(1, 500)), 10), ...BUDGET_FLAGS },
  examples: ['tollgate budget history acme/payments --count 50'],
  run: ({ flags, words }, io) =>
    withBudget(flags, io, async (budget) => {
      const { api, directory, policy } = budget;
      const { group } = words;
      const subject = group === undefined ? undefined : subjectOfWord(group, directory);
      const edits: LogEntry[] = [];
      let before: number | undefined;
      do {
        const max = String(Math.min(PAGE_EDITS, flags.count - edits.length));
        const query = { ...withoutAbsent({ subject, before: before?.toString() }), max };
        const page = await answeredInProcess(api.limits.history.$get({ query }));
        edits.push(...page.entries);
        before = page.next;
      } while (before !== undefined && edits.length < flags.count);
      // The log keeps deleted subjects; a subject it never had must exist.
      if (group !== undefined && edits.length === 0) await knownSubject(group, budget);
      return print(io, flags, { subject: subject ?? null, edits }, () => {
        if (edits.length === 0) return 'Nothing was ever changed here.\n';
        const paint = paintWhen(io.colours);
        const zone = rollupZone(io);
        return edits
          .map(({ edit, set, atMs, actor, why, source, rows, count }) => {
            const head = `${paint.strong(`${instantText(atMs, zone)}  ${printable(actor)}`)}: ${printable(why)}\n`;
            const about = `edit ${edit}, set ${set}, from ${printable(source)}, ${count} ${count === 1 ? 'change' : 'changes'}`;
            const changes =
              rows === undefined
                ? '(not kept any more, or too much to list)\n'
                : changeRowsText(rows, policy.currency, io.columns, paint);
            return `${head}${paint.dim(about)}\n${changes}`;
          })
          .join('');
      });
    }),
});

export const commands = [budgetLs, budgetShow, budgetHistory];
