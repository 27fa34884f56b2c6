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
import { right, table } from '../terminal/table.ts';
import type { AnsweredEvent } from './decision-line.ts';
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

  add({ latencyMs, via, decision, answer }: AnsweredEvent): void {
    this.#latenciesMs.push(latencyMs);
    if (via === 'fallback') this.#fallback += 1;
    const name = (decision?.outcome === 'undecided' ? undefined : decision?.terms?.group) ?? '(unknown)';
    const known = this.#groups.get(name);
    const group = known ?? { admitted: 0, rejected: 0, rejectedBy: new Map<string, number>() };
    this.#groups.set(name, group);
    group[answer.outcome] += 1;
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
    const at = (share: number): number => Math.round((quantile(sorted, share) || 0) * 10) / 10;
    const keyOf = ({ subject, limit, period }: LimitSummary): string => `${subject} ${limit} ${period}`;
    // A period that began during the run is not among them.
    const spentBefore = new Map(before.map((limit) => [keyOf(limit), limit.spent]));
    const limits = now.map((limit) => ({
      ...limit,
      spentThisRun: limit.spent - (spentBefore.get(keyOf(limit)) ?? 0),
    }));
    const groups = [...this.#groups].toSorted(([a], [b]) => a.localeCompare(b));
    const total = (of: 'admitted' | 'rejected'): number =>
      groups.reduce((sum, [, group]) => sum + group[of], 0);
    return {
      decisions: sorted.length,
      ...{ admitted: total('admitted'), rejected: total('rejected'), fallback: this.#fallback },
      latencyMs: { p50: at(0.5), p99: at(0.99) },
      groups: groups.map(([group, { rejectedBy, ...counts }]) => ({
        ...{ group, ...moneyOf(group, limits), ...counts },
        rejectedBy: Object.fromEntries([...rejectedBy].toSorted(([, a], [, b]) => b - a)),
      })),
      limits,
      ...(ends !== undefined && { ends }),
    };
  }
}

function moneyOf(group: string, limits: readonly LimitOfRun[]): Pick<GroupSummary, 'money'> {
  const own = limits.find(
    ({ subject, unit, mode }) => subject === group && unitRow(unit).inCurrency && mode === 'enforce',
  );
  if (own === undefined) return {};
  const { spent, spentThisRun, held, limitAmount } = own;
  return { money: { spent, spentThisRun, held, limitAmount } };
}

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
  const groups = [...(directory?.groupById.values() ?? [])];
  const known = new Set(groups.map(({ id }) => subjectKey({ kind: 'group', id })));
  const others = [...limits.bySubject.keys()].filter((subject) => !known.has(subject));
  return [
    ...others.flatMap((subject) => validAt(limitsOn(limits, subject), nowMs)),
    ...groups.flatMap((group) => limitsOfGroup(limits, group, nowMs)),
  ];
}

/** Counters are named `group/101`; people know `acme/payments`. */
function labelOf(subject: string, directory: Directory | undefined): string {
  const [kind, id] = subject.split('/');
  if (kind === 'group') return directory?.groupById.get(Number(id))?.path ?? subject;
  if (kind === 'project') return directory?.projectById.get(Number(id))?.path ?? subject;
  return subject;
}

/**
 * The summary for people: a table of groups, a table of limits, how jobs were settled, and the latency.
 * @param columns of the terminal; `Infinity` for files.
 */
export function renderSummary(summary: Summary, currency: string, columns: number): string {
  const { groups, limits, ends, latencyMs } = summary;
  const amountOf = (unit: Unit, amount: number | 'unlimited' = 'unlimited'): string =>
    amount === 'unlimited' ? '–' : amountText(amount, unit, currency);
  return [
    table(
      ['group', right('spent'), right('this run'), right('admitted'), right('rejected'), 'rejected by'],
      groups.map(({ group, money, admitted, rejected, rejectedBy }) => [
        group,
        amountOf('micros', money?.spent),
        amountOf('micros', money?.spentThisRun),
        ...[String(admitted), String(rejected)],
        Object.entries(rejectedBy)
          .map(([rule, count]) => `${count}× ${rule}`)
          .join(', '),
      ]),
      columns,
    ),
    table(
      ['limit', 'of', right('spent'), right('held'), right('limit'), right('used')],
      limits.map(({ limit, subject, unit, spent, held, limitAmount }) => {
        const used = limitAmount === 'unlimited' ? 0 : (spent + held) / limitAmount;
        return [
          ...[limit, subject, amountOf(unit, spent), amountOf(unit, held), amountOf(unit, limitAmount)],
          Number.isFinite(used) ? `${Math.floor(used * 100)} %` : '',
        ];
      }),
      columns,
    ),
    `${summary.decisions} decisions: ${summary.admitted} admitted, ${summary.rejected} rejected, ${summary.fallback} by fallback.`,
    ...(ends === undefined ? [] : endsLines(ends)),
    `Question to answer: p50 ${latencyMs.p50} ms, p99 ${latencyMs.p99} ms.`,
  ].join('\n');
}

function endsLines({ webhook, sweep, healed, webhooks, sweeps, holdsLeft }: EndsSummary): readonly string[] {
  return [
    `${webhook + sweep} jobs ran to their end: ${webhook} told by webhook, ${sweep} by the sweep.`,
    `The sweep found ${healed} whose webhook was lost, and ${sweep - healed} before their webhook came.`,
    `${webhooks.events} webhooks: ${webhooks.lost} lost, ${webhooks.repeated} repeated, ${webhooks.reordered} out of order. ${sweeps} sweeps.`,
    holdsLeft === 0 ? 'Nothing is held any more.' : `${holdsLeft} jobs still hold something.`,
  ];
}
