import type { BreakGlassState } from '../../core/limits/index.ts';
import { count, instantMs, list, maybe, subject, text, z } from '../reading/schema.ts';

export const BreakGlassStateSchema = z
  .object({
    id: text(),
    subject: subject('`instance`, a group (with all below it) or a project.'),
    path: maybe(text()),
    users: list(z.int()).openapi({ description: 'GitLab’s ids of the people whose jobs it lets in.' }),
    userNames: maybe(z.record(z.string(), z.string())).openapi({
      description: 'Names of these, by id, as far as the limits know them.',
    }),
    protected: z.boolean().openapi({ description: 'It lets in jobs of protected refs.' }),
    jobs: count('How many jobs it lets in at most, per `per`.'),
    per: z.enum(['hour', 'day', 'once']),
    used: count('Jobs it let in, in the period that is open now (or in all).'),
    fromMs: instantMs(),
    untilMs: instantMs(),
    zone: maybe(text('IANA zone the edges are told in. Absent: UTC.')),
    reason: text(),
    ticket: maybe(text()),
    by: maybe(text('Who opened it.')),
    open: z.boolean(),
    toReview: z.boolean().openapi({ description: 'Nobody has looked at it yet.' }),
    reviewedBy: maybe(text()),
    note: maybe(text()),
  })
  .openapi('BreakGlassState') satisfies z.ZodType<BreakGlassState>;
