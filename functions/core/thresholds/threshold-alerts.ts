/** Alerts owners when the use of a limit reaches a level: once per period, level and amount of the limit. */
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import type { DailyUsage } from '../../../policies/forecast/daily-usage.ts';
import { type Forecast, runOut } from '../../../policies/forecast/run-out.ts';
import { limitPeriod } from '../../../policies/limits/limits.ts';
import type { LedgerClock, Log } from '../environment/index.ts';
import type { Counter, Ledger } from '../ledger/index.ts';
import type { Notifier } from '../notify/message.ts';
import { recipientKey } from '../notify/recipient.ts';
import {
  ALERTS_PER_MESSAGE_MAX,
  type AlertPeriod,
  alertMessage,
  type ExplainedAlert,
} from './alert-message.ts';
import { type AlertRecordStore, type ChannelOutcome, keptUntilMs } from './alert-records.ts';
import { alertId, findAlerts, type OwnedLimit, shortId, type ThresholdAlert } from './levels.ts';

export interface AlertOwnersDeps {
  readonly ledger: Pick<Ledger, 'announceOnce'>;
  /** Resolves to undefined if the counter has no limit any more. */
  readonly findLimit: (key: CounterKey) => Promise<OwnedLimit | undefined>;
  readonly notify: Notifier;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  /** Alerts that the process knows to be sent. Keep one per process: it saves a question to the ledger per counter write. */
  readonly knownSent?: AlertCache;
  readonly records: Pick<AlertRecordStore, 'add'>;
  /** Failed alerts that the process has recorded. Keep one per process. */
  readonly knownFailed?: AlertCache;
  /** ISO 4217 code. */
  readonly currency: string;
  readonly log: Log;
  /** @default no links */
  readonly consoleUrl?: string | undefined;
  /** Reads the daily use of the limit's subject, in the limit's unit. @default no forecasts */
  readonly readDailyUse?: (key: CounterKey, owned: OwnedLimit) => Promise<readonly DailyUsage[]>;
}

/** Some 100 bytes each. */
const CACHED_MAX = 20_000;

/** Remembers alerts. The oldest are forgotten; the ledger is asked about them again. */
export class AlertCache {
  readonly #ids = new Set<string>();

  has(alert: ThresholdAlert): boolean {
    return this.#ids.has(shortId(alertId(alert)));
  }

  add(alerts: readonly ThresholdAlert[]): void {
    for (const each of alerts) this.#ids.add(shortId(alertId(each)));
    for (const id of this.#ids) {
      if (this.#ids.size <= CACHED_MAX) return;
      this.#ids.delete(id);
    }
  }
}

interface AlertReport {
  readonly sent: number;
  readonly repeated: number;
  readonly messages: number;
}

const TIMEOUT_MS = 2_000;
/** An announcement that ended before it began leaves nothing, not even for a clock that is ten minutes behind. */
const ASK_ONLY_TTL_MS = -600_000;
/** The ledger asks for all keys of a call in parallel. */
const ASKED_IN_ONE_CALL_MAX = 50;
/** Calls in parallel: a batch may move hundreds of counters. */
const PARALLEL_MAX = 16;

/**
 * 1. Find the highest level that each counter has reached. The level counts, not the step to it: the next step of a counter makes up
 *    for a lost one.
 * 2. Drop the levels that the ledger has announced in this period.
 * 3. Send one message per recipient and 40 alerts, then record it, then announce it.
 *
 * At least once: a crash before step 3 is complete sends the message again, under the same id. The other order could lose the only
 * warning. Batches of one counter must not run in parallel: the stream gives each partition to one reader.
 *
 * @throws {NotifyError} Earlier messages are announced, so give the same batch again.
 */
export async function alertOwners(counters: readonly Counter[], deps: AlertOwnersDeps): Promise<AlertReport> {
  const { ledger, clock, currency, notify, consoleUrl, knownSent } = deps;
  const reached = await findHighest(counters, deps);
  const unsent = await findUnsent(reached, deps);
  const nowMs = clock.nowMs();
  const parts = [...Map.groupBy(unsent, ({ to }) => recipientKey(to)).values()].flatMap((alerts) =>
    chunked(alerts, ALERTS_PER_MESSAGE_MAX),
  );
  let messages = 0;
  for (const part of parts) {
    const alerts = await inParallel(part, (each) => explain(each, nowMs, deps));
    try {
      await notify.send(alertMessage(alerts, { currency, nowMs, consoleUrl }));
    } catch (error) {
      // All recipients share the topic, so the remaining parts fail, too.
      await recordOutcome(parts.slice(messages).flat(), 'failed', deps);
      throw error;
    }
    messages += 1;
    await recordOutcome(alerts, 'taken', deps);
    await inParallel(alerts, (each) => announce(each, ledger));
    knownSent?.add(alerts);
  }
  return { sent: unsent.length, repeated: reached.length - unsent.length, messages };
}

async function findHighest(
  counters: readonly Counter[],
  { findLimit }: AlertOwnersDeps,
): Promise<readonly ThresholdAlert[]> {
  const keys = new Map(counters.map(({ key }) => [counterName(key), key]));
  const limits = new Map(
    await inParallel([...keys], async ([name, key]) => [name, await findLimit(key)] as const),
  );
  const highest = new Map<string, ThresholdAlert>();
  for (const counter of counters) {
    const owned = limits.get(counterName(counter.key));
    for (const alert of owned === undefined ? [] : findAlerts(counter, owned)) {
      const name = alertId(alert, '');
      if ((highest.get(name)?.passed.length ?? 0) < alert.passed.length) highest.set(name, alert);
    }
  }
  return [...highest.values()];
}

async function findUnsent(
  alerts: readonly ThresholdAlert[],
  { ledger, knownSent }: AlertOwnersDeps,
): Promise<readonly ThresholdAlert[]> {
  const unsent: ThresholdAlert[] = [];
  const unknown = alerts.filter((each) => knownSent?.has(each) !== true);
  for (const part of chunked(unknown, ASKED_IN_ONE_CALL_MAX)) {
    const ids = part.map((each) => alertId(each));
    const isNew = await ledger.announceOnce(ids, { ttlMs: ASK_ONLY_TTL_MS, timeoutMs: TIMEOUT_MS });
    unsent.push(...part.filter((_, index) => isNew[index] !== false));
    knownSent?.add(part.filter((_, index) => isNew[index] === false));
  }
  return unsent;
}

/** Announces the level and all below it. The level comes last: until then the whole alert counts as unsent. */
async function announce(alert: ThresholdAlert, ledger: AlertOwnersDeps['ledger']): Promise<void> {
  const options = { ttlMs: keptUntilMs(alert.key.period, 0), timeoutMs: TIMEOUT_MS };
  const below = alert.passed.slice(0, -1).map(({ name }) => alertId(alert, name));
  if (below.length > 0) await ledger.announceOnce(below, options);
  await ledger.announceOnce([alertId(alert)], options);
}

/** Never throws: a lost record must not repeat a sent message, and a failed one is sent with the counter's next step. */
async function recordOutcome(
  alerts: readonly ThresholdAlert[],
  outcome: ChannelOutcome['outcome'],
  { records, knownFailed, clock, log }: AlertOwnersDeps,
): Promise<void> {
  const news = outcome === 'taken' ? alerts : alerts.filter((each) => knownFailed?.has(each) !== true);
  const channels: readonly ChannelOutcome[] = [{ channel: 'topic', outcome, atMs: clock.nowMs() }];
  await inParallel([...Map.groupBy(news, ({ key }) => counterName(key))], async ([counter, all]) => {
    const [{ key } = { key: undefined }] = all;
    if (key === undefined) return;
    try {
      await records.add(
        { of: 'crossings', key },
        all.map(({ measure, level, limitAmount, to: { owner } }) => ({
          ...{ measure, level: level.name, levelAmount: level.amount, limitAmount, owner, channels },
        })),
      );
      if (outcome === 'failed') knownFailed?.add(all);
    } catch (error) {
      log.warn('alert not recorded', { counter, error: errorName(error) });
    }
  });
}

async function explain(alert: ThresholdAlert, nowMs: number, deps: AlertOwnersDeps): Promise<ExplainedAlert> {
  const period = findPeriod(alert, nowMs);
  const forecast = await readForecast(alert, period, nowMs, deps);
  return { ...alert, period, ...(forecast !== undefined && { forecast }) };
}

/** Counters of past periods still move: a job settles in the period of its admission. */
function findPeriod({ key, limit }: ThresholdAlert, nowMs: number): AlertPeriod {
  const current = limitPeriod(limit, nowMs);
  if (current === undefined) return { label: key.period, isOver: false };
  const { startMs, endMs } = current;
  if (current.key === key.period) return { label: current.label, endMs, isOver: false };
  // If this clock is behind the writer's, the counter is of the next period.
  const next = Number.isFinite(endMs) ? limitPeriod(limit, endMs) : undefined;
  if (next?.key === key.period) return { label: next.label, endMs: next.endMs, isOver: false };
  const last = Number.isFinite(startMs) ? limitPeriod(limit, startMs - 1) : undefined;
  return last?.key === key.period
    ? { label: last.label, endMs: last.endMs, isOver: true }
    : { label: key.period, isOver: true };
}

/** Returns undefined on failure: the warning matters more than its forecast. */
async function readForecast(
  alert: ThresholdAlert,
  { endMs: untilMs, isOver }: AlertPeriod,
  nowMs: number,
  { readDailyUse, log }: AlertOwnersDeps,
): Promise<Forecast | undefined> {
  const { key, limit, limitAmount, committed } = alert;
  const left = limitAmount - committed;
  if (readDailyUse === undefined || isOver || untilMs === undefined || left <= 0) return undefined;
  try {
    const usage = await readDailyUse(key, alert);
    return runOut({ usage, left, nowMs, untilMs, zone: limit.zone });
  } catch (error) {
    log.warn('no forecast', { counter: counterName(key), error: errorName(error) });
    return undefined;
  }
}

const errorName = (error: unknown): string => (error instanceof Error ? error.name : 'unknown failure');

const chunked = <Each>(all: readonly Each[], size: number): readonly (readonly Each[])[] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));

/** Keeps the order of the results. */
async function inParallel<From, To>(
  all: readonly From[],
  work: (from: From) => Promise<To>,
): Promise<readonly To[]> {
  const results: To[] = [];
  for (const part of chunked(all, PARALLEL_MAX)) results.push(...(await Promise.all(part.map(work))));
  return results;
}
