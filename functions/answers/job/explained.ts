import type { Mode } from '../../../policies/mode.ts';
import type { Reason } from '../../../policies/reason.ts';
import type { Unit } from '../../../policies/units/unit.ts';
import type { JobState, UncheckedCause } from '../../core/ledger/ledger.ts';

/** One decision, as far as whoever asks may know. Amounts are whole units, instants Unix ms. */
export interface Explained {
  readonly jobId: number;
  readonly decisionId: string;
  readonly decidedAtMs: number;
  readonly outcome: 'admitted' | 'rejected';
  readonly state: JobState;
  /** Who answered GitLab. */
  readonly answered: 'ledger' | 'fallback' | 'unknown';
  /** Charged without asking, and why. */
  readonly unchecked?: UncheckedCause;
  /** Rejected, and yet it ran. */
  readonly flagged: boolean;
  readonly dueAtMs?: number;
  readonly endedAtMs?: number;
  readonly durationSeconds?: number;
  readonly job: {
    readonly name?: string;
    readonly projectPath?: string;
    readonly projectId?: number;
    readonly groupId?: number;
    readonly pipelineId?: number;
    /** Its page in GitLab, where the address is known. */
    readonly url?: string;
  };
  readonly currency: string;
  readonly atDecision: ExplainedTerms;
  /** If it came now. Absent where the question was not recorded. */
  readonly now?: ExplainedTerms & { readonly outcome: 'admitted' | 'rejected' };
  /** The set of limits that `now` is by. */
  readonly limitsVersionNow: string;
  readonly rules: readonly ExplainedRuleRow[];
  /** Only those of subjects the viewer sees. */
  readonly counters: readonly ExplainedCounter[];
  /** Counters of groups above, or of others, that are left out. */
  readonly countersHidden: number;
  /** As the job page showed it, with today's footers and disclosure. */
  readonly rejectionText?: string;
  /** What could not be told, one sentence each. */
  readonly notRecorded: readonly string[];
}

export interface ExplainedTerms {
  readonly runnerClass: string;
  readonly estimateSeconds: number;
  readonly costMicros: number;
  readonly microsPerMinute: number;
  readonly priceVersion: string;
  readonly policyVersion: string;
}

export interface ExplainedRuleRow {
  readonly id: string;
  readonly kind?: string;
  readonly mode?: string;
  /** What it had against the job then. */
  readonly atDecision: readonly ToldViolation[];
  /** Absent: not asked again, `whyNot` says why. */
  readonly now?: {
    readonly outcome: 'off' | 'not matched' | 'matched' | 'missing' | 'exempt' | 'failed';
    /** What did not match, why it is exempt, or what failed. */
    readonly detail?: string;
    readonly violations: readonly ToldViolation[];
  };
  readonly whyNot?: string;
}

export interface ToldViolation {
  readonly mode: Mode;
  readonly code: Reason['code'];
  /** One line; without numbers where the limit is of somebody else's group and its numbers are not disclosed. */
  readonly text: string;
}

export interface ExplainedCounter {
  readonly subject: string;
  /** Path of the group or project, or the subject itself. */
  readonly label: string;
  readonly limit: string;
  readonly period: string;
  readonly unit: Unit;
  /** Absent: the job did not claim it then. */
  readonly atDecision?: {
    /** What the job held on it; 0 for a rejected one. */
    readonly jobHeld: number;
    /** What it is charged there now. */
    readonly jobCounts: number;
    /** False: it took its amount without asking. */
    readonly checked: boolean;
    /** What the counter showed; only one that refused was written down. */
    readonly seen?: {
      readonly committed: number;
      readonly bound: number;
      readonly left: number;
      readonly asked: number;
    };
  };
  readonly now: {
    readonly settled: number;
    readonly held: number;
    /** Absent: there is no such limit any more. */
    readonly bound?: number | 'unlimited';
    readonly left?: number;
    readonly mode?: Mode;
  };
}
