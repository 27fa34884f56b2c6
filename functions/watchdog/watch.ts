/** One look of the watchdog: is a relay there, and if not, does GitLab know that it must not wait for one? */
import { withoutAbsent } from '../../policies/without-absent.ts';
import type { Log } from '../core/environment/index.ts';
import { type Controller, GitLabError } from '../core/gitlab/index.ts';
import { type Message, type Notifier, NotifyError, subjectLine } from '../core/notify/message.ts';
import { SILENT_MS } from '../core/store/index.ts';
import { watchFailures } from './watch-failures.ts';
import type { WatchdogMark, WatchTable } from './watch-table.ts';

/** That a relay was seen needs no write a minute; a mark this old is as good as a new one. */
const REMEMBER_EVERY_MS = 600_000;
/** Repeats pages until people end the problem. */
export const PAGE_EVERY_MS = 900_000;

export type WatchOutcome =
  /** A relay has been heard within the last two minutes. */
  | 'relay_heard'
  /** Likewise, but GitLab refuses the token that the watchdog would need without one. */
  | 'token_refused'
  /** No relay ever sent a heartbeat: a first deployment. */
  | 'never_heard'
  /** No relay, and GitLab asks none or does not follow its answer: nothing to be done. */
  | 'not_armed'
  | 'disarmed'
  /** A job that was admitted failed at the router all the same. */
  | 'disarmed_for_job'
  /** A user armed it again without a relay. The watchdog only reports it. */
  | 'armed_without_relay'
  /** No relay, or an admitted job that failed, and GitLab could not be reached. */
  | 'gitlab_unreachable';

interface WatchDeps {
  readonly table: WatchTable;
  readonly controller: Controller;
  /** Tries the token while it is not needed. */
  readonly proveToken: () => Promise<'accepted' | 'refused'>;
  readonly notify: Notifier;
  readonly clock: { nowMs(): number };
  readonly log: Log;
  /** The GitLab host, for the page. */
  readonly instance: string;
}

/**
 * Sets the controller to `dry_run` when it is `enabled` and no relay was heard for two minutes; once per silence, and
 * never back. Nothing is done if the table does not answer: silence must be seen to be believed.
 *
 * @throws {LedgerError} `ledger_unavailable`
 */
export async function watch(deps: WatchDeps): Promise<WatchOutcome> {
  const { table, clock } = deps;
  const [beatAtMs, before] = await Promise.all([table.newestBeatMs(), table.readMark()]);
  const heardAtMs = latest(beatAtMs, before?.heardAtMs);
  if (heardAtMs === undefined) return 'never_heard';
  const { outcome, mark = before } = await watchFailures({ ...before, heardAtMs }, deps);
  if (outcome !== undefined) return outcome;
  // A relay's clock may be ahead, by no more than a signature may be: the beat was taken by AWS.
  if (clock.nowMs() - heardAtMs <= SILENT_MS) {
    await remember(heardAtMs, mark, table);
    return (await deps.proveToken()) === 'refused' ? 'token_refused' : 'relay_heard';
  }
  return actOnSilence({ ...mark, heardAtMs }, deps);
}

async function remember(heardAtMs: number, mark: WatchdogMark | undefined, table: WatchTable): Promise<void> {
  const known = mark !== undefined && heardAtMs - mark.heardAtMs < REMEMBER_EVERY_MS;
  // State of the last silence must not affect the next.
  if (!known || mark.disarmedForMs !== undefined || mark.pagedAtMs !== undefined) {
    const { yetFailedMs, yetFailedUntold } = mark ?? {};
    await table.writeMark({ heardAtMs, ...withoutAbsent({ yetFailedMs, yetFailedUntold }) });
  }
}

async function actOnSilence(mark: WatchdogMark, deps: WatchDeps): Promise<WatchOutcome> {
  const { controller, table } = deps;
  const done = mark.disarmedForMs === mark.heardAtMs;
  try {
    if ((await controller.state()) !== 'enabled') {
      // The watchdog disarmed it, and on-call was not notified yet.
      if (done && mark.pagedAtMs === undefined) await page('disarmed', mark, deps);
      return 'not_armed';
    }
    if (done) {
      await page('armed_without_relay', mark, deps);
      return 'armed_without_relay';
    }
    await controller.disarm();
  } catch (error) {
    if (!(error instanceof GitLabError)) throw error;
    deps.log.error('watchdog: no relay, and GitLab does not answer', { error: error.message });
    await page('gitlab_unreachable', mark, deps);
    return 'gitlab_unreachable';
  }
  const { heardAtMs } = mark;
  const { yetFailedMs, yetFailedUntold } = mark;
  const disarmed: WatchdogMark = {
    ...{ heardAtMs, disarmedForMs: heardAtMs },
    ...withoutAbsent({ yetFailedMs, yetFailedUntold }),
  };
  await table.writeMark(disarmed);
  await page('disarmed', disarmed, deps);
  return 'disarmed';
}

/** Pages on-call, at most every 15 min. A failed page is retried by the next run. */
async function page(
  what: 'disarmed' | 'armed_without_relay' | 'gitlab_unreachable',
  mark: WatchdogMark,
  { clock, notify, table, log, instance }: WatchDeps,
): Promise<void> {
  const nowMs = clock.nowMs();
  if (mark.pagedAtMs !== undefined && nowMs - mark.pagedAtMs < PAGE_EVERY_MS) return;
  try {
    await notify.send(pageOf(what, { instance, heardAtMs: mark.heardAtMs, nowMs }));
  } catch (error) {
    if (!(error instanceof NotifyError)) throw error;
    log.error('watchdog: the page was not taken over', { error: error.message });
    return;
  }
  await table.writeMark({ ...mark, pagedAtMs: nowMs });
}

const latest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);

interface PageFacts {
  readonly instance: string;
  /** When a relay was last heard, Unix ms. */
  readonly heardAtMs: number;
  readonly nowMs: number;
}

const PAGES = {
  disarmed: {
    subject: 'no relay: the controller was set to dry_run',
    text:
      'Jobs run without being asked about: no limit holds, and what they cost is charged from their webhooks.\n' +
      'Find out why no relay runs, start one, then arm again by hand: glab runner-controller update <id> --state enabled',
  },
  armed_without_relay: {
    subject: 'the controller is enabled and there is no relay',
    text:
      'Somebody armed it after the watchdog had disarmed it. GitLab fails every job it would ask about.\n' +
      'Start a relay, or disarm: glab runner-controller update <id> --state dry_run',
  },
  gitlab_unreachable: {
    subject: 'no relay, and GitLab cannot be told',
    text:
      'While the controller is enabled, GitLab fails every job it would ask about. Nothing was changed.\n' +
      "Disarm by hand: glab runner-controller update <id> --state dry_run. Then see the watchdog's log for why it could not.",
  },
} as const;

/** First lines of a page. */
function pageOf(what: keyof typeof PAGES, { instance, heardAtMs, nowMs }: PageFacts): Message {
  const { subject, text } = PAGES[what];
  const silentMinutes = Math.floor((nowMs - heardAtMs) / 60_000);
  const id = `watchdog-${what}-${heardAtMs}-${nowMs}`;
  const heardAt = new Date(heardAtMs).toISOString();
  return {
    subject: subjectLine(`Tollgate ${instance}: ${subject}`),
    text: `No relay of ${instance} was heard for ${silentMinutes} min, the last at ${heardAt}.\n${text}`,
    json: JSON.stringify({ id, kind: 'watchdog', what, instance, heardAt, silentMinutes }),
    id,
  };
}
