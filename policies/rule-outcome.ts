import { matchOf } from './match.ts';
import type { Mode } from './mode.ts';
import type { Placement } from './placement.ts';
import type { Reason, Violation } from './reason.ts';
import type { AdmissionRequest } from './request.ts';
import type { ImageRule, Rule } from './rule.ts';
import { image } from './rules/image.ts';

/** A rule that failed and was passed over or closed, as it asked to be. */
export interface EvaluationError {
  readonly rule: string;
  /** The failure's name; never its message, which could quote a value of the request. */
  readonly cause: string;
}

/** Collects what rules come to, so that one that fails neither hides the others nor decides more than it may. */
export class Outcome {
  readonly violations: Violation[] = [];
  readonly errors: EvaluationError[] = [];

  add(rule: Rule, mode: Mode, reason: Reason): void {
    if (mode !== 'off') this.violations.push({ rule: rule.id, class: rule.class, mode, reason });
  }

  missing(rule: Rule, mode: Mode, field: string): void {
    if (rule.onMissing === 'skip') return;
    // Passed, but worth knowing: recorded as if the rule were only watching.
    const recorded = rule.onMissing === 'admit' && mode !== 'off' ? 'shadow' : mode;
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

  image(rule: ImageRule, mode: Mode, request: AdmissionRequest): void {
    for (const reason of this.guard(rule, mode, () => image(rule, request)) ?? []) {
      if (reason.code === 'FIELD_MISSING') this.missing(rule, mode, reason.field);
      else this.add(rule, mode, reason);
    }
  }
}

const isOurs = ({ reason }: Violation): boolean => reason.code === 'CONTROLLER_ERROR';

/**
 * Whether a rule is to be asked about a job; a field it needs and lacks is handled here. A security rule does not let a
 * group go unchecked because the directory does not know it yet.
 */
export function applies(
  rule: Rule,
  mode: Mode,
  placement: Placement,
  runnerClass: string,
  outcome: Outcome,
): boolean {
  const result = outcome.guard(rule, mode, () => matchOf(rule.match, placement, runnerClass));
  if (result?.matches !== 'missing') return result?.matches === true;
  if (rule.class === 'security' && result.field === 'namespaceId' && placement.groupId !== undefined)
    return true;
  outcome.missing(rule, mode, result.field);
  return false;
}
