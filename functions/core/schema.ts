/** Building blocks of models: zod schemas with descriptions. Only models and routes import it. */
import { z } from '@hono/zod-openapi';
import { RULE_KINDS } from '../../policies/kinds/kinds.ts';
import { PERIOD_KINDS } from '../../policies/limits/period.ts';
import { MODES } from '../../policies/mode.ts';
import { ALL_UNITS, LIMIT_KINDS } from '../../policies/unit.ts';

export { z };

const described = <Schema extends z.ZodType>(schema: Schema, description?: string): Schema =>
  description === undefined ? schema : (schema.openapi({ description }) as Schema);

/** A property that is present with a value, or absent. */
export const maybe = <Schema extends z.ZodType>(schema: Schema, description?: string) =>
  // The document knows only `optional` as not required. The type is stricter: an answer never has `undefined`.
  described(schema.optional(), description) as unknown as z.ZodExactOptional<Schema>;

/** A property that code always writes, perhaps as `undefined`. JSON leaves it out then. */
export const orNone = <Schema extends z.ZodType>(schema: Schema, description?: string) =>
  described(schema.optional(), description) as unknown as z.ZodUnion<readonly [Schema, z.ZodUndefined]>;

export const list = <Schema extends z.ZodType>(schema: Schema, description?: string) =>
  described(z.array(schema).readonly(), description);
export const oneOf = <const Values extends readonly string[]>(values: Values, description?: string) =>
  described(z.enum(values), description);
export const flag = (description?: string) => described(z.boolean(), description);
export const onlyTrue = (description?: string) => described(z.literal(true), description);

export const unit = oneOf(ALL_UNITS, 'Unit of the amounts. Micros are millionths of the currency.');
export const mode = z.enum(MODES);
export const limitKind = z.enum(LIMIT_KINDS);
export const ruleKind = z.enum(RULE_KINDS);
export const periodKind = z.enum(PERIOD_KINDS);

/** Whole units of the neighbouring `unit`. */
export const amount = (description?: string) => described(z.number(), description);
export const limitAmount = (description: string) =>
  described(z.union([z.number(), z.literal('unlimited')]), description);
export const micros = (description = 'Millionths of the currency.') => amount(description);
export const count = (description?: string) => described(z.int(), description);
export const instantMs = (description = 'Unix ms.') => amount(description);
/** JSON has no infinity: an instant that never comes is `null` there. */
export const instantMsOrNever = (description: string) =>
  z
    .custom<number>((value) => value === null || typeof value === 'number')
    .openapi({ type: ['number', 'null'], description });
export const day = (description = 'A day of usage, as `2026-11-21`.') =>
  z.string().openapi({ description, example: '2026-11-21' });
export const subject = (
  description = '`instance`, `group/101`, `project/7`, `runner-class/large`, `runner/41`, `user/5`; of a cap `group/101/each/pipeline`',
) => z.string().openapi({ description, example: 'group/101' });
export const text = (description?: string) => described(z.string(), description);
