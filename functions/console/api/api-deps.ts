import type { Hook } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { ConsoleReader } from '../../answers/create-console-read.ts';
import { actingUser } from '../../answers/reading/context.ts';
import type { Log } from '../../core/environment/index.ts';
import { type EditAuthor, type LimitsDesk, NO_SET } from '../../core/limits/index.ts';
import type { SignInEnv, User } from '../../core/signin/index.ts';
import { type ApiError, apiError } from './api-error.ts';
import type { ReportSender } from './tell-owner.ts';

export interface ApiDeps {
  readonly desk: LimitsDesk;
  readonly read: ConsoleReader;
  readonly policy: Policy;
  /** Names the groups of a file. */
  readonly directory: () => Promise<Directory | undefined>;
  readonly clock: { nowMs(): number };
  /** The console's address; absent: unknown. */
  readonly origin?: string;
  /** Sends owners the shadow report; absent: not possible here. */
  readonly tellOwner?: ReportSender;
  readonly log: Log;
  /** Source in the change log. @default 'api' */
  readonly source?: string;
  /**
   * Receives errors answered with 500 or 503, for a caller in the same process. @default only the log,
   * without a message
   */
  readonly onFailure?: (error: Error) => void;
}

export type ApiContext = Context<SignInEnv>;

const IF_MATCH = /^"([^"]{1,80})"$/;

/** Base set of edits; `missing`: not given. */
export function baseOf(header: string | undefined): { readonly base: string | undefined } | 'missing' {
  const set = IF_MATCH.exec(header ?? '')?.[1];
  if (set === undefined) return 'missing';
  return { base: set === NO_SET ? undefined : set };
}

export const etagOf = (set: string | undefined): string => `"${set ?? NO_SET}"`;

/** The author's reason and confirmation. */
export interface EditReason {
  readonly why: string;
  readonly confirmed?: boolean | undefined;
}

export const editedBy = (
  user: User,
  base: string | undefined,
  { why, confirmed }: EditReason,
  source = 'api',
): EditAuthor => ({
  ...actingUser(user),
  why,
  source,
  base,
  ...(confirmed === true && { confirmed }),
});

/** Longer lists do not help. */
const PROBLEMS_MAX = 50;

/** An invalid request gets all problems at once. */
export const invalidHook: Hook<unknown, SignInEnv, string, Response | undefined> = (result, c) => {
  if (result.success) return undefined;
  const problems = result.error.issues.slice(0, PROBLEMS_MAX).map(({ path, message }) => ({
    path: path.map((step) => (typeof step === 'symbol' ? String(step) : step)),
    message,
  }));
  const error = apiError(
    'invalid',
    'The question does not have the expected shape: see the problems.',
    'Correct them; /api/v1/openapi.json describes what is expected.',
  );
  return c.json({ ...error, problems } satisfies ApiError, 422);
};
