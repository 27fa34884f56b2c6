/**
 * What the command line, CSV and SSM imports, the API and the console do with limits. One way in for all of them: every
 * edit is checked as a whole, against the rights of whoever makes it, and becomes live by one flip or not at all.
 *
 * Subjects are texts: `instance`, `group/101`, `project/7`, `runner-class/large`, `runner/41`, `user/5`, and in edits and
 * rows two more: `personal` (every personal namespace) and a pattern of group paths, `groups/acme/team-?` (the default of all that match).
 */
import type { Unit } from '../../../policies/claim.ts';
import type { DocumentProblem } from '../../../policies/document/parsed.ts';
import type { LimitKind, LimitSet } from '../../../policies/limits/limits.ts';
import type { PeriodKind } from '../../../policies/limits/period.ts';
import type { Mode } from '../../../policies/mode.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { Ledger, LedgerClock } from '../../ledger/ledger.ts';
import type { ChangeRow } from '../changes/change-row.ts';
import type { LimitChange, LimitsDocument } from '../limit-set.ts';
import type { LimitPointer, LimitTable } from '../limit-table.ts';

export interface LimitsDeskDeps {
  readonly table: LimitTable;
  /** The one in force: it names the runner classes, and who must never be locked out. */
  readonly policy: Policy;
  /** What is in force as long as no set is live, and so what the first edit edits. @default nothing */
  readonly packed?: LimitsDocument;
  /** The groups as they are now; undefined: not known, and then nobody owns a subtree. */
  readonly directory: () => Promise<Directory | undefined>;
  /** How counters stand: for what is left of a break-glass. */
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  /** A new text of letters and digits, at most 32, small letters for large ones: part of the ids of grants, freezes and requests. */
  readonly newId: () => string;
  /** @default {@link APPROVAL_DEFAULT} */
  readonly approval?: ApprovalSettings;
}

/** Which grants one person alone may not give. */
export interface ApprovalSettings {
  /** Grants above this many percent of the limit's own amount need somebody else's approval. 0: all of them. */
  readonly abovePercent: number;
}

export interface LimitsDesk {
  /** What is live now; undefined: no set ever was, and the limits packed with the code are in force. @throws {LimitsError} */
  live(): Promise<LiveLimits | undefined>;
  /**
   * A set as it was written: that of a file somebody exported. Of undefined: what is packed with the code. Undefined: it
   * is gone. @throws {LimitsError}
   */
  at(set: string | undefined): Promise<Pick<LiveLimits, 'document' | 'limits'> | undefined>;
  /** What edits of `base` would do; writes nothing and asks no rights. @throws {LimitsError} */
  preview(edits: readonly LimitEdit[], base: string | undefined): Promise<Preview>;
  /** Makes edits live, all or none. @throws {LimitsError} `limits_unavailable`: they may be live or not; `live()` tells. */
  apply(edits: readonly LimitEdit[], by: EditedBy): Promise<ApplyOutcome>;
  /** What was changed, newest first. Never expires, unlike the sets themselves. @throws {LimitsError} */
  history(asked: HistoryAsked): Promise<HistoryPage>;
  /** Files "ask for more". @throws {LimitsError} */
  request(asked: AskForMore, by: Asker): Promise<RequestOutcome>;
  /** Requests, newest first: those this role may see. Gone 30 days after they were filed. @throws {LimitsError} */
  requests(asked: { readonly rights: Rights; readonly actor: string }): Promise<readonly LimitRequest[]>;
  /** Approves (and so gives the grant) or declines. The requester never decides. @throws {LimitsError} */
  decide(id: string, verdict: RequestVerdict, by: Asker): Promise<DecideOutcome>;
  /** Who was let in by breaking glass, with what is left of it; newest first. @throws {LimitsError} */
  breakGlasses(): Promise<readonly BreakGlassState[]>;
}

/** The set in force, as it was written and as it is read. */
export interface LiveLimits {
  readonly pointer: LimitPointer;
  readonly change: LimitChange;
  readonly document: LimitsDocument;
  readonly limits: LimitSet;
}

// ── edits ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export type LimitEdit =
  | SetLimit
  | { readonly kind: 'remove'; readonly subject: string; readonly limit: string }
  | GiveGrant
  | { readonly kind: 'revoke'; readonly grant: string }
  | FreezeSubject
  | { readonly kind: 'unfreeze'; readonly freeze: string }
  | BreakGlassEdit
  | { readonly kind: 'end-breakglass'; readonly breakglass: string }
  /** Somebody has looked at what was done with it. */
  | { readonly kind: 'review-breakglass'; readonly breakglass: string; readonly note: string }
  | {
      readonly kind: 'rollout';
      readonly group: number;
      /** `null`: what the group above says. */
      readonly cost?: Mode | null;
      readonly capacity?: Mode | null;
    }
  /** An import: the whole document as it shall be. Whoever lacks the right for one difference changes nothing. */
  | { readonly kind: 'replace'; readonly document: unknown };

/** Adds a limit, or changes fields of one that is there; what is not named stays, `null` takes a field out. */
export interface SetLimit extends LimitFields {
  readonly kind: 'set';
  readonly subject: string;
  /** The limit's id; absent: made from unit and period, `money-month`. */
  readonly limit?: string;
}

/** A limit's fields with the names and texts of limits.yaml. */
export interface LimitFields {
  readonly unit?: LimitKind;
  /** `500.25`, `unlimited`, `0` blocks; CPU and memory as Kubernetes writes them. */
  readonly amount?: string | number;
  readonly per?: PeriodKind | null;
  readonly zone?: string | null;
  readonly fiscal_start?: string | null;
  /** `80%` or an amount. */
  readonly soft?: string | number | null;
  readonly grace?: string | number | null;
  /** The most that is carried over: `20%` or an amount. */
  readonly carry?: string | number | null;
  readonly overdraft?: 'absorb' | 'carry' | 'alert' | null;
  readonly mode?: Mode | null;
  readonly thresholds?: readonly number[] | null;
  readonly owner?: string | null;
  readonly contact?: string | null;
  readonly cost_center?: string | null;
  /** A day or an instant; the limit asks nothing before it. */
  readonly from?: string | null;
  /** The last day, or an instant; the limit asks nothing after it. */
  readonly until?: string | null;
  readonly reason?: string | null;
}

/** More for a time. Whether somebody else must approve it is the desk's to say. */
export interface GiveGrant {
  readonly kind: 'grant';
  readonly subject: string;
  readonly limit: string;
  /** In the limit's own unit: `+200`. */
  readonly amount: string | number;
  readonly from: string;
  readonly until: string;
  readonly reason: string;
  readonly ticket?: string;
}

/** No job of the subject starts: like a limit of 0, with a reason of its own. Running jobs finish. */
export interface FreezeSubject {
  readonly kind: 'freeze';
  readonly subject: string;
  /** Absent: from now on. */
  readonly from?: string;
  /** Absent: until somebody lifts it. */
  readonly until?: string;
  /** Stands on the page of every job it stops: at most 200 characters. */
  readonly reason: string;
  readonly owner?: string;
}

/** Lets named people's jobs, or those of protected refs, pass limits and freezes that would stop them; never rules. */
export interface BreakGlassEdit {
  readonly kind: 'breakglass';
  /** `instance`, a group (with all below it) or a project. */
  readonly subject: string;
  /** GitLab's user ids. These or `protected`, or both, which then must both hold. */
  readonly users?: readonly number[];
  readonly protected?: true;
  /** How many jobs it lets in at most, per `per`. */
  readonly jobs: number;
  /** @default `once`: as long as it is open */
  readonly per?: 'hour' | 'day' | 'once';
  /** Absent: from now on. */
  readonly from?: string;
  /** At most seven days after `from`. */
  readonly until: string;
  readonly reason: string;
  readonly ticket?: string;
}

// ── what edits come to ─────────────────────────────────────────────────────────────────────────────────────────────

export type { ChangeRow, Effect } from '../changes/change-row.ts';

/** A limit that is given to its children more than once. Allowed, and then a pool: whoever comes first has it. */
export interface Oversubscription {
  readonly subject: string;
  readonly path?: string;
  readonly limit: string;
  readonly unit: Unit;
  /** Whole units. */
  readonly amount: number;
  /** What the closest limits of this unit and period below it come to; `unlimited` children are not counted in. */
  readonly childrenAmount: number;
  readonly children: number;
  /** Children that are larger than the limit itself, or unlimited: this one binds them. At most ten. */
  readonly larger: readonly string[];
}

export type Preview =
  | { readonly outcome: 'invalid'; readonly problems: readonly DocumentProblem[] }
  | {
      readonly outcome: 'valid';
      /** The set these are edits of is not live (any more): `apply` would refuse. */
      readonly stale: boolean;
      /** With `stale`: what others did since, to the same subjects. */
      readonly theirs?: readonly ChangeRow[];
      readonly document: LimitsDocument;
      readonly limits: LimitSet;
      readonly rows: readonly ChangeRow[];
      /** Of limits that the rows touch, and their parents. */
      readonly oversubscription: readonly Oversubscription[];
      /** Amounts that become more than three times, or less than a third of, what they were: to be confirmed. */
      readonly needsConfirmation: readonly ChangeRow[];
      /** Grants that somebody else must approve. */
      readonly needsApproval: readonly ChangeRow[];
      /** Jobs of those who run the controller that would be rejected: to be confirmed. */
      readonly lockout: readonly string[];
    };

export interface EditedBy {
  /** For the log: a name or login, at most 200 characters. */
  readonly actor: string;
  readonly rights: Rights;
  /** Required, at most 500 characters. */
  readonly why: string;
  /** `page`, `cli`, `ssm`, `file limits.csv`: at most 200 characters. */
  readonly source: string;
  /** The set the edits were made on; undefined: none was live. */
  readonly base: string | undefined;
  /** The actor has seen what needs to be confirmed. */
  readonly confirmed?: boolean;
}

export type ApplyOutcome =
  | { readonly outcome: 'live'; readonly pointer: LimitPointer; readonly rows: readonly ChangeRow[] }
  /** The edits come to what is live already: nothing was written. */
  | { readonly outcome: 'unchanged'; readonly pointer: LimitPointer | undefined }
  | { readonly outcome: 'invalid'; readonly problems: readonly DocumentProblem[] }
  | {
      readonly outcome: 'stale';
      readonly live: LiveLimits | undefined;
      /** What these edits would have done to `base`; undefined: `base` cannot be read any more. */
      readonly mine?: readonly ChangeRow[];
      /** What others did since `base`, to the same subjects. */
      readonly theirs?: readonly ChangeRow[];
    }
  | { readonly outcome: 'forbidden'; readonly denied: readonly [Denied, ...Denied[]] }
  | {
      readonly outcome: 'needs_confirmation';
      readonly rows: readonly ChangeRow[];
      readonly lockout: readonly string[];
    }
  /** Nothing was changed. Of a single grant a request was filed for others to approve; in an import none is. */
  | {
      readonly outcome: 'needs_approval';
      readonly rows: readonly ChangeRow[];
      readonly by: readonly RoleName[];
      readonly request?: LimitRequest;
    };

// ── rights ─────────────────────────────────────────────────────────────────────────────────────────────────────────

export type RoleName = 'viewer' | 'owner' | 'finance' | 'admin';

/** What somebody is. Several add up; none may do nothing. */
export type Role =
  | { readonly role: 'viewer'; readonly groups: readonly number[] | 'all' }
  /** Of these groups and everything below them. */
  | { readonly role: 'owner'; readonly groups: readonly number[] }
  | { readonly role: 'finance' }
  | { readonly role: 'admin' };

export type Rights = readonly Role[];

/** See `rights-table.ts`. */
export type Act =
  | 'view'
  | 'describe'
  | 'tighten'
  | 'loosen'
  | 'grant'
  | 'break-glass'
  | 'approve'
  | 'roll-out'
  | 'roll-back'
  | 'ask';

/** A difference somebody may not make, and who may. */
export interface Denied {
  readonly row: ChangeRow;
  readonly act: Act;
  /** Who may, weakest first. */
  readonly needs: readonly RoleName[];
}

// ── history ────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface HistoryAsked {
  /** Only what was changed of this subject. */
  readonly subject?: string;
  /** Only edits before this one: `next` of the page before. */
  readonly before?: number;
  /** 1–100. */
  readonly max: number;
}

export interface HistoryPage {
  readonly entries: readonly LogEntry[];
  /** There may be more: ask for those before it. A page with few or no entries may have a next one. */
  readonly next?: number;
}

/** One edit. */
export interface LogEntry {
  /** 1, 2, 3 … */
  readonly edit: number;
  readonly set: string;
  readonly atMs: number;
  readonly actor: string;
  readonly why: string;
  readonly source: string;
  readonly base?: string;
  /** How many rows the edit had in all. */
  readonly count: number;
  /**
   * What was changed; of the subject asked for, if one was. Undefined: too much to list here (ask by subject), or, with
   * `count` 0, what it was an edit of could not be read any more.
   */
  readonly rows?: readonly ChangeRow[];
}

// ── requests ───────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Asker {
  readonly actor: string;
  readonly rights: Rights;
}

export interface AskForMore extends Omit<GiveGrant, 'kind'> {
  /** Where it came from, e.g. the rejected job. */
  readonly link?: string;
}

export type RequestState = 'pending' | 'approved' | 'declined';

export interface LimitRequest extends AskForMore {
  readonly id: string;
  readonly state: RequestState;
  readonly requestedBy: string;
  readonly requestedAtMs: number;
  readonly decidedBy?: string;
  readonly decidedAtMs?: number;
  /** Why it was declined, or what the approver added. */
  readonly note?: string;
  /** Approved, and the grant is in the limits. */
  readonly granted: boolean;
  /** Unix ms; a pending one can then no longer be decided. */
  readonly expiresAtMs: number;
}

export type RequestVerdict =
  | { readonly verdict: 'approve'; readonly note?: string }
  | { readonly verdict: 'decline'; readonly note: string };

export type RequestOutcome =
  | { readonly outcome: 'filed'; readonly request: LimitRequest }
  | { readonly outcome: 'invalid'; readonly problems: readonly DocumentProblem[] }
  | { readonly outcome: 'forbidden'; readonly act: Act; readonly needs: readonly RoleName[] }
  /** So many are waiting, of this requester or of all: first they must be decided or expire. */
  | { readonly outcome: 'too_many'; readonly whose: 'yours' | 'all'; readonly max: number };

export type DecideOutcome =
  | { readonly outcome: 'approved'; readonly request: LimitRequest; readonly pointer: LimitPointer }
  | { readonly outcome: 'declined'; readonly request: LimitRequest }
  /** No request has this id, or it expired. */
  | { readonly outcome: 'unknown' }
  /** Somebody else decided first. */
  | { readonly outcome: 'decided'; readonly request: LimitRequest }
  | {
      readonly outcome: 'forbidden';
      readonly act: Act;
      readonly needs: readonly RoleName[];
      readonly own?: true;
    }
  /** The grant no longer fits the limits; the request stays pending. */
  | { readonly outcome: 'invalid'; readonly problems: readonly DocumentProblem[] }
  /** Others edited at the same time, again and again; the request stays pending. */
  | { readonly outcome: 'busy' };

// ── break-glass ────────────────────────────────────────────────────────────────────────────────────────────────────

export interface BreakGlassState {
  readonly id: string;
  readonly subject: string;
  readonly path?: string;
  readonly users: readonly number[];
  readonly protected: boolean;
  readonly jobs: number;
  readonly per: 'hour' | 'day' | 'once';
  /** Jobs it let in, in the period that is open now (or in all). */
  readonly used: number;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly reason: string;
  readonly ticket?: string;
  readonly by?: string;
  readonly open: boolean;
  /** Nobody has looked at it yet. */
  readonly toReview: boolean;
  readonly reviewedBy?: string;
  readonly note?: string;
}
