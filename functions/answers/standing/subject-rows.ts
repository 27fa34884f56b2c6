/** Every limit of one subject with its numbers. */

import { counterName } from '../../../policies/claim.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { counterOf, type LimitSet, limitsOn } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { CountersByName } from '../reading/counters-now.ts';
import { placedChainOf } from '../reading/subjects-above.ts';
import type { DayUsage } from '../reading/usage-days.ts';
import type { AlertsByCounter } from './alerts.ts';
import { askedMode } from './asked-mode.ts';
import { type SubjectLimit, subjectLimitsBelow } from './group-limits.ts';
import { cohortStanding, limitRow } from './limit-row.ts';
import type { GrantRow, LimitRow } from './model.ts';
import type { Refusals } from './refusals.ts';

/** Includes those that have not begun or are over, but only defaults that are in force. */
export function allSubjectLimits(
  subject: string,
  limits: LimitSet,
  directory: Directory,
  nowMs: number,
): readonly SubjectLimit[] {
  const own = limitsOn(limits, subject).map((limit): SubjectLimit => ({ limit, byDefault: false }));
  const group = subject.startsWith('group/') ? directory.groupById.get(Number(subject.slice(6))) : undefined;
  if (group === undefined) return own;
  return [...own, ...subjectLimitsBelow(group, limits, nowMs).filter(({ byDefault }) => byDefault)];
}

interface SubjectRowsFrom {
  readonly limits: LimitSet;
  readonly directory: Directory;
  readonly policy: Policy;
  readonly counters: CountersByName;
  readonly usage: readonly DayUsage[];
  /** As in `limitRow`. */
  readonly tested?: boolean;
  /** As in `limitRow`. */
  readonly refusals?: Refusals;
  /** Sent alerts. @default none */
  readonly alerts?: AlertsByCounter;
  readonly nowMs: number;
}

export const subjectRow = ({ limit, byDefault }: SubjectLimit, from: SubjectRowsFrom): LimitRow => {
  const { limits, directory, policy, counters, usage, tested, refusals, alerts, nowMs } = from;
  const counterId = counterName(counterOf(limit, nowMs));
  return limitRow(limit, {
    nowMs,
    counter: counters.get(counterId),
    asked: askedMode(limit, placedChainOf(limit.subject, directory), policy, limits),
    usage,
    tested,
    refusals,
    byDefault,
    alerts: alerts?.get(counterId),
    cohort: cohortStanding(limit, limits, counters, nowMs),
  });
};

/** People ask why there was more last week. */
const OVER_SHOWN_MS = 30 * DAY_MS;

/** In force first, then what comes, then what is over. */
export function grantRows(havings: readonly SubjectLimit[], nowMs: number): readonly GrantRow[] {
  const rows = havings.flatMap(({ limit }) =>
    (limit.grants ?? []).flatMap((grant): GrantRow[] => {
      const { amount, fromMs, untilMs, reason, ticket, id } = grant;
      const state = nowMs < fromMs ? 'to_come' : nowMs < untilMs ? 'in_force' : 'over';
      if (untilMs < nowMs - OVER_SHOWN_MS) return [];
      const remainingMs = state === 'over' ? 0 : (state === 'to_come' ? fromMs : untilMs) - nowMs;
      return [
        {
          ...(id !== undefined && { id }),
          limit: limit.id,
          unit: limit.unit,
          amount,
          fromMs,
          untilMs,
          zone: limit.zone,
          reason,
          ...(ticket !== undefined && { ticket }),
          state,
          remainingMs,
        },
      ];
    }),
  );
  return rows.sort((a, b) => ORDER[a.state] - ORDER[b.state] || a.untilMs - b.untilMs);
}

const ORDER: Readonly<Record<GrantRow['state'], number>> = { in_force: 0, to_come: 1, over: 2 };
