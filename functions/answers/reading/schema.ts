/** The words the models of answers are written in: zod with what it lacks. Only models and routes import it. */
import { z } from '@hono/zod-openapi';
import { RULE_KINDS } from '../../../policies/kinds/kinds.ts';
import { PERIOD_KINDS } from '../../../policies/limits/period.ts';
import { MODES } from '../../../policies/mode.ts';
import { ALL_UNITS, LIMIT_KINDS } from '../../../policies/units/unit.ts';

export { z };

/** A property that is there with a value, or is not there. */
export const maybe = <Schema extends z.ZodType>(schema: Schema) =>
  // The document knows only `optional` as not required; the type is stricter: an answer never says `undefined`.
  schema.optional() as unknown as z.ZodExactOptional<Schema>;

/** A property that is always written, and may be `undefined`: JSON leaves it out then. */
export const orNone = <Schema extends z.ZodType>(schema: Schema) =>
  schema.optional() as unknown as z.ZodUnion<readonly [Schema, z.ZodUndefined]>;

export const list = <Schema extends z.ZodType>(schema: Schema) => z.array(schema).readonly();

export const unit = z.enum(ALL_UNITS).openapi({
  description: 'What amounts are whole units of; micros are millionths of the currency.',
});
export const mode = z.enum(MODES);
export const limitKind = z.enum(LIMIT_KINDS);
export const ruleKind = z.enum(RULE_KINDS);
export const periodKind = z.enum(PERIOD_KINDS);

/** Whole units of the neighbouring `unit`. */
export const amount = (description?: string) =>
  z.number().openapi(description === undefined ? {} : { description });
export const limitAmount = (description: string) =>
  z.union([z.number(), z.literal('unlimited')]).openapi({ description });
export const micros = (description = 'Millionths of the currency.') => z.number().openapi({ description });
export const count = (description?: string) =>
  z.int().openapi(description === undefined ? {} : { description });
export const instantMs = (description = 'Unix ms.') => z.number().openapi({ description });
/** JSON has no infinity: what never ends is `null` there. */
export const instantMsOrNever = (description: string) =>
  z
    .custom<number>((value) => value === null || typeof value === 'number')
    .openapi({ type: ['number', 'null'], description });
export const day = (description = 'A day of the usage, as `2026-11-21`.') =>
  z.string().openapi({ description, example: '2026-11-21' });
export const subject = (
  description = '`instance`, `group/101`, `project/7`, `runner-class/large`, `runner/41`, `user/5`; of a cap `group/101/each/pipeline`',
) => z.string().openapi({ description, example: 'group/101' });
export const text = (description?: string) =>
  z.string().openapi(description === undefined ? {} : { description });
