import type { DocumentProblem } from '../../../policies/document/parsed.ts';
import type { LimitPointer } from '../limit-table.ts';
import type { GiveGrant } from './limit-edit.ts';
import type { Person } from './person.ts';
import type { Act, Rights, RoleName } from './role.ts';

export interface Asker extends Person {
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
  /** GitLab's id of whoever asked; absent where nobody was signed in. */
  readonly requestedByUser?: number;
  readonly requestedAtMs: number;
  readonly decidedBy?: string;
  readonly decidedByUser?: number;
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
