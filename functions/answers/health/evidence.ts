import { z } from 'zod';
import type { AdminRefusal } from '../../core/gitlab/admin-calls.ts';
import type { RecountOutcome } from '../../core/ledger/checkpoints.ts';
import type { CanaryOutcome, ControllerScope } from '../../core/ledger/controller.ts';
import type { RelayBeat } from '../../core/store/health-items.ts';

/** Something that could be asked, or why it could not be. */
export type ReadResult<T> =
  | { readonly known: true; readonly value: T }
  | {
      readonly known: false;
      readonly why: string;
      /** Cause shared by several failed reads, reported once. Absent: only this read. */
      readonly cause?: AdminRefusal['code'] | 'denied' | 'throttled' | 'no_token';
    };

/** Evidence for the health check: traces of each program in the table, and GitLab's side. */
export interface HealthEvidence extends GitLabEvidence {
  /** Unix ms. */
  readonly nowMs: number;
  /** Heartbeats of the last hour; empty: no relay writes to this table. */
  readonly beats: ReadResult<readonly RelayBeat[]>;
  /** When all groups were last listed to their end, Unix ms; undefined: never. */
  readonly directoryListedAtMs: ReadResult<number | undefined>;
  /** When the live set of limits became live, Unix ms; undefined: none is. */
  readonly limitsLiveAtMs: ReadResult<number | undefined>;
  /** Result of the last recount. Undefined: none yet. */
  readonly recount: ReadResult<RecountOutcome | undefined>;
  /** As the sweep last read it; undefined: it never did. */
  readonly scope: ReadResult<ControllerScope | undefined>;
  /** Result of the last canary. Undefined: none. */
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

/** Coverage of the last days. */
export interface CoverageEvidence {
  readonly days: number;
  readonly ran: number;
  readonly bypass: number;
  /** Runners with bypassed jobs: the worst ones, and the total number. */
  readonly bypassingRunnerIds: readonly number[];
  readonly bypassingRunners: number;
}

/** Settings of the deployed functions. Undefined: unknown. */
export interface DeployedEvidence {
  readonly policyVersion: string | undefined;
  /** The GitLab that the descriptors are of: `18.9`. Undefined: their lock names none. */
  readonly descriptorsVersion: string | undefined;
}

/** GitLab's side, for callers with a token; each part separately. */
export interface GitLabEvidence {
  /** Facts about the token in use. */
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
  /** True if the controller has a scope. */
  readonly hasScope: boolean;
  /** True if one of its tokens was used within the last hour. Absent before GitLab 18.10. */
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

const HealthFindingSchema = z.object({
  /** One thing that was looked at, such as `relays` or `counters`. */
  about: z.string(),
  /** `unknown`: it could not be looked at, and `text` says why. */
  severity: z.enum(['ok', 'warning', 'problem', 'unknown']),
  /** The finding. */
  text: z.string(),
  /** The remedy; absent if none is needed. */
  remedy: z.exactOptional(z.string()),
  /** The alarm that covers it; absent: none. */
  alarm: z.exactOptional(z.string()),
});

/** Jobs that were decided on a day of usage so far: the next health check knows by it which came after this one. */
const DayDecisionsSchema = z.object({ day: z.string(), decided: z.int(), rejected: z.int() });

export const HealthViewSchema = z.object({
  /** Unix ms. */
  checkedAtMs: z.number(),
  /** Number of problems. */
  problems: z.int(),
  findings: z.array(HealthFindingSchema).readonly(),
  /** Absent: usage could not be read. */
  decisions: z.exactOptional(DayDecisionsSchema),
});

export type HealthFinding = Readonly<z.infer<typeof HealthFindingSchema>>;
type DayDecisions = Readonly<z.infer<typeof DayDecisionsSchema>>;
export type HealthView = Readonly<z.infer<typeof HealthViewSchema>>;
