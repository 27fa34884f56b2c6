import type { Unit } from '../../policies/claim.ts';
import { quantile } from '../bench/figure.ts';
import type { Answered } from './decision-line.ts';
import type { EndsSummary } from './local-ends.ts';

/** What the run decided, per group and in all; figures of limits come from the ledger's counters. */
export interface Summary {
  readonly decisions: number;
  readonly admitted: number;
  readonly rejected: number;
  readonly fallback: number;
  readonly latencyMs: { readonly p50: number; readonly p99: number };
  readonly groups: readonly GroupSummary[];
  readonly limits: readonly LimitSummary[];
  /** Who told of the ends of the local GitLab's jobs; absent against a real one. */
  readonly ends?: EndsSummary;
}

export interface GroupSummary {
  readonly group: string;
  /** Of the group's money limit, where it has one of its own: what it holds now, earlier runs included. */
  readonly money?: Pick<LimitSummary, 'spent' | 'held' | 'limitAmount'>;
  readonly admitted: number;
  readonly rejected: number;
  /** By code and rule, most frequent first. */
  readonly rejectedBy: Readonly<Record<string, number>>;
}

export interface LimitSummary {
  readonly subject: string;
  readonly limit: string;
  readonly unit: Unit;
  readonly mode: string;
  readonly spent: number;
  readonly held: number;
  readonly limitAmount: number | 'unlimited';
}

/** Counts decisions as they happen. */
export class Tally {
  readonly #groups = new Map<
    string,
    { admitted: number; rejected: number; rejectedBy: Map<string, number> }
  >();
  readonly #latenciesMs: number[] = [];
  #fallback = 0;

  add(answered: Answered): void {
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

  summary(limits: readonly LimitSummary[], ends: EndsSummary | undefined): Summary {
    const sorted = this.#latenciesMs.toSorted((a, b) => a - b);
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

function moneyOf(group: string, limits: readonly LimitSummary[]): Pick<GroupSummary, 'money'> {
  const own = limits.filter(
    ({ subject, unit, mode }) => subject === group && unit === 'micros' && mode === 'enforce',
  );
  const [limit] = own;
  if (limit === undefined) return {};
  const { spent, held, limitAmount } = limit;
  return { money: { spent, held, limitAmount } };
}

const tenths = (ms: number): number => (Number.isNaN(ms) ? 0 : Math.round(ms * 10) / 10);
