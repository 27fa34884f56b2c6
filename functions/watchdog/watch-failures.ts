/** Watches admitted jobs that GitLab failed, which shows that an armed controller is not obeyed. */
import type { Log } from '../core/environment/index.ts';
import { type Controller, GitLabError } from '../core/gitlab/index.ts';
import { type Message, type Notifier, NotifyError, subjectLine } from '../core/notify/message.ts';
import type { YetFailedMark } from '../core/store/index.ts';
import type { WatchdogMark, WatchTable } from './watch-table.ts';

/** Older ones are ignored, e.g. by a watchdog that was just enabled. */
const NEWS_MS = 900_000;

interface FailureDeps {
  readonly table: Pick<WatchTable, 'latestYetFailed' | 'writeMark'>;
  readonly controller: Controller;
  readonly notify: Notifier;
  readonly clock: { nowMs(): number };
  readonly log: Log;
  /** The GitLab host, for the page. */
  readonly instance: string;
}

interface FailureOutcome {
  /** Undefined: nothing was to be done. */
  readonly outcome?: 'disarmed_for_job' | 'gitlab_unreachable';
  /** The mark as it stands now, where it was written. */
  readonly mark?: WatchdogMark;
}

/**
 * Sets an armed controller to `dry_run` after the first such job, once for each that is news, and pages.
 *
 * @throws {LedgerError} `ledger_unavailable`
 */
export async function watchFailures(mark: WatchdogMark, deps: FailureDeps): Promise<FailureOutcome> {
  const { table, clock, controller, log } = deps;
  const failed = await table.latestYetFailed();
  if (failed === undefined) return {};
  const isNews = failed.atMs > (mark.yetFailedMs ?? 0) && clock.nowMs() - failed.atMs <= NEWS_MS;
  if (!isNews) {
    // The watchdog disarmed it, and on-call was not notified yet.
    const isUntold = mark.yetFailedUntold === true && mark.yetFailedMs === failed.atMs;
    return isUntold ? { mark: await tell(failed, mark, deps) } : {};
  }
  try {
    if ((await controller.state()) !== 'enabled') {
      // Decisions are not obeyed now, so this failure is old news when it is armed again.
      const passed = { ...withoutFailure(mark), yetFailedMs: failed.atMs };
      await table.writeMark(passed);
      return { mark: passed };
    }
    await controller.disarm();
  } catch (error) {
    if (!(error instanceof GitLabError)) throw error;
    log.error('watchdog: an admitted job failed, and GitLab does not answer', { error: error.message });
    return { outcome: 'gitlab_unreachable' };
  }
  const disarmed: WatchdogMark = {
    ...withoutFailure(mark),
    ...{ yetFailedMs: failed.atMs, yetFailedUntold: true },
  };
  await table.writeMark(disarmed);
  return { outcome: 'disarmed_for_job', mark: await tell(failed, disarmed, deps) };
}

const withoutFailure = ({ yetFailedMs: _, yetFailedUntold: __, ...mark }: WatchdogMark): WatchdogMark => mark;

/** @returns the mark as it stands then. */
async function tell(
  failed: YetFailedMark,
  mark: WatchdogMark,
  { table, notify, log, instance }: FailureDeps,
): Promise<WatchdogMark> {
  try {
    await notify.send(pageOf(failed, instance));
  } catch (error) {
    if (!(error instanceof NotifyError)) throw error;
    log.error('watchdog: the page was not taken over', { error: error.message });
    return mark;
  }
  const told = { ...withoutFailure(mark), yetFailedMs: failed.atMs };
  await table.writeMark(told);
  return told;
}

function pageOf({ jobId, atMs }: YetFailedMark, instance: string): Message {
  const id = `watchdog-disarmed_for_job-${atMs}`;
  return {
    subject: subjectLine(`Tollgate ${instance}: an admitted job failed: the controller was set to dry_run`),
    text:
      `Job ${jobId} of ${instance} was admitted, and GitLab failed it all the same; found at ${new Date(atMs).toISOString()}.\n` +
      'Perhaps GitLab reads our answers as the opposite, or another controller refuses jobs. Jobs run now, and no limit holds.\n' +
      'Find out why: AdmittedYetFailed in the runbook. Then arm again by hand: glab runner-controller update <id> --state enabled',
    json: JSON.stringify({ id, kind: 'watchdog', what: 'disarmed_for_job', instance, jobId }),
    id,
  };
}
