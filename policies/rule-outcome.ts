import type { CheckedJob } from './checked-job.ts';
import { exemptionOf } from './match/exemption.ts';
import { matchOf } from './match/match.ts';
import type { Mode } from './mode.ts';
import type { Reason, Violation } from './reason.ts';
import type { Rule, StatelessRule } from './rule.ts';

/** A rule that failed and was passed over or closed, as it asked to be. */
export interface EvaluationError {
  readonly rule: string;
  /** The failure's name; never its message, which could quote a value of the request. */
  readonly cause: string;
}

/** A rule the job is exempt from. */
export interface Exempted {
  readonly rule: string;
  readonly reason: string;
}

/** Collects what rules come to, so that one that fails neither hides the others nor decides more than it may. */
export class Outcome {
  readonly violations: Violation[] = [];
  readonly exemptions: Exempted[] = [];
  readonly errors: EvaluationError[] = [];

  add(rule: Rule, mode: Mode, reason: Reason, exempt = false): void {
    if (mode === 'off') return;
    const { id, class: ruleClass } = rule;
    if (exempt) this.violations.push({ rule: id, class: ruleClass, mode: 'shadow', reason, exempt });
    else this.violations.push({ rule: id, class: ruleClass, mode, reason });
  }

  missing(rule: Rule, mode: Mode, field: string): void {
    if (rule.onMissing === 'skip') return;
    // Passed, but worth knowing: recorded as if the rule were only watching.
    const recorded = rule.onMissing === 'admit' && mode !== 'off' ? 'shadow' : mode;
    // A rule that asks limits misses the same field on every level.
    const told = this.violations.some(
      (each) =>
        each.rule === rule.id &&
        each.mode === recorded &&
        each.reason.code === 'FIELD_MISSING' &&
        each.reason.field === field,
    );
    if (told) return;
    this.add(rule, recorded, { code: 'FIELD_MISSING', field });
  }

  /** Runs a rule; its failure is noted, and rejects only if the rule is closed and may reject. */
  guard<Result>(rule: Rule, mode: Mode, run: () => Result): Result | undefined {
    try {
      return run();
    } catch (error) {
      const cause = this.failed(rule.id, error);
      const told = this.violations.some(
        (each) => each.rule === rule.id && each.mode === mode && isOurs(each),
      );
      if (rule.onError === 'closed' && !told) this.add(rule, mode, { code: 'CONTROLLER_ERROR', cause });
      return undefined;
    }
  }

  /** Notes a failure, once per rule however many limits it failed on, and gives its name. */
  failed(rule: string, error: unknown): string {
    const cause = error instanceof Error ? error.name : 'unknown failure';
    if (!this.errors.some((each) => each.rule === rule)) this.errors.push({ rule, cause });
    return cause;
  }

  /** Whether the job is exempt from a rule that applies to it. An exemption that cannot be read exempts nobody. */
  exempted(rule: Rule, job: CheckedJob): boolean {
    if (rule.exempt.length === 0) return false;
    try {
      const { exemption } = exemptionOf(rule.exempt, job, job.nowMs);
      if (exemption === undefined) return false;
      this.exemptions.push({ rule: rule.id, reason: exemption.reason });
      return true;
    } catch (error) {
      this.failed(rule.id, error);
      return false;
    }
  }

  /** Asks a rule that needs no counter. What it has against an exempt job is recorded and rejects nobody. */
  check(rule: StatelessRule, mode: Mode, job: CheckedJob): void {
    const exempt = this.exempted(rule, job);
    const asked = exempt ? 'shadow' : mode;
    for (const reason of this.guard(rule, asked, () => rule.check(job)) ?? []) {
      if (reason.code !== 'FIELD_MISSING') this.add(rule, asked, reason, exempt);
      else if (!exempt) this.missing(rule, mode, reason.field);
    }
  }
}

const isOurs = ({ reason }: Violation): boolean => reason.code === 'CONTROLLER_ERROR';

/**
 * Whether a rule is to be asked about a job; a field it needs and lacks is handled here. A security rule does not let a
 * group go unchecked because the directory does not know it yet.
 */
export function applies(rule: Rule, mode: Mode, job: CheckedJob, outcome: Outcome): boolean {
  const result = outcome.guard(rule, mode, () => matchOf(rule.match, job));
  if (result?.matches !== 'missing') return result?.matches === true;
  if (rule.class === 'security' && result.field === 'namespaceId' && job.placement.groupId !== undefined)
    return true;
  // An exemption for this job makes it irrelevant whether the rule matches.
  if (!outcome.exempted(rule, job)) outcome.missing(rule, mode, result.field);
  return false;
}
