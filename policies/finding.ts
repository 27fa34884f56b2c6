import type { Job } from './checked-job.ts';
import { type CounterSnapshot, type Grace, type LimitClaim, makeGrace, type SoftBound } from './claim.ts';
import { COUNTED_RULES } from './kinds/counted-kinds.ts';
import { type FootprintTotal, footprintOf } from './kubernetes/footprint.ts';
import { resourceVariableName } from './kubernetes/resource-variables.ts';
import { isCap } from './limits/cap.ts';
import { borrowOf, type CohortTerms, cohortClaims, cohortTermsOf } from './limits/cohort.ts';
import type { Freeze, Limit, LimitFacts } from './limits/limit.ts';
import { counterOf, type LimitSet, limitPeriod, subjectsOf } from './limits/limits.ts';
import { isValidAt } from './limits/period.ts';
import { exemptionOf } from './match/match.ts';
import type { Mode } from './mode.ts';
import { platformExemptions } from './platform.ts';
import type { Policy } from './policy.ts';
import type { Reason, Violation } from './reason.ts';
import type { CountedRule } from './rule.ts';
import { ASKED_BY, kindRow, type LimitKind, outageOfKind } from './unit.ts';
import { withoutAbsent } from './without-absent.ts';

/** A violation that needs no counter comes with the amount to count if the job runs anyway. */
type Finding =
  | { readonly claim: LimitClaim; readonly violation?: never; readonly missing?: never }
  | { readonly violation: Violation; readonly claim?: LimitClaim; readonly missing?: never }
  | { readonly missing: string; readonly claim?: never; readonly violation?: never };

interface AskingRule {
  readonly rule: CountedRule;
  readonly mode: Exclude<Mode, 'off'>;
  readonly exempt: boolean;
}

/** Above any machine (80 TiB). A hundred such amounts still add up exactly; larger ones are capped here. */
const REQUESTED_MAX = Math.floor(Number.MAX_SAFE_INTEGER / 100);

interface Ask {
  readonly job: Job;
  readonly limit: Limit;
  readonly asked: number;
  readonly subjectLabel: () => string;
  readonly cohort?: CohortTerms | undefined;
}

export function findingOf(
  job: Job,
  limit: Limit,
  subjectLabel: () => string,
  asking: AskingRule,
  limits: LimitSet,
): Finding | undefined {
  if (limit.amount === 'unlimited') return undefined;
  const { requested } = kindRow(limit.kind);
  const taken = amountTaken(job, limit.kind);
  const isKnown = typeof taken === 'number';
  // An unreadable amount is unknown; the `resources` rule refuses it. A limit of 0 rejects without knowing it.
  if (!isKnown && (limit.amount > 0 || borrowOf(limit) > 0))
    return { missing: resourceVariableName('build', requested ?? 'cpu', 'request') };
  const asked = isKnown ? Math.min(taken, requested === undefined ? taken : REQUESTED_MAX) : 0;
  const isShared = asking.mode === 'enforce' && limit.cohort !== undefined;
  const cohort = isShared ? cohortTermsOf(limit, limits, job.nowMs) : undefined;
  const ask: Ask = { job, limit, asked, subjectLabel, cohort };
  const most = cohort?.most ?? limit.amount;
  if (asking.exempt) return asked === 0 ? undefined : { claim: new CounterClaim(ask, asking) };
  if (most === 0 || asked > most) {
    const reason: Reason = { code: 'EXCEEDS_LIMIT_ALONE', ...limitFacts(ask, limit.amount) };
    const { rule, mode } = asking;
    const violation = { rule: rule.id, class: rule.class, mode, reason };
    return asked === 0 ? { violation } : { violation, claim: new CounterClaim(ask, asking, undefined, true) };
  }
  return asked === 0 ? undefined : { claim: new CounterClaim(ask, asking, most) };
}

export function amountTaken(job: Job, kind: LimitKind): FootprintTotal {
  const { asked, requested } = kindRow(kind);
  if (requested === undefined) return asked?.(job);
  return footprintOf(job.request, job.runnerClass)[FOOTPRINT_KEYS[requested]];
}

const FOOTPRINT_KEYS = { cpu: 'millicpu', memory: 'bytes' } as const;

class CounterClaim implements LimitClaim {
  readonly counter: LimitClaim['counter'];
  readonly unit: LimitClaim['unit'];
  readonly amount: number;
  readonly bound?: number;
  readonly neverFits?: true;
  readonly grace?: Grace;
  readonly soft?: SoftBound;
  readonly waitMs?: number;
  readonly own?: number;
  readonly mode: LimitClaim['mode'];
  readonly rule: string;
  readonly class: LimitClaim['class'];
  readonly #ask: Ask;
  readonly #rule: CountedRule;

  constructor(ask: Ask, asking: AskingRule, bound?: number, neverFits = false) {
    const { limit } = ask;
    this.counter = counterOf(limit, ask.job.nowMs);
    this.unit = limit.unit;
    this.amount = ask.asked;
    this.mode = asking.mode;
    this.rule = asking.rule.id;
    this.class = asking.rule.class;
    this.#ask = ask;
    this.#rule = asking.rule;
    if (bound !== undefined) this.bound = bound;
    if (neverFits) {
      this.neverFits = true;
      return;
    }
    // A limit in shadow mode rejects no job and reports by its own amount.
    if (asking.mode !== 'enforce') return;
    if (bound !== undefined && limit.softAmount !== undefined) this.soft = softBound(ask, limit.softAmount);
    if (bound !== undefined && limit.waitMs !== undefined) this.waitMs = limit.waitMs;
    if (bound !== undefined && ask.cohort !== undefined) this.own = ask.cohort.own;
    const grace = makeGrace(limit, ask.job.request);
    if (grace !== undefined) this.grace = grace;
  }

  get outage(): NonNullable<LimitClaim['outage']> {
    const { limit, job } = this.#ask;
    const period = limitPeriod(limit, job.nowMs);
    const periodMs = period === undefined ? Number.POSITIVE_INFINITY : period.endMs - period.startMs;
    return {
      // Relays get no headroom for limits per pipeline.
      policy: isCap(limit.subject)
        ? 'admit'
        : (limit.whenUnreachable ?? this.#rule.whenUnreachable ?? outageOfKind(limit.kind)),
      ...(Number.isFinite(periodMs) && { periodMs }),
    };
  }

  get inCohort(): readonly LimitClaim[] {
    const { cohort } = this.#ask;
    return cohort === undefined ? [] : cohortClaims(this, cohort);
  }

  refusal({ committed, settled, lentOut }: CounterSnapshot): Reason {
    const { refusal: code } = COUNTED_RULES[ASKED_BY[this.#ask.limit.kind]];
    const { amount } = this.#ask.limit;
    return {
      ...{ code, committed, settled, ...limitFacts(this.#ask, amount === 'unlimited' ? 0 : amount) },
      ...(lentOut && { lentOut }),
    };
  }
}

export const withCohorts = (claims: readonly LimitClaim[]): readonly LimitClaim[] => [
  ...claims,
  ...claims.flatMap((claim) => (claim instanceof CounterClaim ? claim.inCohort : [])),
];

const softBound = (ask: Ask, bound: number): SoftBound => ({
  bound,
  warning: ({ committed, settled }) => ({
    code: 'SOFT_LIMIT',
    committed,
    settled,
    ...limitFacts(ask, bound),
  }),
});

function limitFacts(ask: Ask, limitAmount: number): LimitFacts {
  const { limit, asked } = ask;
  const period = limitPeriod(limit, ask.job.nowMs);
  return {
    limit: limit.id,
    subject: limit.subject,
    subjectLabel: ask.subjectLabel(),
    unit: limit.unit,
    limitAmount,
    asked,
    ...(ask.cohort !== undefined && ask.cohort.most > ask.cohort.own && { borrow: borrowOf(limit) }),
    ...(period !== undefined &&
      Number.isFinite(period.endMs) && { resetsAtMs: period.endMs, zone: limit.zone }),
    ...withoutAbsent({
      ...{ overdrawn: limit.overdrawn, periodLabel: period?.label },
      ...{ owner: limit.owner, contact: limit.contact },
    }),
  };
}

/** Each acts like a limit of 0 of class capacity, as far as that is rolled out; who runs the controller passes. */
export function freezeViolations(
  job: Job,
  { platform }: Policy,
  limits: LimitSet,
  mode: Mode,
): readonly Violation[] {
  if (limits.freezes === undefined || limits.freezes.size === 0 || mode === 'off') return [];
  const violations: Violation[] = [];
  for (const { subject, label } of subjectsOf(job)) {
    const freeze = freezeOn(limits, subject, job.nowMs);
    if (freeze === undefined) continue;
    const { untilMs, zone, reason: why, owner } = freeze;
    violations.push({
      rule: 'freezes',
      class: 'capacity',
      mode,
      reason: {
        code: 'GROUP_FROZEN',
        frozenLabel: label(),
        ...(untilMs !== undefined && { untilMs }),
        zone,
        why,
        ...(owner !== undefined && { owner }),
      },
    });
  }
  if (violations.length === 0) return [];
  const { exemption } = exemptionOf(platformExemptions(platform), job, job.nowMs);
  return exemption === undefined
    ? violations
    : violations.map((violation) => ({ ...violation, mode: 'shadow', exempt: true }));
}

function freezeOn({ freezes }: LimitSet, subject: string, nowMs: number): Freeze | undefined {
  return (freezes?.get(subject) ?? [])
    .filter((freeze) => isValidAt(freeze, nowMs))
    .reduce<Freeze | undefined>((a, b) => (a === undefined || endOf(b) > endOf(a) ? b : a), undefined);
}

const endOf = ({ untilMs = Number.POSITIVE_INFINITY }: Freeze): number => untilMs;
