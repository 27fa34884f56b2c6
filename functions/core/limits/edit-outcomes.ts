/**
 * Rights of editors, and outcomes of edits. Like those of edits, the schemas are also those of the API, and programs without
 * an API import types only.
 */
import type { DocumentProblem } from '../../../policies/document/reading.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import { count, flag, instantMs, list, maybe, subject, text, unit, z } from '../schema.ts';
import { type ChangeRow, ChangeRowSchema } from './edit-model.ts';
import type { LimitChange, LimitsDocument } from './limit-set.ts';
import type { LimitPointer } from './limit-table.ts';

export interface Person {
  /** A username, a login of AWS or a name of one's own: at most 200 characters. */
  readonly actor: string;
  readonly userId?: number;
}

export type RoleName = 'viewer' | 'owner' | 'finance' | 'admin';

/** A user's role. Roles add up; without one a user may do nothing. An owner owns everything below the groups, too. */
export type Role =
  | { readonly role: 'viewer'; readonly groups: readonly number[] | 'all' }
  | { readonly role: 'owner'; readonly groups: readonly number[] }
  | { readonly role: 'finance' | 'admin' };

export type Rights = readonly Role[];

export const ACTS = [
  ...(['view', 'describe', 'tighten', 'loosen', 'grant', 'break-glass', 'approve'] as const),
  ...(['roll-out', 'roll-back', 'ask'] as const),
] as const;
export type Act = (typeof ACTS)[number];

interface Refused {
  readonly act: Act;
  /** The roles that may do it, weakest first. */
  readonly needs: readonly RoleName[];
}

export interface Denial extends Refused {
  readonly row: ChangeRow;
}

export interface Requester extends Person {
  readonly rights: Rights;
}

/* Requests. */

const filed = {
  id: text(),
  state: z.enum(['pending', 'approved', 'declined']),
  requestedBy: text(),
  requestedByUser: maybe(count('GitLab’s id of the requester; absent without a sign-in.')),
  requestedAtMs: instantMs(),
  decidedBy: maybe(text()),
  decidedByUser: maybe(count()),
  decidedAtMs: maybe(instantMs()),
  note: maybe(text('Reason of the refusal, or a note of the approver.')),
  granted: flag('Approved, and in the limits.'),
  expiresAtMs: instantMs('Unix ms; a pending one can then no longer be decided.'),
};

export const GrantRequestSchema = z
  .object({
    ...filed,
    subject: subject(),
    limit: text('Id of the limit.'),
    amount: z.union([z.string(), z.number()]).openapi({ description: 'As requested: `+200`.' }),
    from: text('A day or an instant.'),
    until: text('The last day, or an instant.'),
    reason: text(),
    ticket: maybe(text()),
    link: maybe(text('Its origin, e.g. the rejected job.')),
  })
  .openapi('GrantRequest', { description: 'Requests a grant.' });
export type GrantRequest = z.infer<typeof GrantRequestSchema> & { readonly edit?: undefined };

export const EditRequestSchema = z
  .object({
    ...filed,
    subject: subject('Subject of all changes; `instance` if there are several.'),
    limit: text('The first limit that is raised.'),
    reason: text('Why.'),
    edit: z.object({
      rows: list(ChangeRowSchema, 'The first changes that need approval.'),
      count: count('Number of rows.'),
      units: list(unit, 'Units of the raised limits.'),
      fingerprint: text('Hash of all rows: if they become different, the request is stale.'),
    }),
  })
  .openapi('EditRequest', { description: 'Requests edits that one person alone may not make.' });
export type EditRequest = z.infer<typeof EditRequestSchema> & {
  readonly [Field in 'amount' | 'from' | 'until' | 'ticket' | 'link']?: undefined;
};

export const LimitRequestSchema = z.union([GrantRequestSchema, EditRequestSchema]).openapi('Request');
export type LimitRequest = GrantRequest | EditRequest;

/* Outcomes. */

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

/** `invalid`, `stale` and `busy` leave the request pending. */
export type DecideOutcome =
  | { readonly outcome: 'approved'; readonly request: LimitRequest; readonly pointer: LimitPointer }
  | { readonly outcome: 'declined'; readonly request: LimitRequest }
  | { readonly outcome: 'decided'; readonly request: LimitRequest }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'stale'; readonly request: LimitRequest }
  | { readonly outcome: 'busy' }
  | (Refused & { readonly outcome: 'forbidden'; readonly own?: true })
  | Invalid;

export interface LiveLimits {
  readonly pointer: LimitPointer;
  readonly change: LimitChange;
  readonly document: LimitsDocument;
  readonly limits: LimitSet;
}

export interface EditAuthor extends Person {
  readonly rights: Rights;
  /** Required, at most 500 characters. */
  readonly why: string;
  /** `page`, `cli`, `ssm`, `file limits.csv`: at most 200 characters. */
  readonly source: string;
  /** The set the edits were made on; undefined: none was live. */
  readonly base: string | undefined;
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
