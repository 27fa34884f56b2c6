import { amount, count, day, instantMs, list, maybe, subject, text, z } from '../reading/schema.ts';
import { LimitRowSchema } from '../standing/model.ts';
import { jobsByRule } from '../usage/model.ts';

export interface ShadowQuery {
  /** 1–62. @default 14 */
  readonly days?: number;
  /** @default all the viewer sees */
  readonly group?: number;
  /** Only this one; goes before `group`. */
  readonly project?: number;
  readonly cursor?: string;
  /** 1–100. @default 50 */
  readonly max?: number;
}

const ShadowRowSchema = z
  .object({
    subject: subject(),
    path: text(),
    jobs: count('All jobs of these days.'),
    ranRejected: count(
      'Jobs that were rejected and ran all the same, because GitLab follows no answer in dry run, or past us: an enabled controller would have failed them. Tried again by GitLab, a job counts again.',
    ),
    ranRejectedBy: jobsByRule('The same by rule, most first; a job counts under each rule.'),
    wouldFail: jobsByRule(
      'One row per rule or limit that only watches, most first; a job counts under each rule.',
    ),
    limits: list(
      z.object({
        limit: LimitRowSchema,
        refusedAmount: amount('What of this period’s use would not have been let in.'),
      }),
    ).openapi({ description: 'Its limits that watch.' }),
    owner: maybe(text()),
    contact: maybe(text()),
  })
  .openapi('ShadowRow');

export type ShadowRow = z.infer<typeof ShadowRowSchema>;

export const ShadowViewSchema = z
  .object({
    currency: text('ISO 4217.'),
    nowMs: instantMs(),
    fromDay: day('First day.'),
    toDay: day('Last day.'),
    rows: list(ShadowRowSchema),
    next: maybe(text('The `cursor` of the page after it.')),
    total: count(
      'Subjects in all: the top of what is asked for, the groups below a named one, and whoever has a limit that watches.',
    ),
  })
  .openapi('Shadow', {
    description: 'What would have happened had the limits and rules that only watch been enforced.',
  });

export type ShadowView = z.infer<typeof ShadowViewSchema>;
