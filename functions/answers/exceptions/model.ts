import { list, subject, text, z } from '../reading/schema.ts';

const ExceptionRowSchema = z
  .object({
    kind: z.enum(['grant', 'freeze', 'breakglass']),
    id: text('By which it is taken back.'),
    subject: subject(),
    what: text('`+200 on money-month`, `5 jobs, day`; nothing for a freeze.'),
    from: text('As it was written; empty: open.'),
    until: text('As it was written; empty: until it is lifted.'),
    zone: text('IANA zone in which `from` and `until` are meant.'),
    reason: text(),
    by: text(),
  })
  .openapi('Exception', { description: 'Something beside the limits: by whom, until when and why.' });

export const ExceptionsSchema = list(ExceptionRowSchema).openapi('Exceptions');

export type ExceptionRow = z.infer<typeof ExceptionRowSchema>;
