/** Schemas of GitLab's responses. Unused fields are ignored. */
import { z } from 'zod';

const id = z.int().positive();
/** GitLab writes null for unset values. */
const text = z
  .string()
  .nullish()
  .transform((said) => said ?? '');
export const accessTokenSchema = z.object({
  scopes: z.array(z.string()),
  active: z.boolean(),
  /** The day at whose beginning, in UTC, it dies. */
  expires_at: z.string().nullish(),
});

export const metadataSchema = z.object({
  /** E.g. `19.4.1-ee`. */
  version: z.string().regex(/^\d+\.\d+/),
  /** The code, which says nothing of a licence. */
  enterprise: z.boolean().optional(),
  kas: z
    .object({
      enabled: z.boolean(),
      externalUrl: z.string().nullish(),
      /** Null also where GitLab cannot reach it. */
      version: z.string().nullish(),
    })
    .optional(),
});

/** Without a licence GitLab answers null. */
export const licenceSchema = z
  .object({ plan: z.string(), expired: z.boolean().optional(), expires_at: z.string().nullish() })
  .nullish();

/** Only flags that were set. */
export const flagsSchema = z.array(
  z.object({ name: z.string(), state: z.enum(['on', 'off', 'conditional']) }),
);

/** All flags this build knows. */
export const flagDefinitionsSchema = z.array(
  z.object({ name: z.string(), default_enabled: z.boolean().optional() }),
);

/** Instance settings that limit webhooks. GitLab Self-Managed returns all of them. */
export const settingsSchema = z.object({
  silent_mode_enabled: z.boolean().optional(),
  allow_local_requests_from_web_hooks_and_services: z.boolean().optional(),
  outbound_local_requests_whitelist: z.array(z.string()).nullish(),
});

export const discoverySchema = z.object({ server_url: z.string() });

/** Description of the temporary controller of a canary run. */
export const CANARY_DESCRIPTION = 'Tollgate canary: made and removed by tollgate gitlab canary';

export const controllerSchema = z.object({
  id,
  description: text,
  state: z.enum(['enabled', 'dry_run', 'disabled']),
  /** True if one of its tokens was used within the last hour. Absent in lists, and before 18.10. */
  connected: z.boolean().optional(),
});

export const scopesSchema = z.object({
  instance_level_scopings: z.array(z.unknown()),
  /** Since 18.10. */
  runner_level_scopings: z.array(z.object({ runner_id: id })).optional(),
});

const instantMs = z.string().transform((said) => Date.parse(said));

export const controllerTokenSchema = z
  .object({
    id,
    description: text,
    /** Since 18.10; null before the first use. */
    last_used_at: instantMs.nullable().optional(),
    created_at: instantMs,
  })
  .transform((token) => ({
    id: token.id,
    description: token.description,
    lastUsedAtMs: token.last_used_at,
    createdAtMs: token.created_at,
  }));

export const madeTokenSchema = z.object({
  id,
  /** An instance may have a prefix of its own before GitLab's. */
  token: z.string().regex(/glrct-/),
});

export const groupSchema = z.object({ id, full_path: z.string(), parent_id: z.int().nullish() });

export const hookSchema = z.object({
  id,
  url: z.string(),
  name: text,
  description: text,
  push_events: z.boolean(),
  job_events: z.boolean(),
  enable_ssl_verification: z.boolean(),
  alert_status: z.string().optional(),
  custom_webhook_template: text,
  /** Since 19.0. */
  signing_token_present: z.boolean().optional(),
});

export const hookEventSchema = z.object({
  id,
  /** A status as text, or `internal error`. */
  response_status: z.coerce.string(),
});

export const runnerSchema = z.object({
  id,
  runner_type: z.string().optional(),
  created_by: z.object({ id, username: text }).nullish(),
});
