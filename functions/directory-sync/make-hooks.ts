import { z } from 'zod';
import type { DirectorySyncReport } from '../core/directory/sync.ts';
import type { Log } from '../core/environment/environment.ts';
import { GitLabError } from '../core/gitlab/gitlab.ts';
import { HOOK_EVENTS, hookSetting, isHookUrl } from '../core/gitlab/group-hooks.ts';
import { changed, pageQuery, type RestCallDeps, readPage } from '../core/gitlab/rest-call.ts';
import type { Metrics } from '../core/metrics.ts';
import { FUNCTION_METRIC } from '../names.ts';

interface HookMaker {
  readonly url: string;
  readonly reading: RestCallDeps;
  readonly making: RestCallDeps;
  readonly secrets: () => Promise<readonly string[]>;
  readonly nowMs: number;
  readonly log: Log;
}

/** New groups have the highest ids: they are looked at in every run. */
const NEWEST = 5;
/** The others take turns: 200 groups in an hour, for four calls a minute. */
const IN_TURN = 20;
const RUN_MS = 300_000;
const NAME = 'tollgate';
const HookUrl = z.object({ url: z.string() });

/** Makes the webhook of top-level groups that have none, some groups in each run. */
export async function makeHooks(rootIds: readonly number[], maker: HookMaker): Promise<void> {
  const { url, reading, making, nowMs, log } = maker;
  const made: string[] = [];
  try {
    for (const groupId of inTurn(rootIds, nowMs)) {
      const path = `/groups/${groupId}/hooks`;
      const { hooks } = await readPage('hooks', path, pageQuery({}, undefined), HookUrl, reading);
      if (hooks.some((hook) => isHookUrl(hook.url, url))) continue;
      const [secret] = await maker.secrets();
      if (secret === undefined) return;
      const setting = { ...hookSetting(NAME, url, secret, groupId), ...HOOK_EVENTS };
      await changed('POST', path, setting, z.unknown(), making);
      made.push(String(groupId));
    }
  } catch (error) {
    // The directory is synced all the same. A client's own message could quote what it was given.
    const why = error instanceof GitLabError ? error.message : error instanceof Error ? error.name : '';
    log.warn('webhooks could not be made', { error: why });
  }
  if (made.length > 0) log.info('webhooks made for new groups', { groups: made });
}

/** The newest, and a slice of the others that moves on with every run; no mark is kept of it. */
function inTurn(rootIds: readonly number[], nowMs: number): readonly number[] {
  const newestFirst = [...rootIds].sort((a, b) => b - a);
  const others = newestFirst.slice(NEWEST);
  const slices = Math.ceil(others.length / IN_TURN);
  const slice = slices === 0 ? 0 : Math.floor(nowMs / RUN_MS) % slices;
  return [...newestFirst.slice(0, NEWEST), ...others.slice(slice * IN_TURN, (slice + 1) * IN_TURN)];
}

const FORCE_REMEDY =
  'does the token belong to an administrator? If they are gone: tollgate directory sync --force';

export function logDirectoryReport(report: DirectorySyncReport, log: Log): void {
  const { rootIds, ...counts } = report;
  log.info('directory synced', { ...counts, roots: rootIds.length });
  if (report.groupsListing === 'refused') {
    log.error('directory: GitLab lists far fewer groups than before; nothing is dropped', {
      groups: report.groups,
      groupsMissing: report.groupsMissing,
      remedy: FORCE_REMEDY,
    });
  }
  if (report.projectsRefused > 0) {
    log.error('directory: GitLab lists far fewer projects than before; none is dropped', {
      projectsMissing: report.projectsRefused,
      remedy: FORCE_REMEDY,
    });
  }
  if (report.failure !== undefined) {
    log.warn('directory: GitLab did not answer to the end', { failure: report.failure, calls: report.calls });
  }
}

/** One run as a metric. The one of two runs that counts says it; before a first listing there is nothing to say. */
export function measureDirectoryReport(
  { outcome, groupsListedAgeMs }: DirectorySyncReport,
  metrics: Metrics,
): void {
  if (outcome === 'stale' || groupsListedAgeMs === undefined) return;
  // At least a second, because zeros are not written and silence is an alarm.
  metrics.add(FUNCTION_METRIC.directoryAgeSeconds, Math.max(1, groupsListedAgeMs / 1000));
  metrics.flush();
}
