/** Explains why a runner's jobs bypass Tollgate, with a remedy, from known facts: GitLab reports neither. */
import { fallsBack, type RouterAccess, type RunnerDetail, routerAccess } from '../../core/gitlab/index.ts';
import type { BYPASS_REASONS } from './model.ts';

interface BypassRemedy {
  readonly reason: (typeof BYPASS_REASONS)[number];
  readonly remedy: string;
}

/** @param jobs - of the runner. Returns undefined if all had an admission request. */
export function bypassRemedy(
  { asked, bypass }: { readonly asked: number; readonly bypass: number },
  { version }: RunnerDetail,
): BypassRemedy | undefined {
  if (bypass === 0) return undefined;
  const access = routerAccess(version);
  if (access === 'none') return { reason: 'too_old', remedy: `${version} ${TOO_OLD} ${IN_CONFIG}` };
  if (asked === 0) return { reason: 'never_asks', remedy: REMEDIES[access] };
  const mayFallBack = access === 'unknown' || fallsBack(version);
  return { reason: 'asks_at_times', remedy: mayFallBack ? `${AT_TIMES} ${FALLS_BACK}` : AT_TIMES };
}

const IN_ENVIRONMENT =
  'Set the environment variable FF_USE_JOB_ROUTER=true for the gitlab-runner process, and restart it.';
const IN_CONFIG = 'Set FF_USE_JOB_ROUTER = true under [runners.feature_flags] of this runner in config.toml.';
const TOO_OLD = 'does not know the job router: upgrade GitLab Runner to 18.11 or later.';

const REMEDIES: Readonly<Record<Exclude<RouterAccess, 'none'>, string>> = {
  environment: IN_ENVIRONMENT,
  feature_flag: IN_CONFIG,
  unknown: `Its version is not known. From 18.11: ${lower(IN_CONFIG)} 18.9 and 18.10: ${lower(IN_ENVIRONMENT)} Before 18.9: upgrade.`,
};

const AT_TIMES =
  'Some of its jobs were asked about: look for a host that shares its token and has no FF_USE_JOB_ROUTER, or an older version.';
const FALLS_BACK =
  'From about 19.2 a runner also goes past the job router while that does not answer: its metric gitlab_runner_job_router_fallbacks_total counts that.';

function lower(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}
