/** Why jobs of a runner pass Tollgate by, and what to do about it: GitLab tells neither, so both follow from what is known. */
import type { RunnerDetail } from '../reading/reading.ts';
import type { BYPASS_REASONS } from './model.ts';

interface BypassRemedy {
  readonly reason: (typeof BYPASS_REASONS)[number];
  readonly remedy: string;
}

/** @param jobs - of the runner; undefined is answered where all of them were asked about */
export function bypassRemedy(
  { asked, bypass }: { readonly asked: number; readonly bypass: number },
  { version }: RunnerDetail,
): BypassRemedy | undefined {
  if (bypass === 0) return undefined;
  const age = ageOf(version);
  if (age === 'before_router') return { reason: 'too_old', remedy: `${version} ${TOO_OLD} ${IN_CONFIG}` };
  if (asked > 0) return { reason: 'asks_at_times', remedy: `${AT_TIMES} ${FALLS_BACK}` };
  return { reason: 'never_asks', remedy: REMEDIES[age] };
}

type RunnerAge = 'before_router' | 'by_environment' | 'by_config' | 'unknown';

/** From 18.9 the flag is read of the environment, from 18.11 of each runner's part of the configuration. */
function ageOf(version: string | undefined): RunnerAge {
  const [, major, minor] = /^v?(\d{1,4})\.(\d{1,4})(?!\d)/.exec(version ?? '') ?? [];
  if (major === undefined || minor === undefined) return 'unknown';
  const number = Number(major) * 10_000 + Number(minor);
  if (number < 18 * 10_000 + 9) return 'before_router';
  return number < 18 * 10_000 + 11 ? 'by_environment' : 'by_config';
}

const IN_ENVIRONMENT =
  'Set the environment variable FF_USE_JOB_ROUTER=true for the gitlab-runner process, and restart it.';
const IN_CONFIG = 'Set FF_USE_JOB_ROUTER = true under [runners.feature_flags] of this runner in config.toml.';
const TOO_OLD = 'does not know the job router: upgrade GitLab Runner to 18.11 or later.';

const REMEDIES: Readonly<Record<Exclude<RunnerAge, 'before_router'>, string>> = {
  by_environment: IN_ENVIRONMENT,
  by_config: IN_CONFIG,
  unknown: `Its version is not known. From 18.11: ${lower(IN_CONFIG)} 18.9 and 18.10: ${lower(IN_ENVIRONMENT)} Before 18.9: upgrade.`,
};

const AT_TIMES =
  'Some of its jobs were asked about: look for a host that shares its token and has no FF_USE_JOB_ROUTER, or an older version.';
const FALLS_BACK =
  'From about 19.2 a runner also goes past the job router while that does not answer: its metric gitlab_runner_job_router_fallbacks_total counts that.';

function lower(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}
