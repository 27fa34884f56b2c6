import type { Ledger } from '../../functions/core/ledger/ledger.ts';
import type { Directory } from '../../policies/directory.ts';
import type { Limit } from '../../policies/limits/limit.ts';
import {
  counterOf,
  type LimitSet,
  limitAt,
  limitsOfGroup,
  limitsOn,
  subjectKey,
} from '../../policies/limits/limits.ts';
import { validAt } from '../../policies/limits/period.ts';
import { type Unit, unitRow } from '../../policies/unit.ts';
import { amountText } from '../../policies/unit-texts.ts';
import { table } from '../terminal/table.ts';
import { type AnsweredEvent, toWidth } from './decision-line.ts';
import type { EndsSummary } from './local-ends.ts';
import { quantile } from './random.ts';

/** The decisions of a run, by group and in total, and the counters of limits. */
export interface Summary {
  readonly decisions: number;
  readonly admitted: number;
  readonly rejected: number;
  readonly fallback: number;
  readonly latencyMs: { readonly p50: number; readonly p99: number };
  readonly groups: readonly GroupSummary[];
  readonly limits: readonly LimitOfRun[];
  /** Settlement of the local GitLab's jobs; absent with a real GitLab. */
  readonly ends?: EndsSummary;
}

interface GroupSummary {
  readonly group: string;
  /** The counter of the group's own money limit, with earlier jobs of the period; absent: it has none. */
  readonly money?: Pick<LimitOfRun, 'spent' | 'spentThisRun' | 'held' | 'limitAmount'>;
  readonly admitted: number;
  readonly rejected: number;
  /** Keyed by code and rule, most frequent first. */
  readonly rejectedBy: Readonly<Record<string, number>>;
}

export interface LimitSummary {
  readonly subject: string;
  readonly limit: string;
  /** The counter's period: `2026-11`, or `now`. */
  readonly period: string;
  readonly unit: Unit;
  readonly mode: string;
  readonly spent: number;
  readonly held: number;
  readonly limitAmount: number | 'unlimited';
}

interface LimitOfRun extends LimitSummary {
  /** The part of `spent` that this run added. */
  readonly spentThisRun: number;
}

export class DecisionTally {
  readonly #groups = new Map<
    string,
    { admitted: number; rejected: number; rejectedBy: Map<string, number> }
  >();
  readonly #latenciesMs: number[] = [];
  #fallback = 0;

  add(answered: AnsweredEvent): void {
    this.#latenciesMs.push(answered.latencyMs);
    if (answered.via === 'fallback') this.#fallback += 1;
    const decision = answered.decision;
    const name = (decision?.outcome === 'undecided' ? undefined : decision?.terms?.group) ?? '(unknown)';
    const group = this.#groups.get(name) ?? {
      admitted: 0,
      rejected: 0,
      rejectedBy: new Map<string, number>(),
    };
    this.#groups.set(name, group);
    group[answered.answer.outcome] += 1;
    if (decision?.outcome !== 'rejected') return;
    for (const { rule, reason } of decision.violations) {
      const key = `${reason.code} (${rule})`;
      group.rejectedBy.set(key, (group.rejectedBy.get(key) ?? 0) + 1);
    }
  }

  /** @param before - the limits before the first admission request. */
  summary(
    now: readonly LimitSummary[],
    before: readonly LimitSummary[],
    ends: EndsSummary | undefined,
  ): Summary {
    const sorted = this.#latenciesMs.toSorted((a, b) => a - b);
    const limits = now.map((limit) => ({ ...limit, spentThisRun: limit.spent - spentBefore(limit, before) }));
    const groups = [...this.#groups].toSorted(([a], [b]) => a.localeCompare(b));
    const total = (of: 'admitted' | 'rejected'): number =>
      groups.reduce((sum, [, group]) => sum + group[of], 0);
    return {
      decisions: sorted.length,
      admitted: total('admitted'),
      rejected: total('rejected'),
      fallback: this.#fallback,
      latencyMs: { p50: tenths(quantile(sorted, 0.5)), p99: tenths(quantile(sorted, 0.99)) },
      groups: groups.map(([group, { admitted, rejected, rejectedBy }]) => ({
        group,
        ...moneyOf(group, limits),
        admitted,
        rejected,
        rejectedBy: Object.fromEntries([...rejectedBy].toSorted(([, a], [, b]) => b - a)),
      })),
      limits,
      ...(ends !== undefined && { ends }),
    };
  }
}

/** Returns 0 for a period that began during the run. */
const spentBefore = ({ subject, limit, period }: LimitSummary, before: readonly LimitSummary[]): number =>
  before.find((then) => then.subject === subject && then.limit === limit && then.period === period)?.spent ??
  0;

function moneyOf(group: string, limits: readonly LimitOfRun[]): Pick<GroupSummary, 'money'> {
  const own = limits.find(
    ({ subject, unit, mode }) => subject === group && unitRow(unit).inCurrency && mode === 'enforce',
  );
  if (own === undefined) return {};
  const { spent, spentThisRun, held, limitAmount } = own;
  return { money: { spent, spentThisRun, held, limitAmount } };
}

const tenths = (ms: number): number => (Number.isNaN(ms) ? 0 : Math.round(ms * 10) / 10);

/** Reads every limit's counter for the current period; defaults of groups only if their counter moved. */
export async function limitFigures(
  limits: LimitSet,
  directory: Directory | undefined,
  ledger: Pick<Ledger, 'readCounters'>,
  nowMs: number,
): Promise<readonly LimitSummary[]> {
  const all = limitsNow(limits, directory, nowMs);
  const keys = all.map((limit) => counterOf(limit, nowMs));
  const counters = await ledger.readCounters(keys);
  return all.flatMap((limit, index): readonly LimitSummary[] => {
    const counter = counters[index];
    // A pattern may apply to thousands of groups, most without jobs here.
    if ((counter?.rev ?? 0) === 0 && !limitsOn(limits, limit.subject).includes(limit)) return [];
    const settled = counter?.settled ?? 0;
    return [
      {
        subject: labelOf(limit.subject, directory),
        limit: limit.id,
        period: keys[index]?.period ?? '',
        unit: limit.unit,
        mode: limit.mode,
        spent: settled,
        held: (counter?.committed ?? 0) - settled,
        limitAmount: limitAt(limit, nowMs).amount,
      },
    ];
  });
}

function limitsNow(limits: LimitSet, directory: Directory | undefined, nowMs: number): readonly Limit[] {
  const groups = new Map(
    [...(directory?.groupById.values() ?? [])].map((group) => [
      subjectKey({ kind: 'group', id: group.id }),
      group,
    ]),
  );
  return [...new Set([...limits.bySubject.keys(), ...groups.keys()])].flatMap((subject) => {
    const group = groups.get(subject);
    return group === undefined
      ? validAt(limitsOn(limits, subject), nowMs)
      : limitsOfGroup(limits, group, nowMs);
  });
}

/** Counters are named `group/101`; people know `acme/payments`. */
function labelOf(subject: string, directory: Directory | undefined): string {
  const [kind, id] = subject.split('/');
  if (kind === 'group') return directory?.groupById.get(Number(id))?.path ?? subject;
  if (kind === 'project') return directory?.projectById.get(Number(id))?.path ?? subject;
  return subject;
}

/** From this width on the tables fit with all columns. */
const WIDE_COLUMNS_MIN = 105;
const SUBJECT_NARROW = 15;
const BAR_WIDTH = 10;

/**
 * The summary for people: a table of groups, a table of limits, how jobs were settled, and the latency.
 * @param columns of the terminal; `Infinity` for files.
 */
export function renderSummary(summary: Summary, currency: string, columns: number): string {
  const { p50, p99 } = summary.latencyMs;
  return [
    groupTable(summary.groups, currency, columns),
    limitTable(summary.limits, currency, columns),
    `${summary.decisions} decisions: ${summary.admitted} admitted, ${summary.rejected} rejected, ${summary.fallback} by fallback.`,
    ...(summary.ends === undefined ? [] : endsLines(summary.ends)),
    `Question to answer: p50 ${p50} ms, p99 ${p99} ms.`,
  ].join('\n');
}

interface SummaryColumn<Row> {
  readonly title?: string;
  readonly align?: 'right';
  /** Shown only in wide terminals. */
  readonly isWide?: true;
  cell(row: Row): string;
}

function summaryTable<Row>(
  rows: readonly Row[],
  all: readonly SummaryColumn<Row>[],
  columns: number,
): string {
  const shown = all.filter(({ isWide }) => !isWide || columns >= WIDE_COLUMNS_MIN);
  return table(
    shown.map(({ title, align }) => ({ ...(title && { title }), ...(align && { align }) })),
    rows.map((row) => shown.map(({ cell }) => cell(row))),
    columns,
  );
}

function groupTable(groups: readonly GroupSummary[], currency: string, columns: number): string {
  const money = (amountOf: (money: NonNullable<GroupSummary['money']>) => number | 'unlimited') => {
    return (group: GroupSummary): string => {
      // An unlimited amount has no counter.
      const amount = group.money && amountOf(group.money);
      if (amount === undefined || (amount !== 'unlimited' && group.money?.limitAmount === 'unlimited'))
        return '–';
      return amount === 'unlimited' ? amount : amountText(amount, 'micros', currency);
    };
  };
  const right = { align: 'right' } as const;
  return summaryTable<GroupSummary>(
    groups,
    [
      { title: 'group', cell: ({ group }) => group },
      { title: 'spent', ...right, cell: money(({ spent }) => spent) },
      { title: 'this run', ...right, isWide: true, cell: money(({ spentThisRun }) => spentThisRun) },
      { title: 'held', ...right, cell: money(({ held }) => held) },
      { title: 'limit', ...right, isWide: true, cell: money(({ limitAmount }) => limitAmount) },
      { title: 'admitted', ...right, cell: ({ admitted }) => String(admitted) },
      { title: 'rejected', ...right, cell: ({ rejected }) => String(rejected) },
      {
        title: 'rejected by',
        cell: ({ rejectedBy }) =>
          Object.entries(rejectedBy)
            .map(([rule, count]) => `${count}× ${rule}`)
            .join(', '),
      },
    ],
    columns,
  );
}

function limitTable(limits: readonly LimitSummary[], currency: string, columns: number): string {
  const isWide = columns >= WIDE_COLUMNS_MIN;
  const amount = ({ unit, limitAmount }: LimitSummary, value: number): string =>
    limitAmount === 'unlimited' ? '–' : amountText(value, unit, currency);
  const share = ({ spent, held, limitAmount }: LimitSummary): string => {
    if (limitAmount === 'unlimited' || limitAmount === 0) return '';
    const used = (spent + held) / limitAmount;
    return `${isWide ? `${bar(used)} ` : ''}${Math.floor(used * 100)} %`;
  };
  const right = { align: 'right' } as const;
  return summaryTable<LimitSummary>(
    limits,
    [
      { title: 'limit', cell: ({ limit }) => limit },
      { title: 'of', cell: ({ subject }) => (isWide ? subject : toWidth(subject, SUBJECT_NARROW)) },
      { title: 'mode', isWide: true, cell: ({ mode }) => mode },
      { title: 'spent', ...right, cell: (limit) => amount(limit, limit.spent) },
      { title: 'held', ...right, cell: (limit) => amount(limit, limit.held) },
      {
        ...{ title: 'limit', ...right },
        cell: (limit) =>
          limit.limitAmount === 'unlimited' ? limit.limitAmount : amount(limit, limit.limitAmount),
      },
      { cell: share },
    ],
    columns,
  );
}

const bar = (share: number): string => {
  const full = Math.min(BAR_WIDTH, Math.max(0, Math.floor(share * BAR_WIDTH)));
  return '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
};

function endsLines({ webhook, sweep, healed, webhooks, sweeps, holdsLeft }: EndsSummary): readonly string[] {
  return [
    `${webhook + sweep} jobs ran to their end: ${webhook} told by webhook, ${sweep} by the sweep.`,
    `The sweep found ${healed} whose webhook was lost, and ${sweep - healed} before their webhook came.`,
    `${webhooks.events} webhooks: ${webhooks.lost} lost, ${webhooks.repeated} repeated, ${webhooks.reordered} out of order. ${sweeps} sweeps.`,
    holdsLeft === 0 ? 'Nothing is held any more.' : `${holdsLeft} jobs still hold something.`,
  ];
}
