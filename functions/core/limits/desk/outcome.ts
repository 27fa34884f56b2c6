import type { DocumentProblem } from '../../../../policies/document/reading.ts';
import type { LimitSet } from '../../../../policies/limits/limits.ts';
import type { Unit } from '../../../../policies/units/unit.ts';
import type { ChangeRow } from '../changes/change-row.ts';
import type { LimitsDocument } from '../limit-set.ts';
import type { LimitPointer } from '../limit-table.ts';
import type { LimitRequest } from './limit-request.ts';
import type { LiveLimits } from './live-limits.ts';
import type { Person } from './person.ts';
import type { Denial, Rights, RoleName } from './role.ts';

export type { ChangeRow, Effect } from '../changes/change-row.ts';

/**
 * The children's limits add up to more than their parent's. Allowed: then the parent's limit is a pool,
 * first come first served.
 */
export interface Oversubscription {
  readonly subject: string;
  readonly path?: string;
  readonly limit: string;
  readonly unit: Unit;
  /** Whole units. */
  readonly amount: number;
  /** Sum of the closest limits of this unit and period below; `unlimited` children are left out. */
  readonly childrenAmount: number;
  readonly children: number;
  /** Part of `children`. */
  readonly unlimited: number;
  /** Children that are larger than the limit itself, or unlimited: this one binds them. Paths where they are known; at most ten. */
  readonly larger: readonly string[];
}

export type Preview =
  | { readonly outcome: 'invalid'; readonly problems: readonly DocumentProblem[] }
  | {
      readonly outcome: 'valid';
      /** The set these are edits of is not live (any more): `apply` would refuse. */
      readonly stale: boolean;
      /** Only if `stale`: what others did since, to the same subjects. */
      readonly theirs?: readonly ChangeRow[];
      readonly document: LimitsDocument;
      readonly limits: LimitSet;
      readonly rows: readonly ChangeRow[];
      /** Covers the limits that the rows touch, and their parents. */
      readonly oversubscription: readonly Oversubscription[];
      /** Amounts that become more than three times, or less than a third of, what they were, milder modes, and rollouts that skip a step: to be confirmed. */
      readonly needsConfirmation: readonly ChangeRow[];
      /** Changes that need approval. */
      readonly needsApproval: readonly ChangeRow[];
      /** Deploy jobs of the controller that would be rejected; needs confirmation. */
      readonly lockout: readonly string[];
    };

export interface EditAuthor extends Person {
  readonly rights: Rights;
  /** Required, at most 500 characters. */
  readonly why: string;
  /** `page`, `cli`, `ssm`, `file limits.csv`: at most 200 characters. */
  readonly source: string;
  /** The set the edits were made on; undefined: none was live. */
  readonly base: string | undefined;
  /** The actor has seen what needs to be confirmed. */
  readonly confirmed?: boolean;
  /** Changes that need approval are filed as a request, or refused. @default 'request' */
  readonly filing?: 'request' | 'never';
}

export type ApplyOutcome =
  | { readonly outcome: 'live'; readonly pointer: LimitPointer; readonly rows: readonly ChangeRow[] }
  /** The edits come to what is live already: nothing was written. */
  | { readonly outcome: 'unchanged'; readonly pointer: LimitPointer | undefined }
  | { readonly outcome: 'invalid'; readonly problems: readonly DocumentProblem[] }
  | {
      readonly outcome: 'stale';
      readonly live: LiveLimits | undefined;
      /** The effect of these edits on `base`; undefined: `base` cannot be read any more. */
      readonly mine?: readonly ChangeRow[];
      /** Changes by others since `base`, to the same subjects. */
      readonly theirs?: readonly ChangeRow[];
    }
  | { readonly outcome: 'forbidden'; readonly denied: readonly [Denial, ...Denial[]] }
  | {
      readonly outcome: 'needs_confirmation';
      readonly rows: readonly ChangeRow[];
      readonly lockout: readonly string[];
    }
  /** Nothing was changed. A request was filed for others to approve, unless too many wait already or none was wanted. */
  | {
      readonly outcome: 'needs_approval';
      readonly rows: readonly ChangeRow[];
      readonly by: readonly RoleName[];
      readonly request?: LimitRequest;
    };
