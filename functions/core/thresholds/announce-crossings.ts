/** Tells people when a limit's use reached a level: once per period, level and amount of the limit. */
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import { type DailyUsage, type Forecast, runOut } from '../../../policies/forecast/forecast.ts';
import type { LedgerClock, Log } from '../environment/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { addresseeKey, type Message, type Notifier, subjectLine } from '../notify/index.ts';
import type { AlertMarkStore } from './alert-marks.ts';
import {
  type AmountCrossing,
  crossingId,
  type KnownCrossings,
  noteTold,
  shortId,
  untold,
} from './announced.ts';
import { type CrossingFormat, crossingHeadline, crossingJson, crossingText } from './crossing-text.ts';
import { crossings, type Transition } from './crossings.ts';
import { noteCrossings } from './note-crossings.ts';
import { type CountedPeriod, countedPeriod, type LimitOfSubject, type ToldCrossing } from './watched.ts';

export interface AnnounceCrossingsDeps {
  readonly ledger: Pick<Ledger, 'announceOnce'>;
  /** The limit a counter counts for, with the amount in force; undefined: there is none any more. */
  readonly limitOf: (key: CounterKey) => Promise<LimitOfSubject | undefined>;
  readonly notify: Notifier;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  /** Keep one per process: it saves asking the ledger again with every write of a counter. @default it asks */
  readonly knownTold?: KnownCrossings;
  /** Where it is noted, for people, what was told and what nobody took. */
  readonly alerts: Pick<AlertMarkStore, 'note'>;
  /** What is noted to have failed already. Keep one per process, likewise. @default it asks */
  readonly knownFailed?: KnownCrossings;
  /** ISO 4217 code of the deployment's currency. */
  readonly currency: string;
  readonly log: Log;
  /** Where browsers reach the console, for links. @default none */
  readonly consoleUrl?: string | undefined;
  /** What the limit's subject used of its unit per day of its zone. Absent: nothing is forecast. */
  readonly usageOf?: (key: CounterKey, watched: LimitOfSubject) => Promise<readonly DailyUsage[]>;
}

interface AnnouncedCrossings {
  readonly told: number;
  /** Reached again, or reported again: known since before. */
  readonly repeated: number;
  readonly messages: number;
}

/** Look-ups at once; they are cached reads, and a batch may move hundreds of counters. */
const LOOK_UPS_MAX = 16;

/**
 * At least once: a crossing is noted as told after its message was taken. A crash between the two sends the message
 * again with the batch, with the same ids, by which receivers and FIFO topics drop it; the other order would lose the
 * one warning there is. Batches of one counter must not run side by side; the stream gives a partition key to one
 * reader, in order.
 *
 * @throws {NotifyError} a message was not taken: those before it are noted, so give the same batch again.
 */
export async function announceCrossings(
  transitions: readonly Transition[],
  deps: AnnounceCrossingsDeps,
): Promise<AnnouncedCrossings> {
  const { ledger, clock, currency, notify, consoleUrl } = deps;
  const reached = await highestOf(transitions, deps);
  const news = await untold(reached, ledger, deps.knownTold);
  const nowMs = clock.nowMs();
  const parts = messagesOf(news);
  let messages = 0;
  for (const part of parts) {
    const told = await inParts(part, (each) => explained(each, nowMs, deps));
    try {
      await notify.send(crossingDigest(told, { currency, nowMs, consoleUrl }));
    } catch (error) {
      // The topic is everybody's: those behind this one are not told, either.
      await noteCrossings(parts.slice(messages).flat(), 'failed', deps);
      throw error;
    }
    messages += 1;
    await noteCrossings(told, 'taken', deps);
    await inParts(told, (each) => noteTold(each, ledger));
    deps.knownTold?.add(told);
  }
  return { told: news.length, repeated: reached.length - news.length, messages };
}

/** What stands in one message: crossings of one owner, so that nobody reads of others and a filter can choose. */
function messagesOf(news: readonly Reached[]): readonly (readonly Reached[])[] {
  const byOwner = Map.groupBy(news, ({ to }) => addresseeKey(to));
  return [...byOwner.values()].flatMap((ofOwner) =>
    Array.from({ length: Math.ceil(ofOwner.length / CROSSINGS_PER_MESSAGE_MAX) }, (_, at) =>
      ofOwner.slice(at * CROSSINGS_PER_MESSAGE_MAX, (at + 1) * CROSSINGS_PER_MESSAGE_MAX),
    ),
  );
}

interface Reached extends AmountCrossing, LimitOfSubject {}

/** Per counter and measure the highest level of the batch. */
async function highestOf(
  transitions: readonly Transition[],
  { limitOf }: AnnounceCrossingsDeps,
): Promise<readonly Reached[]> {
  const keys = new Map(transitions.map(({ after }) => [counterName(after.key), after.key]));
  const looked = await inParts([...keys], async ([name, key]) => [name, await limitOf(key)] as const);
  const watchedBy = new Map(looked);
  const highest = new Map<string, Reached>();
  for (const transition of transitions) {
    const watched = watchedBy.get(counterName(transition.after.key));
    if (watched === undefined || watched.limit.amount === 'unlimited') continue;
    const limitAmount = watched.limit.amount;
    // Told by its level, not by its step: the next step makes good for one that was lost.
    for (const crossing of crossings({ after: transition.after }, watched.limit)) {
      const reached = { crossing, limitAmount, ...watched };
      const name = crossingId(reached, '');
      const known = highest.get(name);
      if (known === undefined || known.crossing.passed.length < crossing.passed.length)
        highest.set(name, reached);
    }
  }
  return [...highest.values()];
}

async function explained(
  reached: Reached,
  nowMs: number,
  deps: AnnounceCrossingsDeps,
): Promise<ToldCrossing> {
  const period = countedPeriod(reached, reached.crossing.key, nowMs);
  const forecast = await forecastOf(reached, period, nowMs, deps);
  return { ...reached, period, ...(forecast !== undefined && { forecast }) };
}

async function forecastOf(
  reached: Reached,
  { endMs: untilMs, isOver }: CountedPeriod,
  nowMs: number,
  { usageOf, log }: AnnounceCrossingsDeps,
): Promise<Forecast | undefined> {
  const { crossing, limit, limitAmount } = reached;
  const left = limitAmount - crossing.committed;
  if (usageOf === undefined || isOver || untilMs === undefined || left <= 0) return undefined;
  try {
    const usage = await usageOf(crossing.key, reached);
    return runOut({ usage, left, nowMs, untilMs, zone: limit.zone });
  } catch (error) {
    // The warning matters more than when it would come true.
    log.warn('no forecast', {
      counter: counterName(crossing.key),
      error: error instanceof Error ? error.name : 'unknown failure',
    });
    return undefined;
  }
}

/** In order, a bounded number at once. */
async function inParts<From, To>(
  list: readonly From[],
  each: (from: From) => Promise<To>,
): Promise<readonly To[]> {
  const results: To[] = [];
  for (let start = 0; start < list.length; start += LOOK_UPS_MAX)
    results.push(...(await Promise.all(list.slice(start, start + LOOK_UPS_MAX).map(each))));
  return results;
}

/** Each takes at most 3 KB in all its forms, so that a message stays below half of what SNS takes. */
export const CROSSINGS_PER_MESSAGE_MAX = 40;

/**
 * Several crossings in one message, those nearest to their limit first.
 *
 * @param crossings - of one owner; at least one, at most {@link CROSSINGS_PER_MESSAGE_MAX}.
 */
export function crossingDigest(crossings: readonly ToldCrossing[], telling: CrossingFormat): Message {
  const sorted = [...crossings].sort((one, other) => shareOf(other) - shareOf(one));
  const [first] = sorted;
  const headline =
    first !== undefined && sorted.length === 1
      ? crossingHeadline(first)
      : `${sorted.length} CI limits reached a threshold`;
  const id = idOf(crossings);
  return {
    subject: subjectLine(`Tollgate: ${headline}`),
    text: `${sorted.map((each) => crossingText(each, telling)).join('\n\n')}\n`,
    json: JSON.stringify({
      kind: 'thresholds',
      version: 1,
      id,
      crossings: sorted.map((each) => crossingJson(each, telling)),
    }),
    id,
    ...(first !== undefined && {
      attributes: {
        owner: first.to.owner,
        kind: 'thresholds',
        severity: sorted.some(isReached) ? 'warning' : 'info',
      },
    }),
  };
}

/** The whole of a limit: from here on jobs are stopped, or would be. */
const isReached = ({ crossing, limitAmount }: ToldCrossing): boolean => crossing.level.amount >= limitAmount;

/** Nothing is further past its limit than what has a limit of 0. */
const shareOf = ({ crossing, limitAmount }: ToldCrossing): number =>
  limitAmount === 0 ? Number.MAX_VALUE : crossing.level.amount / limitAmount;

/** Hashes the crossings alone: numbers and forecasts differ when a message has to be sent again. */
const idOf = (crossings: readonly ToldCrossing[]): string =>
  shortId(JSON.stringify(crossings.map((each) => crossingId(each)).sort()));
