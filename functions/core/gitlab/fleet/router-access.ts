/** Support of the job router in a version of GitLab Runner. */
export type RouterAccess =
  /** Before 18.9: it asks GitLab for jobs past the router. */
  | 'none'
  /** 18.9 and 18.10: `FF_USE_JOB_ROUTER=true` in the environment of the process. */
  | 'environment'
  /** Since 18.11: `[runners.feature_flags]` of the runner's configuration. */
  | 'feature_flag'
  | 'unknown';

/** Two versions of a fleet, compared by their first two numbers: patches differ every week. */
export const byVersion = (a: string, b: string): number => {
  const [left, right] = [minorOf(a), minorOf(b)];
  return (left?.major ?? 0) - (right?.major ?? 0) || (left?.minor ?? 0) - (right?.minor ?? 0);
};

/** `18.11.2`, `v18.11.2`, `19.0.0~pre.3` and the like → `18.11`; undefined for what is no version. */
function minorOf(version: string): { readonly major: number; readonly minor: number } | undefined {
  const [, major, minor] = /^v?(\d{1,4})\.(\d{1,4})(?!\d)/.exec(version) ?? [];
  return major === undefined ? undefined : { major: Number(major), minor: Number(minor) };
}

/** `development`, as people call what they built themselves, may be anything. */
export function routerAccess(version: string | undefined): RouterAccess {
  if (version === undefined || minorOf(version) === undefined) return 'unknown';
  if (byVersion(version, '18.9') < 0) return 'none';
  return byVersion(version, '18.11') < 0 ? 'environment' : 'feature_flag';
}

/**
 * Since about 19.2 a runner bypasses the router for half a minute after three router failures in a row. Jobs
 * in that time have no admission request.
 */
export const fallsBack = (version: string | undefined): boolean =>
  version !== undefined && minorOf(version) !== undefined && byVersion(version, '19.2') >= 0;
