import type { AdminRefusal } from '../../core/gitlab/index.ts';
import type { CanaryOutcome, ControllerScope, RecountOutcome } from '../../core/ledger/index.ts';
import type { RelayBeat } from '../../core/store/index.ts';
import type { DayDecisions } from './model.ts';

/** Something that could be asked, or why it could not be. */
export type ReadResult<T> =
  | { readonly known: true; readonly value: T }
  | {
      readonly known: false;
      readonly why: string;
      /** Where several reads fail for one cause, the cause is told once. Absent: it is only this read's. */
      readonly cause?: AdminRefusal['code'] | 'denied' | 'throttled' | 'no_token';
    };

/** What a deployment's parts left in the table, and what GitLab says of it. */
export interface HealthEvidence extends GitLabEvidence {
  /** Unix ms. */
  readonly nowMs: number;
  /** The last hour's; none: no relay beats beside these books. */
  readonly beats: ReadResult<readonly RelayBeat[]>;
  /** When all groups were last listed to their end, Unix ms; undefined: never. */
  readonly directoryListedAtMs: ReadResult<number | undefined>;
  /** When the live set of limits became live, Unix ms; undefined: none is. */
  readonly limitsLiveAtMs: ReadResult<number | undefined>;
  /** What the last recount found; undefined: there was none yet. */
  readonly recount: ReadResult<RecountOutcome | undefined>;
  /** As the sweep last read it; undefined: it never did. */
  readonly scope: ReadResult<ControllerScope | undefined>;
  /** What the last canary found; undefined: there was none. */
  readonly canary: ReadResult<CanaryOutcome | undefined>;
  readonly coverage: ReadResult<CoverageEvidence>;
  readonly deployed: ReadResult<DeployedEvidence>;
  readonly rejections: ReadResult<RejectionsEvidence>;
}

/** Jobs decided and rejected lately and before, and the changes that could explain a difference. */
export interface RejectionsEvidence {
  readonly today: DayDecisions;
  /** Since the health check before, or today if that was on another day. */
  readonly recent: DecisionCounts;
  /** The seven days before today. */
  readonly week: DecisionCounts;
  /** Edits of limits, freezes and rollout, newest first. */
  readonly edits: readonly { readonly edit: number; readonly atMs: number; readonly actor: string }[];
  /** The policy that the health check before saw; undefined: there was none. */
  readonly policyBefore: string | undefined;
}

export interface DecisionCounts {
  readonly decided: number;
  readonly rejected: number;
}

/** How many of the jobs that ran in the last days were asked about. */
export interface CoverageEvidence {
  readonly days: number;
  readonly ran: number;
  readonly bypass: number;
  /** Runners of which some job was not asked about: those with most such jobs, and how many there are. */
  readonly bypassingRunnerIds: readonly number[];
  readonly bypassingRunners: number;
}

/** What the functions were deployed with. Undefined: nobody has noted it. */
export interface DeployedEvidence {
  readonly policyVersion: string | undefined;
  /** The GitLab that the descriptors are of: `18.9`. Undefined: their lock names none. */
  readonly descriptorsVersion: string | undefined;
}

/** GitLab's side: known only to whoever has a token for it, each part for itself. */
export interface GitLabEvidence {
  /** What is known of the token that asks. */
  readonly accessToken: ReadResult<AccessTokenEvidence>;
  /** E.g. `19.4.1-ee`. */
  readonly gitlabVersion: ReadResult<string>;
  /** Undefined: it has none. */
  readonly licence: ReadResult<LicenceEvidence | undefined>;
  readonly controller: ReadResult<ControllerEvidence>;
  /** The controller's active ones. */
  readonly controllerTokens: ReadResult<readonly ControllerTokenEvidence[]>;
  readonly webhooks: ReadResult<WebhooksEvidence>;
  /** GitLab's clock less ours, ms. */
  readonly gitlabAheadMs: ReadResult<number>;
}

interface AccessTokenEvidence {
  readonly active: boolean;
  /** Unix ms. Absent: it does not expire. */
  readonly expiresAtMs?: number;
}

interface LicenceEvidence {
  /** `ultimate` */
  readonly plan: string;
  readonly expired: boolean;
  /** Unix ms. */
  readonly expiresAtMs?: number;
}

interface ControllerEvidence {
  readonly id: number;
  readonly state: 'enabled' | 'dry_run' | 'disabled';
  /** Whether GitLab asks about any job. */
  readonly hasScope: boolean;
  /** Whether a token of it was used within the last hour; absent: GitLab before 18.10 does not say. */
  readonly connected?: boolean;
}

interface ControllerTokenEvidence {
  readonly createdAtMs: number;
}

export interface WebhooksEvidence {
  /** Top-level groups that were looked at, and those that were not: GitLab did not say, or time ran out. */
  readonly groups: number;
  readonly unread: number;
  readonly broken: readonly BrokenWebhookEvidence[];
}

export interface BrokenWebhookEvidence {
  readonly group: string;
  /** `off`: it does not send job events; `rewritten`: a template changes what it sends. */
  readonly standing: 'missing' | 'off' | 'disabled' | 'failing' | 'rewritten';
}
