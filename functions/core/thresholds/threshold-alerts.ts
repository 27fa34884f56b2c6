/** Alerts owners when the use of a limit reaches a level: once per period, level and amount of the limit. */
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import { type DailyUsage, type Forecast, runOut } from '../../../policies/forecast.ts';
import { limitPeriod } from '../../../policies/limits/limits.ts';
import type { Period } from '../../../policies/limits/period.ts';
import { untilText } from '../../../policies/text/edge-text.ts';
import { oneLine } from '../../../policies/text/plain-text.ts';
import { unitRow } from '../../../policies/unit.ts';
import { amountText, bareAmountText, limitLabelOf, limitNameFirst } from '../../../policies/unit-texts.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { errorName, type LedgerClock, type Log } from '../environment/environment.ts';
import type { Counter } from '../ledger/ledger.ts';
import { linkTo, subjectPagePath } from '../notify/console-links.ts';
import { type Message, type Notifier, subjectLine } from '../notify/message.ts';
import { recipientKey } from '../notify/recipient.ts';
import { inParts, readInParts } from '../store/parts.ts';
import { type AlertRecordStore, type ChannelOutcome, isSent } from './alert-records.ts';
import { alertId, findAlerts, OVERDRAFT, type OwnedLimit, shortId, type ThresholdAlert } from './levels.ts';

export interface ThresholdAlertDeps {
  readonly findLimit: (key: CounterKey) => Promise<OwnedLimit | undefined>;
  readonly notify: Notifier;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  readonly records: AlertRecordStore;
  readonly currency: () => Promise<string>;
  readonly log: Log;
  readonly consoleUrl?: string | undefined;
  /** Reads the daily use of the limit's subject, in the limit's unit. @default no forecasts */
  readonly readDailyUse?: (key: CounterKey, owned: OwnedLimit) => Promise<readonly DailyUsage[]>;
}

/** Calls in parallel: a batch may move hundreds of counters. */
const PARALLEL_MAX = 16;
const KNOWN_MAX = 20_000;

/**
 * Returns a function that alerts the owners of counters:
 *
 * 1. Find the highest level that each counter has reached. The level counts, not the step to it: the next step of a counter makes up
 *    for a lost one.
 * 2. Drop the levels that the alert records show as sent.
 * 3. Send one message per recipient and 40 alerts, then record it.
 *
 * At least once: a crash before step 3 is complete sends the message again, under the same id. The other order could lose the only
 * warning. Batches of one counter must not run in parallel: the stream gives each partition to one reader.
 *
 * The returned function throws {@link NotifyError}: give the same counters again. Keep one per process: it remembers sent alerts, which
 * saves a read per counter write.
 */
export function thresholdAlerts(deps: ThresholdAlertDeps) {
  const known = new Set<string>();
  const remember = (alerts: readonly ThresholdAlert[]): void => {
    if (known.size > KNOWN_MAX) known.clear();
    for (const each of alerts) known.add(shortId(alertId(each)));
  };
  return async (counters: readonly Counter[]) => {
    const { records, clock, notify, consoleUrl } = deps;
    const reached = await findHighest(counters, deps);
    const unknown = reached.filter((each) => !known.has(shortId(alertId(each))));
    const recorded = await records.read(unknown.map(({ key }) => ({ of: 'thresholds', key })));
    const unsent = unknown.filter((each, index) => !isSent(each, recorded[index] ?? []));
    remember(unknown.filter((each) => !unsent.includes(each)));
    const nowMs = clock.nowMs();
    const parts = [...Map.groupBy(unsent, ({ to }) => recipientKey(to)).values()].flatMap((alerts) =>
      inParts(alerts, ALERTS_PER_MESSAGE_MAX),
    );
    let messages = 0;
    for (const part of parts) {
      const alerts = await inParallel(part, (each) => explain(each, nowMs, deps));
      try {
        await notify.send(alertMessage(alerts, { currency: await deps.currency(), nowMs, consoleUrl }));
      } catch (error) {
        // All recipients share the topic, so the remaining parts fail, too.
        await recordOutcome(parts.slice(messages).flat(), 'failed', deps);
        throw error;
      }
      messages += 1;
      await recordOutcome(alerts, 'taken', deps);
      remember(alerts);
    }
    return { sent: unsent.length, messages };
  };
}

async function findHighest(counters: readonly Counter[], { findLimit }: ThresholdAlertDeps) {
  const byCounter = [...Map.groupBy(counters, ({ key }) => counterName(key)).values()];
  const found = await inParallel(byCounter, async (writes) => {
    const [first] = writes;
    const owned = first && (await findLimit(first.key));
    if (owned === undefined) return [];
    const highest = new Map<string, ThresholdAlert>();
    // The level found last is the same or a higher one of equal amounts.
    for (const alert of writes.flatMap((counter) => findAlerts(counter, owned)))
      if ((highest.get(alert.measure)?.level.amount ?? 0) <= alert.level.amount)
        highest.set(alert.measure, alert);
    return [...highest.values()];
  });
  return found.flat();
}

/** Never throws: a lost record must not repeat a sent message, and a failed one is sent with the counter's next step. */
async function recordOutcome(
  alerts: readonly ThresholdAlert[],
  outcome: ChannelOutcome['outcome'],
  { records, clock, log }: ThresholdAlertDeps,
): Promise<void> {
  const channels: readonly ChannelOutcome[] = [{ channel: 'topic', outcome, atMs: clock.nowMs() }];
  await inParallel([...Map.groupBy(alerts, ({ key }) => counterName(key))], async ([counter, all]) => {
    const [{ key } = { key: undefined }] = all;
    if (key === undefined) return;
    try {
      await records.add(
        { of: 'thresholds', key },
        all.map(({ measure, level, limitAmount, to: { owner } }) => ({
          ...{ measure, level: level.name, levelAmount: level.amount, limitAmount, owner, channels },
        })),
      );
    } catch (error) {
      log.warn('alert not recorded', { counter, error: errorName(error) });
    }
  });
}

/** Counters of the last period still move, because a job settles in the period of its admission. */
async function explain(
  alert: ThresholdAlert,
  nowMs: number,
  { readDailyUse, log }: ThresholdAlertDeps,
): Promise<ExplainedAlert> {
  const { key, limit, limitAmount, committed } = alert;
  const period = limitPeriod(limit, nowMs);
  if (period?.key !== key.period) return alert;
  const left = limitAmount - committed;
  if (readDailyUse === undefined || left <= 0) return { ...alert, period };
  try {
    const usage = await readDailyUse(key, alert);
    const forecast = runOut({ usage, left, nowMs, untilMs: period.endMs, zone: limit.zone });
    return { ...alert, period, ...withoutAbsent({ forecast }) };
  } catch (error) {
    // The warning matters more than its forecast.
    log.warn('no forecast', { counter: counterName(key), error: errorName(error) });
    return { ...alert, period };
  }
}

const inParallel = <From, To>(all: readonly From[], work: (from: From) => Promise<To>) =>
  readInParts(all, (some) => Promise.all(some.map(work)), PARALLEL_MAX);

type AlertFormat = Pick<ThresholdAlertDeps, 'consoleUrl'> & Readonly<{ currency: string; nowMs: number }>;

export interface ExplainedAlert extends ThresholdAlert {
  /** The limit's period now; absent if the alert is about another one. */
  readonly period?: Period;
  /** Only for the current period, and only while some amount is left. */
  readonly forecast?: Forecast;
}

/** An alert takes at most 3 KB in all its forms, so the message stays below half of the 256 KB that SNS allows. */
export const ALERTS_PER_MESSAGE_MAX = 40;

/** @param alerts - of one recipient; at least one, at most {@link ALERTS_PER_MESSAGE_MAX}. */
export function alertMessage(alerts: readonly ExplainedAlert[], format: AlertFormat): Message {
  const sorted = alerts.toSorted((one, other) => reachedShare(other) - reachedShare(one));
  const [first, ...more] = sorted;
  const headline =
    first !== undefined && more.length === 0
      ? headlineText(first)
      : `${sorted.length} CI limits reached a threshold`;
  // Without numbers and forecasts: they differ when the message is sent again.
  const id = shortId(JSON.stringify(alerts.map((each) => alertId(each)).sort()));
  const isReached = sorted.some(({ level, limitAmount }) => level.amount >= limitAmount);
  return {
    subject: subjectLine(`Tollgate: ${headline}`),
    text: `${sorted.map((each) => alertText(each, format)).join('\n\n')}\n`,
    json: JSON.stringify({
      ...{ kind: 'thresholds', version: 1, id },
      alerts: sorted.map((each) => alertJson(each, format)),
    }),
    id,
    ...(first !== undefined && {
      attributes: { owner: first.to.owner, kind: 'thresholds', severity: isReached ? 'warning' : 'info' },
    }),
  };
}

/** Sorts the closest to their limit first. Any use of a limit of 0 is past it. */
const reachedShare = ({ level, limitAmount }: ThresholdAlert): number =>
  limitAmount === 0 ? Number.MAX_VALUE : level.amount / limitAmount;

const headlineText = (alert: ThresholdAlert): string =>
  `${limitNameFirst(alert.limit)} of ${limitLabelOf(alert)}: ${reachedText(alert)}`;

function reachedText({ level, measure }: ThresholdAlert): string {
  if (level.name === OVERDRAFT) return 'overdrawn';
  const reached = level.name === 'soft' ? 'soft limit' : level.name;
  return measure === 'spent' ? `${reached} spent` : `${reached} committed (spent + held)`;
}

function alertText(alert: ExplainedAlert, { currency, nowMs, consoleUrl }: AlertFormat): string {
  const { limit, period, key, forecast, spent, committed, limitAmount } = alert;
  const { owner, contact, unit, zone, mode } = limit;
  const bare = (amount: number): string => bareAmountText(amount, unit);
  const full = (amount: number): string => amountText(amount, unit, currency);
  const left = limitAmount - committed;
  const rest = left >= 0 ? `${amountText(left, unit, currency, 'down')} left` : `${full(-left)} over it`;
  const lines = [
    `${headlineText(alert)} (${oneLine(period?.label ?? key.period)}).`,
    `Spent ${bare(spent)} + held ${bare(committed - spent)} = ${bare(committed)} of ${full(limitAmount)}: ${rest}.`,
    forecast?.outcome === 'runs_out' &&
      `At the pace of the last weeks it runs out on ${untilText(forecast.atMs, zone, nowMs)}.`,
    owner !== undefined &&
      `Owner: ${oneLine(owner)}${contact === undefined ? '' : ` (${oneLine(contact)})`}.`,
    mode === 'warn' && 'This limit only warns: it rejects no job.',
    period !== undefined &&
      Number.isFinite(period.endMs) &&
      `Resets on ${untilText(period.endMs, zone, nowMs)}.`,
    linkTo(consoleUrl, subjectPagePath(key.subject)),
  ];
  return lines.filter(Boolean).join('\n  ');
}

/** Amounts are whole units, instants ISO 8601. */
function alertJson(alert: ExplainedAlert, { currency, consoleUrl }: AlertFormat): object {
  const { key, measure, level, spent, committed, limit, limitAmount, period, forecast } = alert;
  const { unit, mode, owner, contact } = limit;
  const instant = (atMs = Number.NaN) => (Number.isFinite(atMs) ? new Date(atMs).toISOString() : undefined);
  return {
    ...{ id: shortId(alertId(alert)), ...key, subjectLabel: limitLabelOf(alert) },
    ...{ measure, level: level.name, levelAmount: level.amount, limitAmount },
    ...{ spent, held: committed - spent, committed, unit, mode },
    ...(unitRow(unit).inCurrency && { currency }),
    ...withoutAbsent({ owner, contact, link: linkTo(consoleUrl, subjectPagePath(key.subject)) }),
    ...withoutAbsent({ resetsAt: instant(period?.endMs) }),
    ...withoutAbsent({ runsOutAt: forecast?.outcome === 'runs_out' ? instant(forecast.atMs) : undefined }),
  };
}
