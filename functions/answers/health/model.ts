import { z } from 'zod';

const HealthFindingSchema = z.object({
  /** One thing that was looked at, such as `relays` or `counters`. */
  about: z.string(),
  /** `unknown`: it could not be looked at, and `text` says why. */
  severity: z.enum(['ok', 'warning', 'problem', 'unknown']),
  /** The finding. */
  text: z.string(),
  /** The remedy; absent if none is needed. */
  remedy: z.exactOptional(z.string()),
  /** The alarm that covers it; absent: none. */
  alarm: z.exactOptional(z.string()),
});

/** Jobs that were decided on a day of usage so far: the next health check knows by it which came after this one. */
const DayDecisionsSchema = z.object({ day: z.string(), decided: z.int(), rejected: z.int() });

export const HealthViewSchema = z.object({
  /** Unix ms. */
  checkedAtMs: z.number(),
  /** Number of problems. */
  problems: z.int(),
  findings: z.array(HealthFindingSchema).readonly(),
  /** Absent: usage could not be read. */
  decisions: z.exactOptional(DayDecisionsSchema),
});

export type HealthFinding = Readonly<z.infer<typeof HealthFindingSchema>>;
export type DayDecisions = Readonly<z.infer<typeof DayDecisionsSchema>>;
export type HealthView = Readonly<z.infer<typeof HealthViewSchema>>;
