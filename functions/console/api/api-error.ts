import { z } from '@hono/zod-openapi';
import { roleName } from '../../answers/groups/me.ts';
import { ChangeRowSchema } from '../../answers/limits/edit-models.ts';
import { maybe } from '../../answers/reading/schema.ts';
import type { Denial } from '../../core/limits/index.ts';

const DeniedSchema = z
  .object({
    row: ChangeRowSchema,
    act: z.enum([
      'view',
      'describe',
      'tighten',
      'loosen',
      'grant',
      'break-glass',
      'approve',
      'roll-out',
      'roll-back',
      'ask',
    ]),
    needs: z.array(roleName).readonly().openapi({ description: 'Who may, weakest first.' }),
    sentence: z.string().openapi({ example: 'to loosen it you must be of finance or an administrator' }),
  })
  .openapi('Denied') satisfies z.ZodType<Denial & { readonly sentence: string }>;

/** The problem and its remedy, as in the sign-in. */
export const ErrorSchema = z
  .object({
    error: z.object({
      code: z.string().openapi({ description: 'Stable; for programs.', example: 'stale' }),
      message: z.string(),
      remedy: z.string(),
    }),
    problems: z
      .array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }))
      .optional()
      .openapi({ description: 'With `invalid`: everything that is wrong, where it stands.' }),
    denied: z
      .array(DeniedSchema)
      .optional()
      .openapi({ description: 'With `forbidden`: the differences, and who may make them.' }),
    rows: z
      .array(ChangeRowSchema)
      .optional()
      .openapi({ description: 'With `needs_confirmation` and `needs_approval`: what it is about.' }),
    lockout: z
      .array(z.string())
      .optional()
      .openapi({ description: 'With `needs_confirmation`: jobs of the platform that would be rejected.' }),
    base: z.string().optional().openapi({ description: 'With `stale`: the set a file is an edit of.' }),
    live: z
      .object({
        ...{ set: z.string(), edit: z.number(), atMs: z.number(), actor: z.string(), why: z.string() },
        ...{ source: z.string(), base: maybe(z.string()) },
      })
      .optional()
      .openapi({ description: 'With `stale`: what is live now.' }),
    mine: z
      .array(ChangeRowSchema)
      .optional()
      .openapi({ description: 'With `stale`: what the edits would have done to their base.' }),
    theirs: z
      .array(ChangeRowSchema)
      .optional()
      .openapi({ description: 'With `stale`: what others did since, to the same subjects.' }),
  })
  .openapi('Error');

export type ApiError = z.infer<typeof ErrorSchema>;

export const apiError = (code: string, message: string, remedy: string): ApiError => ({
  error: { code, message, remedy },
});

export const UNREADABLE = apiError(
  'malformed',
  'The body or an encoding in the address cannot be read; nothing was changed.',
  'Send JSON in UTF-8 with `content-type: application/json`, or a form as the pages send it.',
);

export const NOT_THERE = apiError(
  'unknown',
  'There is nothing of this name, or it is not in one of your groups.',
  'Check the id; ask the owner of the group to be made a member.',
);

export const NO_BASE = apiError(
  'base_missing',
  'It does not say which set of limits it is an edit of.',
  'Send `If-Match` with the ETag of GET /api/v1/limits.',
);

export const TOO_OFTEN = apiError(
  'too_often',
  'Counting jobs costs thousands of reads, so it can be asked six times a minute.',
  'Wait as long as `retry-after` says; the preview tells an estimate at once.',
);
