import type { Ledger } from '../../functions/core/ledger/ledger.ts';
import type { Directory } from '../../policies/directory.ts';
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
import type { RelayEvent } from '../../relay/events.ts';
import { right, table } from '../terminal/table.ts';
import type { EndsSummary } from './local-ends.ts';
import { quantile } from './random.ts';

export type AnsweredEvent = Extract<RelayEvent, { readonly type: 'answered' }>;
export type Summary = ReturnType<DecisionTally['summary']>;
export type LimitSummary = Awaited<ReturnType<typeof limitFigures>>[number];

export class DecisionTally {
  readonly #groups = new Map<
    string,
    { admitted: number; rejected: number; readonly rejectedBy: Record<string, number> }
  >();
  readonly #latenciesMs: number[] = [];
  #fallback = 0;

  add({ latencyMs, via, decision, answer }: AnsweredEvent): void {
    this.#latenciesMs.push(latencyMs);
    if (via === 'fallback') this.#fallback += 1;
    const name = (decision?.outcome === 'undecided' ? undefined : decision?.terms?.group) ?? '(unknown)';
    const group = this.#groups.get(name) ?? { admitted: 0, rejected: 0, rejectedBy: {} };
    this.#groups.set(name, group);
    group[answer.outcome] += 1;
    if (decision?.outcome !== 'rejected') return;
    for (const { rule, reason } of decision.violations) {
      const key = `${reason.code} (${rule})`;
      group.rejectedBy[key] = (group.rejectedBy[key] ?? 0) + 1;
    }
  }

  summary(limits: readonly LimitSummary[], ends: EndsSummary | undefined) {
    const sorted = this.#latenciesMs.toSorted((a, b) => a - b);
    const at = (share: number): number => Math.round((quantile(sorted, share) || 0) * 10) / 10;
    const groups = [...this.#groups].toSorted(([a], [b]) => a.localeCompare(b));
    const total = (of: 'admitted' | 'rejected'): number =>
      groups.reduce((sum, [, group]) => sum + group[of], 0);
    return {
      decisions: sorted.length,
      ...{ admitted: total('admitted'), rejected: total('rejected'), fallback: this.#fallback },
      latencyMs: { p50: at(0.5), p99: at(0.99) },
      groups: groups.map(([group, tally]) => ({ group, ...tally })),
      limits,
      ...(ends !== undefined && { ends }),
    };
  }
}

/** Reads every limit's counter for the current period; defaults of groups only if their counter moved. */
export async function limitFigures(
  limits: LimitSet,
  directory: Directory | undefined,
  ledger: Pick<Ledger, 'readCounters'>,
  nowMs: number,
) {
  const groups = [...(directory?.groupById.values() ?? [])];
  const known = new Set(groups.map(({ id }) => subjectKey({ kind: 'group', id })));
  const others = [...limits.bySubject.keys()].filter((subject) => !known.has(subject));
  const all = [
    ...others.flatMap((subject) => validAt(limitsOn(limits, subject), nowMs)),
    ...groups.flatMap((group) => limitsOfGroup(limits, group, nowMs)),
  ];
  const keys = all.map((limit) => counterOf(limit, nowMs));
  const counters = await ledger.readCounters(keys);
  return all.flatMap((limit, index) => {
    const counter = counters[index];
    // A pattern may apply to thousands of groups, most without jobs here.
    if ((counter?.rev ?? 0) === 0 && !limitsOn(limits, limit.subject).includes(limit)) return [];
    const settled = counter?.settled ?? 0;
    return [
      {
        ...{
          subject: labelOf(limit.subject, directory),
          limit: limit.id,
          unit: limit.unit,
          mode: limit.mode,
        },
        ...{ period: keys[index]?.period ?? '', spent: settled, held: (counter?.committed ?? 0) - settled },
        limitAmount: limitAt(limit, nowMs).amount,
      },
    ];
  });
}

function labelOf(subject: string, directory: Directory | undefined): string {
  const [kind, id] = subject.split('/');
  const place = { group: directory?.groupById, project: directory?.projectById }[kind ?? ''];
  return place?.get(Number(id))?.path ?? subject;
}

export function renderSummary(summary: Summary, currency: string, columns: number): string {
  const { groups, limits, ends, latencyMs } = summary;
  const amountOf = (unit: Unit, amount: number | 'unlimited' = 'unlimited'): string =>
    amount === 'unlimited' ? '–' : amountText(amount, unit, currency);
  const spentBy = (group: string): number | undefined =>
    limits.find(
      ({ subject, unit, mode }) => subject === group && unitRow(unit).inCurrency && mode === 'enforce',
    )?.spent;
  return [
    table(
      ['group', right('spent'), right('admitted'), right('rejected'), 'rejected by'],
      groups.map(({ group, admitted, rejected, rejectedBy }) => [
        ...[group, amountOf('micros', spentBy(group)), String(admitted), String(rejected)],
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
    `Request to decision: p50 ${latencyMs.p50} ms, p99 ${latencyMs.p99} ms.`,
  ].join('\n');
}

function endsLines({ webhook, sweep, webhooks, holdsLeft }: EndsSummary): readonly string[] {
  return [
    `${webhook + sweep} jobs ran to their end: ${webhook} reported by webhook, ${sweep} found by the sweep.`,
    `${webhooks.events} webhooks; ${webhooks.lost} were lost.`,
    holdsLeft === 0 ? 'Nothing is held any more.' : `${holdsLeft} jobs still hold something.`,
  ];
}
