import type { ContainerEngine } from './images/container-engine.ts';
import type { ResourceName } from './kubernetes/resource-variables.ts';
import type { Mode, RuleClass } from './mode.ts';
import type { UserSyntax } from './rules/container-user-text.ts';
import type { Unit } from './units/unit.ts';

/** Which limit, whose, and until when: what every quota reason carries. */
export interface LimitFacts {
  readonly limit: string;
  /** `subjectKey`. */
  readonly subject: string;
  /** What a person calls the subject, e.g. `group acme/payments`. */
  readonly subjectLabel: string;
  readonly unit: Unit;
  /** The limit's number, whole units. */
  readonly limitAmount: number;
  /** What this job asked for, whole units. */
  readonly asked: number;
  /** Whole units, above 0: the limit is smaller than what was set, because so much was overdrawn in the period before. */
  readonly overdrawn?: number;
  /** What a person calls the period, e.g. `November 2026`; absent for jobs at once. */
  readonly periodLabel?: string;
  /** When the period ends and the number starts anew, Unix ms. */
  readonly resetsAtMs?: number;
  readonly zone?: string;
  readonly owner?: string;
  /** Where to reach the owner. */
  readonly contact?: string;
}

/**
 * Why, with the numbers behind it, so that the log, the metric and the user's message cannot disagree.
 * Codes are stable: people search for them.
 */
export type Reason =
  | ({
      readonly code: 'BUDGET_EXHAUSTED';
      readonly committed: number;
      readonly settled: number;
    } & LimitFacts)
  | ({
      readonly code: 'CONCURRENCY_FULL';
      readonly committed: number;
      readonly settled: number;
    } & LimitFacts)
  /** CPU or memory of the jobs in flight. */
  | ({
      readonly code: 'CAPACITY_FULL';
      readonly committed: number;
      readonly settled: number;
    } & LimitFacts)
  /** Jobs started in this window. */
  | ({
      readonly code: 'WINDOW_FULL';
      readonly committed: number;
      readonly settled: number;
    } & LimitFacts)
  /** The part of a limit from which on its owner is warned; never rejects. `limitAmount` is the soft amount. */
  | ({
      readonly code: 'SOFT_LIMIT';
      readonly committed: number;
      readonly settled: number;
    } & LimitFacts)
  /** The job alone is larger than the limit (or the limit is 0): no wait and no settlement will help. */
  | ({ readonly code: 'EXCEEDS_LIMIT_ALONE' } & LimitFacts)
  | {
      readonly code: 'IMAGE_NOT_ALLOWED';
      readonly image: string;
      /** The closest allowed patterns, at most three. */
      readonly allowed: readonly string[];
      /** The denied pattern that matched, if a deny list decided. */
      readonly denied?: string;
      /** It is a service's image. */
      readonly service?: true;
    }
  | {
      readonly code: 'TAG_NOT_ALLOWED';
      readonly image: string;
      /** `fixed`: another tag than `latest` (or none, which means the same). `digest`: `@sha256:…`. */
      readonly wanted: 'fixed' | 'digest';
      readonly service?: true;
    }
  | { readonly code: 'SERVICE_LIMIT'; readonly services: number; readonly servicesMax: number }
  /** An engine that runs containers of its own needs a privileged one. */
  | {
      readonly code: 'PRIVILEGED_DENIED';
      readonly image: string;
      /** Absent: Docker. */
      readonly engine?: Exclude<ContainerEngine, 'docker'>;
    }
  | {
      readonly code: 'PULL_POLICY_NOT_ALLOWED';
      /** Empty: none, where one must be named. */
      readonly asked: readonly string[];
      readonly allowed: readonly string[];
      /** The service's image, if it is not the job's own. */
      readonly service?: string;
    }
  | {
      readonly code: 'RESOURCE_CAP';
      readonly resource: ResourceName;
      /** The variable that asks for too much; for a sum over containers the one that asks for most. */
      readonly variable: string;
      /** The service's image, if the variable is its own. */
      readonly service?: string;
      /** The sum over the job's containers is too large, not this variable alone. */
      readonly sum?: true;
      /** Kubernetes quantities, e.g. `12`, `500m`, `6Gi`. */
      readonly asked: string;
      readonly cap: string;
    }
  /** A variable that is no Kubernetes quantity; its value is not told. */
  | { readonly code: 'RESOURCE_INVALID'; readonly variable: string; readonly service?: string }
  | {
      readonly code: 'OVERWRITE_NOT_ALLOWED';
      /** Its value is not told. */
      readonly variable: string;
      /** `off`: may not be set at all. `pattern`: does not match it. `reserved`: `runner.gitlab.com` is read-only. */
      readonly why: 'off' | 'pattern' | 'reserved';
      readonly pattern?: string;
    }
  | {
      readonly code: 'VARIABLE_NOT_ALLOWED';
      /** Its value is not told. */
      readonly variable: string;
      /** `required`: not set. `pattern`: matches none of `allowed`. `denied`: must not be what it is. */
      readonly why: 'required' | 'pattern' | 'denied';
      readonly allowed?: readonly string[];
    }
  | {
      readonly code: 'CONTAINER_USER_NOT_ALLOWED';
      readonly part: 'user' | 'group';
      /** As written, e.g. `0`, `root`, `$USER_ID`; empty: none, where one must be named. */
      readonly asked: string;
      /** For whom none is named. */
      readonly executor?: UserSyntax;
      /** Empty: any but root. */
      readonly allowed: readonly string[];
      /** Not a number, where Kubernetes needs one. */
      readonly invalid?: true;
      readonly service?: string;
    }
  | {
      readonly code: 'TIMEOUT_TOO_LONG';
      readonly timeoutSeconds: number;
      readonly timeoutSecondsMax: number;
      readonly runnerClass: string;
    }
  | {
      readonly code: 'RUNNER_SCOPE';
      readonly runnerClass: string;
      /** What would open it, for people: `protected refs`, `group 104`, `environment production`. */
      readonly needs: readonly string[];
    }
  | {
      readonly code: 'GROUP_FROZEN';
      /** What is frozen, for people: `everything`, `runner class gpu`, `group acme/payments`. */
      readonly frozenLabel: string;
      /** When it opens again, Unix ms; absent: until somebody lifts it. */
      readonly untilMs?: number;
      readonly zone: string;
      readonly why?: string;
      readonly owner?: string;
    }
  /** Somebody let the job pass its limits; never rejects. */
  | {
      readonly code: 'BREAK_GLASS';
      /** Its id in the limits. */
      readonly breakGlass: string;
      readonly why: string;
      readonly owner?: string;
    }
  | { readonly code: 'FIELD_MISSING'; readonly field: string }
  /** Our fault, not the job's: only where the operator asked for fail-closed. */
  | { readonly code: 'CONTROLLER_ERROR'; readonly cause: string };

/** A rule or limit that was not met. Only mode `enforce` rejects; the others are recorded. */
export interface Violation {
  readonly rule: string;
  readonly class: RuleClass;
  readonly mode: Exclude<Mode, 'off'>;
  readonly reason: Reason;
  /** The job is exempt from the rule: recorded like a shadow violation, but no simulation would reject it. */
  readonly exempt?: true;
}
