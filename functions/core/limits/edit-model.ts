import type { DocumentProblem } from '../../../policies/document/reading.ts';
import type { BreakGlass } from '../../../policies/limits/break-glass.ts';
import type { LimitFieldValues } from '../../../policies/limits/limit-fields.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Mode } from '../../../policies/mode.ts';
import type { LimitKind, Unit } from '../../../policies/unit.ts';
import type { ChangeRow } from './limit-changes.ts';
import type { LimitChange, LimitsDocument } from './limit-set.ts';
import type { LimitPointer } from './limit-table.ts';
import type { LoggedChange } from './publish-limits.ts';

export interface Person {
  /** A username, a login of AWS or a name of one's own: at most 200 characters. */
  readonly actor: string;
  readonly userId?: number;
}

/**
 * Returns true if both may be the same person, for approvals by another person: without two ids, equal names
 * count as the same.
 */
export const mayBeSame = (one: Person, other: Person): boolean =>
  one.userId !== undefined && other.userId !== undefined
    ? one.userId === other.userId
    : one.actor.toLowerCase() === other.actor.toLowerCase();

/** Returns true if both are certainly the same person: an id never equals a name. */
export const isSamePerson = (one: Person, other: Person): boolean =>
  one.userId === undefined && other.userId === undefined
    ? one.actor === other.actor
    : one.userId === other.userId;

export type LimitEdit =
  | SetLimit
  | ScaleLimits
  | { readonly kind: 'remove'; readonly subject: string; readonly limit: string }
  | GiveGrant
  | { readonly kind: 'revoke'; readonly grant: string }
  | FreezeSubject
  | { readonly kind: 'unfreeze'; readonly freeze: string }
  | BreakGlassEdit
  | { readonly kind: 'end-breakglass'; readonly breakglass: string }
  | { readonly kind: 'review-breakglass'; readonly breakglass: string; readonly note: string }
  | {
      readonly kind: 'rollout';
      readonly subject: string;
      /** `null`: what stands above says. */
      readonly cost?: Mode | null;
      readonly capacity?: Mode | null;
      /** Time of the shadow report to the owner, Unix ms; `null`: send it again. */
      readonly reportedMs?: number | null;
    }
  /** An import: the complete new document. One missing right refuses all of it. */
  | { readonly kind: 'replace'; readonly document: unknown };

/** Adds a limit, or changes fields of one that is there; what is not named stays, `null` takes a field out. */
export interface SetLimit extends LimitFields {
  readonly kind: 'set';
  readonly subject: string;
  /** The limit's id; absent: made from unit and period, `money-month`. */
  readonly limit?: string;
}

/** Kinds that can be scaled by a share: plain decimals. */
export const SCALED_KINDS = ['money', 'minutes', 'jobs'] as const satisfies readonly LimitKind[];

/** All limits of a kind in a place, a share more or less. `unlimited`, 0, caps and what has ended stay as they are. */
export interface ScaleLimits {
  readonly kind: 'scale';
  /** `instance`: all there are. */
  readonly subject: string;
  /** `+8%`, `-12.5 %` of each amount. */
  readonly by: string;
  readonly unit?: (typeof SCALED_KINDS)[number];
  /** To the nearest multiple of this many units, at least one. @default to the millionth, rounded down */
  readonly round?: string | number;
  readonly below?: boolean;
}

/** A limit's fields with the names and texts of limits.yaml. */
export interface LimitFields extends LimitFieldValues {
  readonly unit?: LimitKind;
  /** `500.25`, `unlimited`, `0` blocks; CPU and memory as Kubernetes writes them. */
  readonly amount?: string | number;
}

/** A temporary extra amount, in the limit's own unit: `+200`. The approval rules decide if it needs approval. */
export interface GiveGrant {
  readonly kind: 'grant';
  readonly subject: string;
  readonly limit: string;
  readonly amount: string | number;
  readonly from: string;
  readonly until: string;
  readonly reason: string;
  readonly ticket?: string;
}

/** No job of the subject starts: like a limit of 0, with a reason of its own. Running jobs finish. */
interface FreezeSubject {
  readonly kind: 'freeze';
  readonly subject: string;
  readonly from?: string;
  readonly until?: string;
  /** Stands on the page of every job it stops: at most 200 characters. */
  readonly reason: string;
  readonly owner?: string;
}

/** Lets named people's jobs, or those of protected refs, pass limits and freezes that would stop them; never rules. */
interface BreakGlassEdit {
  readonly kind: 'breakglass';
  /** `instance`, a group (with all below it) or a project. */
  readonly subject: string;
  /** GitLab's user ids. These or `protected`, or both, which then must both hold. */
  readonly users?: readonly number[];
  readonly protected?: true;
  /** Most jobs that it admits, per `per`. */
  readonly jobs: number;
  /** @default `once`: as long as it is open */
  readonly per?: 'hour' | 'day' | 'once';
  readonly from?: string;
  /** At most seven days after `from`. */
  readonly until: string;
  readonly reason: string;
  readonly ticket?: string;
}

export type RoleName = 'viewer' | 'owner' | 'finance' | 'admin';

/** A user's role. Roles add up; without one a user may do nothing. An owner owns everything below the groups, too. */
export type Role =
  | { readonly role: 'viewer'; readonly groups: readonly number[] | 'all' }
  | { readonly role: 'owner'; readonly groups: readonly number[] }
  | { readonly role: 'finance' | 'admin' };

export type Rights = readonly Role[];

export type Act =
  | ('view' | 'describe' | 'tighten' | 'loosen' | 'grant')
  | ('break-glass' | 'approve' | 'roll-out' | 'roll-back' | 'ask');

interface Refused {
  readonly act: Act;
  /** The roles that may do it, weakest first. */
  readonly needs: readonly RoleName[];
}

export interface Denial extends Refused {
  readonly row: ChangeRow;
}

export interface Asker extends Person {
  readonly rights: Rights;
}

export interface GrantAsk extends Omit<GiveGrant, 'kind'> {
  readonly link?: string;
}

interface Filed {
  readonly id: string;
  readonly state: 'pending' | 'approved' | 'declined';
  readonly requestedBy: string;
  readonly requestedByUser?: number;
  readonly requestedAtMs: number;
  readonly decidedBy?: string;
  readonly decidedByUser?: number;
  readonly decidedAtMs?: number;
  /** Why it was declined, or what the approver added. */
  readonly note?: string;
  /** Approved, and in the limits. */
  readonly granted: boolean;
  /** Unix ms; a pending one can then no longer be decided. */
  readonly expiresAtMs: number;
}

export interface GrantRequest extends GrantAsk, Filed {
  readonly edit?: undefined;
}

type NoGrant = { readonly [Field in 'amount' | 'from' | 'until' | 'ticket' | 'link']?: undefined };

export interface EditRequest extends Filed, NoGrant {
  readonly subject: string;
  /** The first limit that gets more. */
  readonly limit: string;
  readonly reason: string;
  readonly edit: {
    readonly rows: readonly ChangeRow[];
    readonly count: number;
    readonly units: readonly Unit[];
    /** Covers all rows: where they come to anything else, the request is stale. */
    readonly fingerprint: string;
  };
}

export type LimitRequest = GrantRequest | EditRequest;

export interface RequestedEdits {
  readonly edits: readonly LimitEdit[];
  /** The limits they change are others by now: they can no longer be approved. */
  readonly stale: boolean;
}

export type RequestVerdict =
  | { readonly verdict: 'approve'; readonly note?: string }
  | { readonly verdict: 'decline'; readonly note: string };

interface Invalid {
  readonly outcome: 'invalid';
  readonly problems: readonly DocumentProblem[];
}

export type RequestOutcome =
  | { readonly outcome: 'filed'; readonly request: LimitRequest }
  | Invalid
  | (Refused & { readonly outcome: 'forbidden' })
  /** Too many are waiting, of this requester or of all: first they must be decided or expire. */
  | { readonly outcome: 'too_many'; readonly whose: 'yours' | 'all'; readonly max: number };

export type DecideOutcome =
  | { readonly outcome: 'approved'; readonly request: LimitRequest; readonly pointer: LimitPointer }
  | { readonly outcome: 'declined'; readonly request: LimitRequest }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'decided'; readonly request: LimitRequest }
  | (Refused & { readonly outcome: 'forbidden'; readonly own?: true })
  /** The limits it changes are others by now; the request stays pending, to be declined. */
  | { readonly outcome: 'stale'; readonly request: LimitRequest }
  /** The grant no longer fits the limits; the request stays pending. */
  | Invalid
  /** Others edited at the same time, again and again; the request stays pending. */
  | { readonly outcome: 'busy' };

export interface LiveLimits {
  readonly pointer: LimitPointer;
  readonly change: LimitChange;
  readonly document: LimitsDocument;
  readonly limits: LimitSet;
}

/**
 * The children's limits add up to more than their parent's. Allowed: then the parent's limit is a pool,
 * first come first served.
 */
export interface Oversubscription {
  readonly subject: string;
  readonly path?: string;
  readonly limit: string;
  readonly unit: Unit;
  readonly amount: number;
  /** Sum of the closest limits of this unit and period below; `unlimited` children are left out. */
  readonly childrenAmount: number;
  readonly children: number;
  readonly unlimited: number;
  /** Children that are larger than the limit itself, or unlimited: this one binds them. Paths where they are known; at most ten. */
  readonly larger: readonly string[];
}

export type Preview =
  | Invalid
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
  | { readonly outcome: 'unchanged'; readonly pointer: LimitPointer | undefined }
  | Invalid
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

export interface HistoryQuery {
  readonly subject?: string;
  /** Only edits before this one: `next` of the page before. */
  readonly before?: number;
  readonly max: number;
}

export interface HistoryPage {
  readonly entries: readonly LogEntry[];
  /** There may be more: ask for those before it. A page with few or no entries may have a next one. */
  readonly next?: number;
}

/** One edit. `rows` are limited to the requested subject. */
export interface LogEntry extends Omit<LoggedChange, 'subjects' | 'request'> {
  readonly edit: number;
}

export interface BreakGlassState extends Omit<BreakGlass, 'users' | 'owner' | 'byUser' | 'reviewed'> {
  readonly path?: string;
  readonly users: readonly number[];
  readonly userNames?: Readonly<Record<number, string>>;
  /** Jobs it let in, in the period that is open now (or in all). */
  readonly used: number;
  readonly open: boolean;
  readonly toReview: boolean;
  readonly reviewedBy?: string;
  readonly note?: string;
}
