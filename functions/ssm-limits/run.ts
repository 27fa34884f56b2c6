import { isRecord } from '../../policies/document/reading.ts';
import type { LedgerClock, Log } from '../core/environment/index.ts';
import type { Metrics } from '../core/metrics/index.ts';
import { METRIC_LIMITS_UNREADABLE } from '../names.ts';
import { type SsmSyncDeps, type SsmSyncReport, syncLimits } from './sync.ts';

interface RunDeps extends SsmSyncDeps {
  readonly log: Log;
  readonly metrics: Metrics;
}

/** One invocation. A run that fails counts like a parameter that cannot be read: so the same alarm tells of it. */
export async function runOn(event: unknown, deps: RunDeps): Promise<void> {
  const { marks, clock, log, metrics } = deps;
  try {
    const atMs = changedAtMs(event, clock.nowMs());
    const listed = async () => (await marks.readPass()).completeFromMs;
    if (!(await isTimeFor(atMs, listed, clock))) return;
    const report = await syncLimits(deps);
    logSsmReport(report, log);
    measureSsmReport(report, metrics);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    log.error('limits in Parameter Store not read, the last valid ones stay', { cause });
    metrics.add(METRIC_LIMITS_UNREADABLE, 1);
    metrics.flush();
    throw error;
  }
}

// What starts a run: the schedule, or a change of a parameter. An event says only that it is time; its content is not used.
/** After a change it is waited so long, so that changes that come together are one run. */
const QUIET_MS = 10_000;
/** What was written so long before a listing began is in it. */
const LISTED_AFTER_MS = 2_000;

/** When a parameter was changed, Unix ms; now, if its time is unreadable; undefined: it is the schedule. */
function changedAtMs(event: unknown, nowMs: number): number | undefined {
  if (!isRecord(event) || event.source !== 'aws.ssm') return undefined;
  const atMs = typeof event.time === 'string' ? Date.parse(event.time) : Number.NaN;
  // EventBridge cuts times to whole seconds.
  return Number.isNaN(atMs) ? nowMs : atMs + 999;
}

/**
 * Waits until a change has settled. False: a listing that began later came to its end, so there is nothing to do.
 *
 * @param completeFromMs - when the last complete listing began, Unix ms.
 */
async function isTimeFor(
  atMs: number | undefined,
  completeFromMs: () => Promise<number | undefined>,
  clock: Pick<LedgerClock, 'nowMs' | 'sleep'>,
): Promise<boolean> {
  if (atMs === undefined) return true;
  const listedFromMs = await completeFromMs();
  if (listedFromMs !== undefined && atMs + LISTED_AFTER_MS <= listedFromMs) return false;
  const waitMs = Math.min(atMs + QUIET_MS - clock.nowMs(), QUIET_MS);
  if (waitMs > 0) await clock.sleep(waitMs);
  return true;
}

/** More lines of one run help nobody. */
const LINES_MAX = 20;
const PROBLEMS_MAX = 5;

/** What a run did. A refused parameter is told each time, until it is corrected or deleted: so its alarm stays on. */
function logSsmReport(report: SsmSyncReport, log: Log): void {
  const { outcome, listed, complete, applied, refused, kept, left } = report;
  for (const { name, version, problems } of refused.slice(0, LINES_MAX))
    log.error('parameter refused, its last valid version stays', {
      parameter: name,
      version,
      problems: problems.slice(0, PROBLEMS_MAX),
    });
  for (const { name, limit, why } of kept.slice(0, LINES_MAX))
    log.warn('limit left as it is', { parameter: name, limit, why });
  const counts = { listed, complete, applied: applied.length, refused: refused.length, left };
  if (outcome === 'done') log.info('limits from parameters', counts);
  else if (listed > 0) log.error(NO_DIRECTORY, counts);
}

const NO_DIRECTORY =
  'no parameter is taken: the groups of GitLab were never listed, so no path can be compared';

/** Parameters whose last valid version had to stay. */
function measureSsmReport({ outcome, listed, refused }: SsmSyncReport, metrics: Metrics): void {
  const stay = outcome === 'done' ? refused.length : listed;
  if (stay > 0) metrics.add(METRIC_LIMITS_UNREADABLE, stay);
  metrics.flush();
}
