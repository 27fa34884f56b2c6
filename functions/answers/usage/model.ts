import type { RuleKind } from '../../../policies/kinds/kinds.ts';

export interface UsageView {
  /** First and last day. */
  readonly fromDay: string;
  readonly toDay: string;
  readonly jobs: number;
  readonly rejected: number;
  /** Part of `rejected`: ran all the same, in dry run or past us; no part of `bypass`. */
  readonly ranRejected: number;
  readonly unmetered: number;
  readonly bypass: number;
  readonly exempt: number;
  readonly settledMicros: number;
  readonly heldMicros: number;
  readonly seconds: number;
  /** Most first, at most 20. Projects have none. */
  readonly topProjects: readonly {
    readonly projectId: number;
    readonly path: string;
    readonly micros: number;
  }[];
  /** What `settledMicros` and `heldMicros` have beyond `topProjects`: other projects, and days before `topFromDay`. */
  readonly otherProjectsMicros: number;
  /** First day that `topProjects` has. */
  readonly topFromDay: string;
  /** Jobs by name, of the costliest projects, by how long they usually run; most first, at most 20. */
  readonly topJobs: readonly {
    readonly projectId: number;
    readonly path: string;
    readonly job: string;
    /** Runs that are remembered. */
    readonly runs: number;
    /** Median, seconds. */
    readonly usualSeconds: number;
  }[];
  /** Only for the instance: nobody counts a group's classes. Most first. */
  readonly runnerClasses: readonly {
    readonly name: string;
    readonly micros: number;
    readonly seconds: number;
    readonly jobs: number;
  }[];
  /** The same beyond `runnerClasses`: jobs of no class. Only of the instance. */
  readonly otherClassesMicros: number;
  readonly rejections: Rejections;
}

export interface UsageAsked {
  readonly subject: string;
  /** 1–92, back from today. @default 31 */
  readonly days?: number;
}

export interface UsageDaysView {
  readonly subject: string;
  readonly path: string;
  readonly currency: string;
  /** IANA zone of the days. */
  readonly zone: string;
  readonly days: readonly UsageDay[];
}

export interface UsageDay {
  readonly day: string;
  readonly jobs: number;
  readonly admitted: number;
  readonly rejected: number;
  readonly ranRejected: number;
  readonly seconds: number;
  readonly settledMicros: number;
  readonly heldMicros: number;
  readonly unmetered: number;
  readonly bypass: number;
  readonly exempt: number;
}

export interface Rejections {
  /** Over the same days; a job that several rules rejected counts under each. Most first. */
  readonly byRule: readonly { readonly rule: string; readonly kind?: RuleKind; readonly jobs: number }[];
  /** Would have been, by rules that only watch. */
  readonly watchedByRule: readonly {
    readonly rule: string;
    readonly kind?: RuleKind;
    readonly jobs: number;
  }[];
  /** The latest rejected jobs, newest first, at most 20. */
  readonly latest: readonly RejectedJob[];
}

export interface RejectedJob {
  readonly jobId: number;
  readonly decisionId: string;
  readonly atMs: number;
  readonly projectId?: number;
  readonly projectPath?: string;
  readonly jobName?: string;
  /** Its page in GitLab, where the address is known. */
  readonly url?: string;
  readonly reasons: readonly { readonly rule: string; readonly code: string; readonly text: string }[];
}
