import { z } from 'zod';
import type { AdminRefusal } from '../../core/gitlab/admin-calls.ts';

export type ReadResult<T> = { readonly known: true; readonly value: T } | Unread;

export interface Unread {
  readonly known: false;
  readonly why: string;
  /** Cause shared by several failed reads, reported once. Absent: only this read. */
  readonly cause?: AdminRefusal['code'] | 'denied' | 'throttled' | 'no_token';
}

export interface DeployedEvidence {
  readonly policyVersion: string | undefined;
  readonly descriptorsVersion: string | undefined;
}

const HealthFindingSchema = z.object({
  about: z.string(),
  /** `unknown`: it could not be looked at, and `text` says why. */
  severity: z.enum(['ok', 'warning', 'problem', 'unknown']),
  text: z.string(),
  remedy: z.exactOptional(z.string()),
  alarm: z.exactOptional(z.string()),
});

export const HealthViewSchema = z.object({
  checkedAtMs: z.number(),
  problems: z.int(),
  findings: z.array(HealthFindingSchema).readonly(),
});

export type HealthFinding = Readonly<z.infer<typeof HealthFindingSchema>>;
export type HealthView = Readonly<z.infer<typeof HealthViewSchema>>;
