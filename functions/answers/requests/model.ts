import type { LimitRequest } from '../../core/limits/index.ts';
import { ChangeRowSchema } from '../history/model.ts';
import { count, instantMs, list, maybe, subject, text, unit, z } from '../reading/schema.ts';
import { type LimitRow, LimitRowSchema } from '../standing/model.ts';

export type { LimitRequest };

const filed = {
  id: text(),
  state: z.enum(['pending', 'approved', 'declined']),
  requestedBy: text(),
  requestedByUser: maybe(count('GitLab’s id of whoever asked; absent where nobody was signed in.')),
  requestedAtMs: instantMs(),
  decidedBy: maybe(text()),
  decidedByUser: maybe(count()),
  decidedAtMs: maybe(instantMs()),
  note: maybe(text('Why it was declined, or what the approver added.')),
  granted: z.boolean().openapi({ description: 'Approved, and in the limits.' }),
  expiresAtMs: instantMs('Unix ms; a pending one can then no longer be decided.'),
};

const GrantRequestSchema = z
  .object({
    ...filed,
    subject: subject(),
    limit: text('The limit’s id.'),
    amount: z
      .union([z.string(), z.number()])
      .openapi({ description: 'In the limit’s own unit, as it was asked for: `+200`.' }),
    from: text('A day or an instant.'),
    until: text('The last day, or an instant.'),
    reason: text(),
    ticket: maybe(text()),
    link: maybe(text('Where it came from, e.g. the rejected job.')),
  })
  .openapi('GrantRequest', { description: 'Asks for a grant.' });

const EditRequestSchema = z
  .object({
    ...filed,
    subject: subject('What all of it is about; `instance` where it is about several.'),
    limit: text('The first limit that gets more.'),
    reason: text('Why.'),
    edit: z.object({
      rows: list(ChangeRowSchema).openapi({
        description: 'What somebody else must approve of it: the first rows.',
      }),
      count: count('How many rows it has in all.'),
      units: list(unit).openapi({ description: 'Units of the limits that get more.' }),
      fingerprint: text('Covers all rows: where they come to anything else, the request is stale.'),
    }),
  })
  .openapi('EditRequest', { description: 'Asks for edits that one person alone may not make.' });

export const LimitRequestSchema = z.union([GrantRequestSchema, EditRequestSchema]).openapi('Request');

const live = maybe(
  z.object({ set: text(), edit: count() }).openapi({ description: 'Approved: the set it is live in.' }),
);

export const DecidedRequestSchema = z
  .union([GrantRequestSchema.extend({ live }), EditRequestSchema.extend({ live })])
  .openapi('DecidedRequest');

const row = {
  path: text(),
  limitNow: maybe(LimitRowSchema).openapi({
    description: 'The limit as it stands; absent: it is gone, or not theirs to see.',
  }),
  mayDecide: z.boolean().openapi({ description: 'The viewer may decide it now.' }),
  own: z.boolean().openapi({ description: 'The viewer filed it.' }),
};

export const RequestRowSchema = z
  .union([GrantRequestSchema.extend(row), EditRequestSchema.extend(row)])
  .openapi('RequestRow');

/** The type of limit editing distinguishes the two kinds by `edit`. */
export type RequestRow = LimitRequest & {
  readonly path: string;
  readonly limitNow?: LimitRow;
  readonly mayDecide: boolean;
  readonly own: boolean;
};
