import { BUDGET_ORDERS, RISK_FILTERS, SUBJECT_KINDS } from '../../../functions/answers/limits/filters.ts';
import type {
  BudgetRow,
  Budgets,
  ExceptionRow,
  LogEntry,
  Reconciliation,
} from '../../../functions/answers/limits/models.ts';
import {
  alertsText,
  forecastText,
  lastAlertOf,
  refusingText,
} from '../../../functions/answers/status/texts.ts';
import type { Directory } from '../../../policies/directory.ts';
import { readInstant } from '../../../policies/document/values.ts';
import { type Edge, edgeText, instantText, writtenDay } from '../../../policies/text/edge-text.ts';
import { isMoney, LIMIT_KINDS } from '../../../policies/unit.ts';
import { amountText, bareAmountText } from '../../../policies/unit-texts.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  choice,
  command,
  optionalWord,
  orElse,
  print,
  readWhole,
  text,
  toggle,
  whole,
} from '../../terminal/define.ts';
import { amounts, printable, right, type Screen, textLines } from '../../terminal/table.ts';
import { allPages, readInProcess } from '../api/answers.ts';
import { type BudgetContext, withBudget } from '../api/open-api.ts';
import { rollupZone } from '../ledger-flags.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { BUDGET_FLAGS, knownSubject, parseSubject, SUBJECT_HELP, subjectText } from './arguments.ts';
import { changeRowsText } from './change-text.ts';

const ROWS_SHOWN = 100;
const PAGE_ROWS = 1_000;

const budgetLs = command({
  name: 'budget ls',
  about: `Running jobs hold amounts; the forecast is by the usage of the last four weeks. Limits that refuse jobs now come first. Amounts
are those in force now: with grants and unused budget carried over.`,
  flags: {
    group: text('<group>', "only this group and below: a path or GitLab's id"),
    search: text('<text>', 'only limits with this in their path, id or owner'),
    kind: choice('<kind>', 'only limits of: ', SUBJECT_KINDS),
    unit: choice('<unit>', 'only limits that count: ', LIMIT_KINDS),
    over: text('<percent>', 'only limits that are used and held to at least this', (given, flag) =>
      readWhole(flag, given.replace(/%$/, ''), 0, 1_000),
    ),
    risk: choice(
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
  examples: ['tollgate budget ls --group acme --over 80%', 'tollgate budget ls --risk used-up --json'],
  run: ({ flags }, io) =>
    withBudget(flags, io, async (budget) => {
      const { group, search, kind, unit, risk, sort, over } = flags;
      const filter = {
        ...(group !== undefined && { below: await knownSubject(group, budget) }),
        ...withoutAbsent({ search, kind, unit, risk, sort, percent_min: over?.toString() }),
      };
      const read = (max: number, from: { readonly cursor?: string }) =>
        readInProcess(budget.api.budgets.$get({ query: { ...filter, ...from, max: String(max) } }));
      const pages =
        flags.all || flags.json
          ? await allPages((from) => read(PAGE_ROWS, from))
          : ([await read(ROWS_SHOWN, {})] as const);
      const [page, rows] = [pages[0], pages.flatMap((each) => each.rows)];
      const reconciliation = await readInProcess(budget.api.reconciliation.$get());
      const value = { currency: page.currency, limits: rows.map(limitJson), reconciliation };
      return print(io, flags, value, (screen) =>
        listText({ ...page, rows }, flags.alerts, screen, reconciliation),
      );
    }),
});

function listText(page: Budgets, alerts: boolean, screen: Screen, reconciliation: Reconciliation): string {
  const { set, currency, nowMs, rows, total, refusing, usedUp, runsOut } = page;
  const more = total - rows.length;
  const notes = [
    `${shadowCount(refusing)} reject jobs now, ${shadowCount(usedUp)} are used up, ${shadowCount(runsOut)} run out before their period ends`,
    more > 0 && `… and ${shadowCount(more)} more: --all shows them`,
    set === undefined && 'no set was ever published: these are those of policies/limits.yaml',
  ];
  const alertLines = rows.flatMap((row) => {
    const last = lastAlertOf(row);
    if (last === undefined || (last.state !== 'failed' && !alerts)) return [];
    const text = printable(`${subjectPath(row)} ${row.id}: ${last.text}`);
    return [`${last.state === 'failed' ? screen.warn(text) : text}\n`];
  });
  return [
    rows.length === 0 ? 'No limit is like this.\n' : limitsTable(rows, currency, nowMs, screen),
    ...alertLines,
    textLines(notes.map((note) => note && screen.dim(note))),
    `${screen[reconciliation.state === 'differs' ? 'bad' : 'dim'](reconciliation.text)}\n`,
  ].join('');
}

const budgetShow = command({
  name: 'budget show',
  about: `Also the notes of each limit, the forecast of each period and how far off such forecasts were (tollgate report forecast has
them all). tollgate report spend --group has what the groups below it used.`,
  words: { group: optionalWord('<group>', `${SUBJECT_HELP} (default: instance)`) },
  flags: BUDGET_FLAGS,
  examples: ['tollgate budget show acme/payments', 'tollgate budget show runner-class/large --json'],
  run: ({ flags, words }, io) =>
    withBudget(flags, io, async (budget) => {
      const { subject, path, set, currency, rows } = await readLimitsOf(words.group, budget);
      const exceptions = await readInProcess(budget.api.exceptions.$get({ query: { subject } }));
      const limits = rows.map((row) => {
        const { zone, softAmount = null, contact = null, costCenter = null, reason = null } = row;
        const own = row.subject === subject;
        const about = { own, zone, softAmount, contact, costCenter, reason };
        return { ...limitJson(row), ...about, forecast: forecastJson(row) };
      });
      const value = { subject, path, set: set ?? null, currency, limits, exceptions };
      return print(io, flags, value, (screen) => {
        return [
          `${screen.strong(printable(path))}${path === subject ? '' : `  ${screen.dim(subject)}`}\n`,
          ...(rows.length === 0
            ? ['No limit holds here.\n']
            : [
                limitsTable(rows, currency, io.nowMs(), screen),
                ...rows.map((row) => noteText(row, currency)),
              ]),
          exceptionsText(exceptions, budget.directory, screen),
        ].join('');
      });
    }),
});

/** The limits that hold for a subject: its own, and those above it. */
async function readLimitsOf(word: string | undefined, budget: BudgetContext) {
  const subject = await knownSubject(word ?? 'instance', budget);
  const query = { holding: subject, max: '1000' } as const;
  const { set, currency, rows } = await readInProcess(budget.api.budgets.$get({ query }));
  return { subject, path: subjectText(subject, budget.directory), set, currency, rows };
}

function noteText(row: BudgetRow, currency: string): string {
  const { contact, costCenter, reason, id, cohort, shared, borrowed = 0, unit } = row;
  const alerts = alertsText(row);
  const notes = [
    shared &&
      `cohort ${cohort}: ${bareAmountText(shared.used, unit)} of ${amountText(shared.amount, unit, currency)} lent in use, ${bareAmountText(borrowed, unit)} of at most ${amountText(shared.mayBorrow, unit, currency)} borrowed`,
    alerts && `${alerts}, to ${row.recipient}`,
    lastAlertOf(row)?.text,
    costCenter && `cost center ${costCenter}`,
    contact && `ask ${contact}`,
    reason,
  ].filter(Boolean);
  const forecast = forecastText(row, currency);
  return [notes.length > 0 && `${limitText(row, currency)}, ${notes.join(', ')}`, forecast]
    .filter(Boolean)
    .map((text) => `${printable(`${subjectPath(row)} ${id}: ${text}`)}\n`)
    .join('');
}

function exceptionsText(all: readonly ExceptionRow[], directory: Directory, screen: Screen) {
  if (all.length === 0) return '';
  const edgeWords = (written: string, which: Edge, zone: string): string => {
    const atMs = readInstant(written, which, zone);
    return atMs === undefined ? written : edgeText(atMs, which, zone);
  };
  const titles = ['', 'id', 'on', 'what', 'from', 'until', 'by', 'why'];
  const rows = all.map(({ kind, id, subject, what, from, until, zone, by, reason }) =>
    [
      ...[kind, id, subjectText(subject, directory), what, edgeWords(from, 'start', zone)],
      ...[until === '' ? 'it is lifted' : edgeWords(until, 'end', zone), by, reason],
    ].map(printable),
  );
  return `\n${screen.table(titles, rows)}`;
}

const budgetHistory = command({
  name: 'budget history',
  about: `Newest first.`,
  words: { group: optionalWord('<group>', `only changes of it: ${SUBJECT_HELP}`) },
  flags: { count: orElse(text('<n>', 'the largest number of edits', whole(1, 100)), 10), ...BUDGET_FLAGS },
  examples: ['tollgate budget history acme/payments --count 50'],
  run: ({ flags, words }, io) =>
    withBudget(flags, io, async (budget) => {
      const { api, directory, currency } = budget;
      const { group } = words;
      const subject = group === undefined ? undefined : parseSubject(group, directory);
      const edits: LogEntry[] = [];
      let before: string | undefined;
      // A page of a long log may be short.
      do {
        const query = { ...withoutAbsent({ subject, before }), max: String(flags.count - edits.length) };
        const page = await readInProcess(api.limits.history.$get({ query }));
        edits.push(...page.entries);
        before = page.next?.toString();
      } while (before !== undefined && edits.length < flags.count);
      // The log keeps deleted subjects; a subject it never had must exist.
      if (group !== undefined && edits.length === 0) await knownSubject(group, budget);
      return print(io, flags, { subject: subject ?? null, edits }, (screen) => {
        if (edits.length === 0) return 'Nothing was ever changed here.\n';
        const zone = rollupZone(io);
        const texts = edits.map(({ edit, set, atMs, actor, why, source, rows, count }) => {
          const head = `${screen.strong(`${instantText(atMs, zone)}  ${printable(actor)}`)}: ${printable(why)}\n`;
          const about = `edit ${edit}, set ${set}, from ${printable(source)}, ${count} ${count === 1 ? 'change' : 'changes'}`;
          const changes = rows && changeRowsText(rows, currency, io);
          return `${head}${screen.dim(about)}\n${changes ?? '(not kept any more, or too much to list)\n'}`;
        });
        return texts.join('');
      });
    }),
});

const reportForecast = command({
  name: 'report forecast',
  about: `A forecast is the mean of the last four weeks. The error is that of every whole month of the last nine, forecast by what was
known after 7, 14 and 21 of its days; --json has each of them.`,
  words: { group: optionalWord('<group>', `${SUBJECT_HELP} (default: instance)`) },
  flags: BUDGET_FLAGS,
  examples: ['tollgate report forecast acme/payments'],
  run: ({ flags, words }, io) =>
    withBudget(flags, io, async (budget) => {
      const { subject, path, currency, rows } = await readLimitsOf(words.group, budget);
      const limits = rows.filter((row) => row.subject === subject && row.canRunOut);
      const forecasts = limits.map((row) => ({ limit: row.id, unit: row.unit, ...forecastJson(row) }));
      return print(io, flags, { subject, path, currency, limits: forecasts }, ({ strong }) => {
        if (limits.length === 0) return `${printable(path)} has no limit of its own that can run out.\n`;
        const none = 'No forecast: it is used up, or nothing was used lately.';
        const texts = limits.map((row) => {
          const heading = strong(printable(`${subjectPath(row)} ${row.id}`));
          return `${heading}: ${limitText(row, currency)}\n${forecastText(row, currency) ?? none}\n`;
        });
        return texts.join('');
      });
    }),
});

/** As a command line names it: only groups and projects by their path. */
const subjectPath = ({ subject, path }: Pick<BudgetRow, 'subject' | 'path'>): string =>
  /^(group|project)\//.test(subject) ? path : subject;

const modeInForce = ({ mode, rolledOutAs }: BudgetRow): BudgetRow['mode'] => rolledOutAs ?? mode;

function limitJson(row: BudgetRow): object {
  const { subject, id: limit, kind, unit, amount, per = null, settled: used = null, held = null } = row;
  const { left = null, percent = null, owner = null, thresholds = [], recipient: told, forecast } = row;
  const { each, refusing, alerts, cohort, borrowed, shared } = row;
  const { atMs, outcome = null } = forecast ?? {};
  const runsOut = atMs === undefined ? outcome : new Date(atMs).toISOString();
  return {
    ...{ subject, path: subjectPath(row), limit, kind, unit, amount, per },
    // In force for jobs of the subject: the policy and the rollout may make it milder than it was written.
    mode: modeInForce(row),
    ...{ each, used, held, left, percent, runsOut, refusing, owner, thresholds, told, alerts },
    ...(shared !== undefined && { cohort, borrowed, shared }),
  };
}

function forecastJson({ forecast }: BudgetRow): object | null {
  if (forecast === undefined) return null;
  const { atEndAmount: atEnd = null, atEndLow: low = null, atEndHigh: high = null, tested = null } = forecast;
  return { atEnd, low, high, tested };
}

function limitsTable(rows: readonly BudgetRow[], currency: string, nowMs: number, screen: Screen): string {
  const sums = ['limit', 'used', 'held', 'left'].map(amounts);
  const titles = ['group', ...sums, right('%'), 'runs out', 'owner'];
  const cells = rows.map((row): readonly string[] => {
    const { unit, settled, held, left, percent, owner, each } = row;
    const bare = (amount?: number): string => (amount === undefined ? '' : bareAmountText(amount, unit));
    return [
      ...[printable(subjectPath(row)), limitText(row, currency)],
      settled === undefined && each === undefined ? 'not counted' : bare(settled),
      ...[bare(held), left !== undefined && left < 0 ? screen.bad(bare(left)) : bare(left)],
      percent === undefined ? '' : percentText(percent, screen),
      row.canRunOut && left !== undefined ? runsOutText(row, nowMs, screen) : '',
      printable(owner ?? ''),
    ];
  });
  return screen.table(titles, cells);
}

const percentText = (percent: number, screen: Screen): string =>
  percent >= 100 ? screen.bad(`${percent}`) : percent >= 80 ? screen.warn(`${percent}`) : `${percent}`;

function limitText(row: BudgetRow, currency: string): string {
  const { amount, unit, kind, per } = row;
  const mode = modeInForce(row);
  const unlimited = `unlimited ${isMoney(kind) ? currency : kind}`;
  const written = amount === 'unlimited' ? unlimited : amountText(amount, unit, currency);
  return `${written}${per === undefined ? '' : `/${per}`}${mode === 'enforce' ? '' : ` (${mode})`}`;
}

function runsOutText(row: BudgetRow, nowMs: number, screen: Screen): string {
  const { forecast, zone } = row;
  const refusing = refusingText(row, nowMs);
  if (refusing !== undefined) return screen.bad(refusing);
  if (forecast === undefined) return '?';
  if (forecast.outcome === 'lasts') return screen.good('lasts');
  if (forecast.atMs === undefined) return screen.bad('used up');
  return screen.warn(writtenDay(forecast.atMs, zone));
}

export const commands = [budgetLs, budgetShow, budgetHistory, reportForecast];
