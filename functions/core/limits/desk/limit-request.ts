import type { DocumentProblem } from '../../../../policies/document/reading.ts';
import type { Unit } from '../../../../policies/units/unit.ts';
import type { ChangeRow } from '../changes/change-row.ts';
import type { LimitPointer } from '../limit-table.ts';
import type { GiveGrant, LimitEdit } from './limit-edit.ts';
import type { Person } from './person.ts';
import type { Act, Rights, RoleName } from './role.ts';

export interface Asker extends Person {
  readonly rights: Rights;
}

export interface GrantAsk extends Omit<GiveGrant, 'kind'> {
  /** Its origin, e.g. the rejected job. */
  readonly link?: string;
}

type RequestState = 'pending' | 'approved' | 'declined';

interface Filed {
  readonly id: string;
  readonly state: RequestState;
  readonly requestedBy: string;
  /** GitLab id of the requester; absent if not signed in. */
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

/** Asks for a grant. */
export interface GrantRequest extends GrantAsk, Filed {
  readonly edit?: undefined;
}

/** Asks for edits that one person alone may not make. */
export interface EditRequest extends Filed {
  /** Its subject; `instance` if it has several. */
  readonly subject: string;
  /** The first limit that gets more. */
  readonly limit: string;
  /** Why. */
  readonly reason: string;
  readonly edit: RequestedEdit;
  readonly amount?: undefined;
  readonly from?: undefined;
  readonly until?: undefined;
  readonly ticket?: undefined;
  readonly link?: undefined;
}

interface RequestedEdit {
  /** The first rows that need approval. */
  readonly rows: readonly ChangeRow[];
  /** Total number of rows. */
  readonly count: number;
  /** Units of the limits that get more. */
  readonly units: readonly Unit[];
  /** Covers all rows: where they come to anything else, the request is stale. */
  readonly fingerprint: string;
}

export type LimitRequest = GrantRequest | EditRequest;

/** The edits in a request. */
export interface RequestedEdits {
  readonly edits: readonly LimitEdit[];
  /** The limits they change are others by now: they can no longer be approved. */
  readonly stale: boolean;
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
  /** Another user decided first. */
  | { readonly outcome: 'decided'; readonly request: LimitRequest }
  | {
      readonly outcome: 'forbidden';
      readonly act: Act;
      readonly needs: readonly RoleName[];
      readonly own?: true;
    }
  /** The limits it changes are others by now; the request stays pending, to be declined. */
  | { readonly outcome: 'stale'; readonly request: LimitRequest }
  /** The grant no longer fits the limits; the request stays pending. */
  | { readonly outcome: 'invalid'; readonly problems: readonly DocumentProblem[] }
  /** Others edited at the same time, again and again; the request stays pending. */
  | { readonly outcome: 'busy' };
