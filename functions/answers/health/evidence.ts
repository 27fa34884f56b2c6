import { z } from 'zod';
import type { AdminRefusal } from '../../core/gitlab/admin-calls.ts';

export type ReadResult<T> = { readonly known: true; readonly value: T } | Unread;

export interface Unread {
  readonly known: false;
  readonly why: string;
  /** Cause shared by several failed reads, reported once. Absent: only this read. */
  readonly cause?: AdminRefusal['code'] | 'denied' | 'throttled' | 'no_token';
}

type Reads<Parts> = { readonly [Part in keyof Parts]: ReadResult<Readonly<Parts[Part]>> };

/** Settings of the deployed functions. Undefined: unknown. */
export interface DeployedEvidence {
  readonly policyVersion: string | undefined;
  readonly descriptorsVersion: string | undefined;
}

/** GitLab's side, for callers with a token. Instants are Unix ms. */
export type GitLabEvidence = Reads<{
  /** The token in use; without `expiresAtMs` it does not expire. */
  accessToken: { active: boolean; expiresAtMs?: number };
  gitlabVersion: string;
  licence: { plan: string; expired: boolean; expiresAtMs?: number } | undefined;
  /** `connected`: one of its tokens was used within the last hour; absent before GitLab 18.10. */
  controller: {
    id: number;
    state: 'enabled' | 'dry_run' | 'disabled';
    hasScope: boolean;
    connected?: boolean;
  };
  controllerTokens: readonly { readonly createdAtMs: number }[];
  /** Top-level groups that were looked at, and those that were not: GitLab did not say, or time ran out. */
  webhooks: { groups: number; unread: number; broken: readonly BrokenWebhook[] };
  /** GitLab's clock less ours, ms. */
  gitlabAheadMs: number;
}>;

export interface BrokenWebhook {
  readonly group: string;
  /** `off`: it does not send job events; `rewritten`: a template changes what it sends. */
  readonly standing: 'missing' | 'off' | 'disabled' | 'failing' | 'rewritten';
}

const HealthFindingSchema = z.object({
  about: z.string(),
  /** `unknown`: it could not be looked at, and `text` says why. */
  severity: z.enum(['ok', 'warning', 'problem', 'unknown']),
  text: z.string(),
  remedy: z.exactOptional(z.string()),
  /** The alarm that covers it; absent: none. */
  alarm: z.exactOptional(z.string()),
});

export const HealthViewSchema = z.object({
  checkedAtMs: z.number(),
  problems: z.int(),
  findings: z.array(HealthFindingSchema).readonly(),
});

export type HealthFinding = Readonly<z.infer<typeof HealthFindingSchema>>;
export type HealthView = Readonly<z.infer<typeof HealthViewSchema>>;
