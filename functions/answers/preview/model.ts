import type { Oversubscription } from '../../core/limits/index.ts';
import { ChangeRowSchema } from '../history/model.ts';
import { amount, count, list, maybe, orNone, subject, text, unit, z } from '../reading/schema.ts';
import { LimitRowSchema } from '../standing/model.ts';

export type { Oversubscription };

const problems = list(
  z.object({
    path: list(z.union([z.string(), z.number()])).openapi({ description: 'Where in what was sent.' }),
    message: text('What is wrong there, and what was expected.'),
    atKey: maybe(z.boolean().openapi({ description: 'It is the key that is wrong, not its value.' })),
  }),
);

const set = orNone(text('The live one; absent: none was ever made live.'));

export const InvalidEditsSchema = z
  .object({ outcome: z.literal('invalid'), problems, set })
  .openapi('InvalidEdits');

const OversubscriptionSchema = z
  .object({
    subject: subject(),
    path: maybe(text()),
    limit: text('Its id.'),
    unit,
    amount: amount(),
    childrenAmount: amount(
      'What the closest limits of this unit and period below it come to; `unlimited` children are not counted in.',
    ),
    children: count(),
    unlimited: count('Part of `children`.'),
    larger: list(z.string()).openapi({
      description: 'Children that are larger than the limit itself, or unlimited; at most ten.',
    }),
  })
  .openapi('Oversubscription', {
    description: 'A limit that is given to its children more than once. Allowed, and then a pool.',
  }) satisfies z.ZodType<Oversubscription>;

const EditEffectSchema = z
  .object({
    subject: subject(),
    path: text(),
    limit: text('Its id.'),
    before: maybe(LimitRowSchema).openapi({ description: 'Absent: it is new.' }),
    after: maybe(LimitRowSchema).openapi({
      description: 'Absent: it goes. Its numbers are those of today’s counter.',
    }),
  })
  .openapi('EditEffect');

export type EditEffect = z.infer<typeof EditEffectSchema>;

export const ValidEditsSchema = z
  .object({
    outcome: z.literal('valid'),
    set,
    stale: z.boolean().openapi({
      description: 'The set these are edits of is not live (any more): making them live would be refused.',
    }),
    rows: list(ChangeRowSchema),
    theirs: maybe(list(ChangeRowSchema)).openapi({
      description: 'Only if `stale`: what others did since, to the same subjects.',
    }),
    oversubscription: list(OversubscriptionSchema).openapi({
      description: 'Covers the limits that the rows touch, and their parents.',
    }),
    needsConfirmation: list(ChangeRowSchema).openapi({
      description:
        'Amounts that become more than three times, or less than a third of, what they were, and milder modes.',
    }),
    needsApproval: list(ChangeRowSchema).openapi({ description: 'What somebody else must approve.' }),
    lockout: list(z.string()).openapi({
      description: 'Jobs of those who run the controller that would be rejected: to be confirmed.',
    }),
    effects: list(EditEffectSchema).openapi({
      description: 'One per limit whose amount changes; at most 20.',
    }),
  })
  .openapi('ValidEdits');

export const PreviewSchema = z
  .discriminatedUnion('outcome', [InvalidEditsSchema, ValidEditsSchema])
  .openapi('Preview');

export type PreviewAnswer =
  | z.infer<typeof PreviewSchema>
  /** A subject that is not there, or not theirs to see. */
  | { readonly outcome: 'unknown_subject'; readonly subject: string };
