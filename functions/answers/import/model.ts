import { CSV_COLUMNS, type UnderstoodCell, type WrittenTotal } from '../../core/limits/index.ts';
import { BacktestAnswerSchema } from '../backtest/model.ts';
import { InvalidEditsSchema, ValidEditsSchema } from '../preview/model.ts';
import {
  count,
  limitKind,
  list,
  maybe,
  orNone,
  periodKind,
  subject,
  text,
  unit,
  z,
} from '../reading/schema.ts';

export type { WrittenTotal };

const sum = z.object({
  limits: count(),
  unlimited: count('Part of `limits`: those without an amount.'),
  amount: text('Whole units; more than a number may hold.'),
});
const WrittenTotalSchema = z
  .object({
    kind: limitKind,
    unit,
    per: periodKind.nullable(),
    since: z.string().nullable().openapi({ description: 'ISO 8601; `null`: now.' }),
    zone: z.string().nullable().openapi({ description: 'IANA zone of a limit that begins or ends then.' }),
    before: sum,
    after: sum,
  })
  .openapi('LimitsTotal') satisfies z.ZodType<WrittenTotal>;
const UnderstoodSchema = z
  .object({
    line: count('Line of the file, from 1.'),
    column: z.enum(CSV_COLUMNS),
    written: text(),
    read: text('As limits.yaml has it.'),
    text: text('All of it in words.'),
  })
  .openapi('Understood') satisfies z.ZodType<UnderstoodCell & { readonly text: string }>;

/** The effect of a file. */
export const ImportPreviewSchema = z
  .discriminatedUnion('outcome', [
    InvalidEditsSchema,
    ValidEditsSchema.extend({
      totals: list(WrittenTotalSchema).openapi({
        description: 'What all limits of a kind come to, now and from each date on.',
      }),
      understood: list(UnderstoodSchema).openapi({
        description: 'Cells that were read as something else than what stands in them.',
      }),
      base: orNone(text('The set the file is an edit of.')),
      rowsRead: count(),
      notes: list(z.string()).openapi({ description: 'How the file itself was understood.' }),
      unnamed: list(z.object({ subject: subject(), limit: text('Its id.') })).openapi({
        description: 'Limits the file does not name: with `prune` they are taken out.',
      }),
      backtest: maybe(BacktestAnswerSchema).openapi({ description: 'Only where it was asked for.' }),
    }),
  ])
  .openapi('ImportPreview');
