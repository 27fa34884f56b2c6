/**
 * One run of the watchdog. It disarms the controller (`dry_run`) in two cases, and pages on-call:
 *
 * - No relay was heard for two minutes: GitLab would fail every job that it asks about. Once per silence, and never back.
 * - GitLab failed a job that was admitted: an armed controller is not obeyed. Once for each such job that is news.
 */
import { withoutAbsent } from '../../policies/without-absent.ts';
import type { Log } from '../core/environment/environment.ts';
import type { Controller } from '../core/gitlab/controller.ts';
import { GitLabError } from '../core/gitlab/gitlab.ts';
import { type Notifier, subjectLine } from '../core/notify/message.ts';
import { queryPage, singleItem } from '../core/store/calls.ts';
import { dynamoYetFailed, SILENT_MS, type YetFailedMark } from '../core/store/health-items.ts';
import { ledgerKeys } from '../core/store/keys.ts';
import { type InstanceTable, type Item, TimeLimit } from '../core/store/operation.ts';
import { answered, unavailable } from '../core/store/table-failure.ts';
import { HEARTBEAT_AT } from '../names.ts';

/** That a relay was seen needs no write a minute; a mark this old is as good as a new one. */
const REMEMBER_EVERY_MS = 600_000;
export const PAGE_EVERY_MS = 900_000;
/** Older failures are ignored, e.g. by a watchdog that was just enabled. */
const NEWS_MS = 900_000;
/** A token that works now is asked about again after this; one that does not, with every run. */
const PROVEN_FOR_MS = 3_600_000;

export type WatchOutcome =
  | 'relay_heard'
  /** Likewise, but GitLab refuses the token that the watchdog would need without one. */
  | 'token_refused'
  | 'never_heard'
  /** No relay, and GitLab asks none or does not follow its answer: nothing to be done. */
  | 'not_armed'
  | 'disarmed'
  | 'disarmed_for_job'
  /** A user armed it again without a relay. The watchdog only reports it. */
  | 'armed_without_relay'
  /** No relay, or an admitted job that failed, and GitLab could not be reached. */
  | 'gitlab_unreachable';

interface WatchDeps {
  readonly table: WatchTable;
  readonly controller: Controller;
  readonly proveToken: () => Promise<'accepted' | 'refused'>;
  readonly notify: Notifier;
  readonly clock: { nowMs(): number };
  readonly log: Log;
  readonly instance: string;
}

/** Nothing is done if the table does not answer: silence must be seen to be believed. @throws {LedgerError} */
export async function watch(deps: WatchDeps): Promise<WatchOutcome> {
  const { table, clock } = deps;
  const [beatAtMs, before] = await Promise.all([table.newestHeartbeatMs(), table.readMark()]);
  const heard = [beatAtMs, before?.heardAtMs].filter((atMs) => atMs !== undefined);
  if (heard.length === 0) return 'never_heard';
  const heardAtMs = Math.max(...heard);
  const mark = await watchFailures(before, heardAtMs, deps);
  if (typeof mark === 'string') return mark;
  // A relay's clock may be ahead, by no more than a signature may be: the beat was taken by AWS.
  if (clock.nowMs() - heardAtMs > SILENT_MS) return actOnSilence({ ...mark, heardAtMs }, deps);
  const isRemembered = mark !== undefined && heardAtMs - mark.heardAtMs < REMEMBER_EVERY_MS;
  if (!isRemembered || mark.disarmedForMs !== undefined || mark.pagedAtMs !== undefined)
    await table.writeMark({ heardAtMs, ...withoutAbsent({ yetFailedMs: mark?.yetFailedMs }) });
  return (await deps.proveToken()) === 'refused' ? 'token_refused' : 'relay_heard';
}

async function disarm(
  mayDisarm: boolean,
  { controller, log }: WatchDeps,
): Promise<'disarmed' | 'armed' | 'not_armed' | 'gitlab_unreachable'> {
  try {
    if ((await controller.state()) !== 'enabled') return 'not_armed';
    if (mayDisarm) await controller.disarm();
    return mayDisarm ? 'disarmed' : 'armed';
  } catch (error) {
    if (!(error instanceof GitLabError)) throw error;
    log.error('watchdog: GitLab could not be asked to disarm', { error: error.message });
    return 'gitlab_unreachable';
  }
}

async function actOnSilence(mark: WatchdogState, deps: WatchDeps): Promise<WatchOutcome> {
  const { heardAtMs } = mark;
  const isDone = mark.disarmedForMs === heardAtMs;
  const state = await disarm(!isDone, deps);
  if (state === 'not_armed') {
    // An earlier run disarmed it and could not page.
    if (isDone && mark.pagedAtMs === undefined) await pageSilence('disarmed', mark, deps);
    return state;
  }
  const outcome = state === 'armed' ? 'armed_without_relay' : state;
  let written = mark;
  if (outcome === 'disarmed') {
    const { yetFailedMs } = mark;
    written = { heardAtMs, disarmedForMs: heardAtMs, ...withoutAbsent({ yetFailedMs }) };
    await deps.table.writeMark(written);
  }
  await pageSilence(outcome, written, deps);
  return outcome;
}

async function watchFailures(
  mark: WatchdogState | undefined,
  heardAtMs: number,
  deps: WatchDeps,
): Promise<'disarmed_for_job' | 'gitlab_unreachable' | WatchdogState | undefined> {
  const { table, clock, instance } = deps;
  const failed = await table.latestYetFailed();
  if (failed === undefined) return mark;
  const { jobId, atMs } = failed;
  const { yetFailedMs = 0, yetFailedUnsent, ...silence }: Partial<WatchdogState> = mark ?? {};
  const isUnsent = yetFailedUnsent === true && atMs === yetFailedMs;
  if ((atMs <= yetFailedMs && !isUnsent) || clock.nowMs() - atMs > NEWS_MS) return mark;
  const state = isUnsent ? 'disarmed' : await disarm(true, deps);
  if (state === 'gitlab_unreachable') return state;
  const noted = { ...silence, heardAtMs, yetFailedMs: atMs };
  await table.writeMark(state === 'disarmed' ? { ...noted, yetFailedUnsent: true } : noted);
  // Decisions are not obeyed now, so this failure is old news when it is armed again.
  if (state !== 'disarmed') return noted;
  const fact = `Job ${jobId} of ${instance} was admitted, and GitLab failed it all the same; found at ${new Date(atMs).toISOString()}.`;
  await page('disarmed_for_job', `${atMs}`, fact, { jobId }, deps);
  await table.writeMark(noted);
  return 'disarmed_for_job';
}

const PAGES = {
  disarmed: [
    'no relay: the controller was set to dry_run',
    'Jobs run without being asked about: no limit holds, and what they cost is charged from their webhooks.\n' +
      'Find out why no relay runs, start one, then arm again by hand: glab runner-controller update <id> --state enabled',
  ],
  armed_without_relay: [
    'the controller is enabled and there is no relay',
    'It was armed after the watchdog had disarmed it. GitLab fails every job it would ask about.\n' +
      'Start a relay, or disarm: glab runner-controller update <id> --state dry_run',
  ],
  gitlab_unreachable: [
    'no relay, and GitLab is unreachable',
    'While the controller is enabled, GitLab fails every job it would ask about. Nothing was changed.\n' +
      "Disarm by hand: glab runner-controller update <id> --state dry_run. Then see the watchdog's log for why it could not.",
  ],
  disarmed_for_job: [
    'an admitted job failed: the controller was set to dry_run',
    'Perhaps GitLab reads our answers as the opposite, or another controller refuses jobs. Jobs run now, and no limit holds.\n' +
      'Find out why: AdmittedYetFailed in the runbook. Then arm again by hand: glab runner-controller update <id> --state enabled',
  ],
} as const;

/** @throws {NotifyError} if the topic does not take it: the function's own alarm reports it. */
async function page(
  what: keyof typeof PAGES,
  key: string,
  fact: string,
  fields: object,
  { notify, instance }: WatchDeps,
): Promise<void> {
  const [subject, text] = PAGES[what];
  const id = `watchdog-${what}-${key}`;
  await notify.send({
    subject: subjectLine(`Tollgate ${instance}: ${subject}`),
    text: `${fact}\n${text}`,
    json: JSON.stringify({ id, kind: 'watchdog', what, instance, ...fields }),
    id,
  });
}

async function pageSilence(what: keyof typeof PAGES, mark: WatchdogState, deps: WatchDeps): Promise<void> {
  const { heardAtMs, pagedAtMs = Number.NEGATIVE_INFINITY } = mark;
  const nowMs = deps.clock.nowMs();
  if (nowMs - pagedAtMs < PAGE_EVERY_MS) return;
  const silentMinutes = Math.floor((nowMs - heardAtMs) / 60_000);
  const heardAt = new Date(heardAtMs).toISOString();
  const fact = `No relay of ${deps.instance} was heard for ${silentMinutes} min, the last at ${heardAt}.`;
  await page(what, `${heardAtMs}-${nowMs}`, fact, { heardAt, silentMinutes }, deps);
  await deps.table.writeMark({ ...mark, pagedAtMs: nowMs });
}

/** Tests the watchdog's token in normal times: it may have expired. A GitLab that does not answer proves nothing about it. */
export function tokenProof({
  controller,
  clock,
  log,
}: Pick<WatchDeps, 'clock' | 'log'> & {
  readonly controller: Pick<Controller, 'state'>;
}): WatchDeps['proveToken'] {
  let provenAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const nowMs = clock.nowMs();
    if (nowMs - provenAtMs < PROVEN_FOR_MS) return 'accepted';
    try {
      await controller.state();
      provenAtMs = nowMs;
      return 'accepted';
    } catch (error) {
      if (!(error instanceof GitLabError)) throw error;
      if (error.code === 'gitlab_unavailable' || error.code === 'gitlab_rate_limited') return 'accepted';
      log.error('watchdog: it could not disarm the controller', { error: error.message });
      return 'refused';
    }
  };
}

type WatchTable = ReturnType<typeof dynamoWatchTable>;

export interface WatchdogState {
  /** A relay was heard then, Unix ms, or up to ten minutes later. */
  readonly heardAtMs: number;
  /** The controller was disarmed in the silence after this time: the same as `heardAtMs` while that silence lasts. */
  readonly disarmedForMs?: number;
  readonly pagedAtMs?: number;
  /** The job that failed although admitted, by when it was found, Unix ms: it was acted on, or needed no act. */
  readonly yetFailedMs?: number;
  readonly yetFailedUnsent?: true;
}

const TABLE_TIMEOUT_MS = 3_000;

export function dynamoWatchTable({
  table,
  instance,
  disarmsAfterFailedJob = false,
}: InstanceTable & {
  /** @default false: such jobs are not read, and no right is needed */
  readonly disarmsAfterFailedJob?: boolean;
}) {
  const keys = ledgerKeys(instance);
  const mark = singleItem<WatchdogState>({
    ...{ table, consistent: true, key: keys.watchdogMark, name: "the watchdog's mark" },
    encode: ({ heardAtMs, disarmedForMs, pagedAtMs, yetFailedMs, yetFailedUnsent }) => ({
      he: { N: String(heardAtMs) },
      ...(disarmedForMs !== undefined && { di: { N: String(disarmedForMs) } }),
      ...(pagedAtMs !== undefined && { pg: { N: String(pagedAtMs) } }),
      ...(yetFailedMs !== undefined && { yf: { N: String(yetFailedMs) } }),
      ...(yetFailedUnsent && { yu: { BOOL: true } }),
    }),
    decode: (item) => {
      const heardAtMs = numberIn(item, 'he');
      if (heardAtMs === undefined) return undefined;
      const [disarmedForMs, pagedAtMs] = [numberIn(item, 'di'), numberIn(item, 'pg')];
      const yetFailedMs = numberIn(item, 'yf');
      const yetFailedUnsent = item.yu?.BOOL || undefined;
      return { heardAtMs, ...withoutAbsent({ disarmedForMs, pagedAtMs, yetFailedMs, yetFailedUnsent }) };
    },
  });
  return {
    async newestHeartbeatMs(): Promise<number | undefined> {
      // One page holds the beats of some ten thousand relays; those of the last hour are kept.
      const ask = { pk: keys.heartbeatPk, attributes: [HEARTBEAT_AT], consistent: true };
      const { items } = await answered('read the heartbeats', unavailable(table), () =>
        queryPage(table, ask, new TimeLimit(TABLE_TIMEOUT_MS)),
      );
      const heartbeats = items.flatMap((item) => numberIn(item, HEARTBEAT_AT) ?? []);
      return heartbeats.length === 0 ? undefined : Math.max(...heartbeats);
    },
    latestYetFailed: async (): Promise<YetFailedMark | undefined> =>
      disarmsAfterFailedJob ? dynamoYetFailed({ table, instance }).read() : undefined,
    readMark: (): Promise<WatchdogState | undefined> => mark.read(),
    writeMark: (written: WatchdogState): Promise<void> => mark.write(written),
  };
}

function numberIn(item: Item, attribute: string): number | undefined {
  const value = Number(item[attribute]?.N ?? Number.NaN);
  return Number.isSafeInteger(value) ? value : undefined;
}
