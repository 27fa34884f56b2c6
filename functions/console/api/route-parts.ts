/** Shared parts of routes. */
import { createRoute, z } from '@hono/zod-openapi';
import { ErrorSchema } from './api-error.ts';

export const errorAnswer = (description: string) => ({
  description,
  content: { 'application/json': { schema: ErrorSchema } },
});

/** @param schema - a model of functions/answers/<answer>/model.ts: the same type that the reader returns. */
export const jsonAnswer = <Schema extends z.ZodType>(schema: Schema, description: string) => ({
  description,
  content: { 'application/json': { schema } },
});

export const numberId = z.object({
  id: z.coerce
    .number()
    .int()
    .positive()
    .openapi({ param: { name: 'id', in: 'path' }, example: 101 }),
});
export const textId = z.object({
  id: z
    .string()
    .min(1)
    .max(100)
    .openapi({ param: { name: 'id', in: 'path' } }),
});

/** `If-Match: "<set>"`, the set that the edits were made on; `"none"` while none was ever live. */
export const baseHeader = z.object({
  'if-match': z.string().max(100).optional().openapi({ example: '"b1946ac92492d2347c6235b4"' }),
});

export const jsonBody = <Schema extends z.ZodType>(schema: Schema) => ({
  required: true,
  content: { 'application/json': { schema } },
});

/** Cursor of a list or count. */
export const cursor = z
  .string()
  .max(100)
  .optional()
  .openapi({ description: 'The `next` of the answer before.' });

export { createRoute, z };
