/**
 * Writes one line per minute that CloudWatch turns into metrics (embedded metric format), counted from the relay's events. In a quiet
 * minute it has the number of streams alone. Memory is bounded.
 */
import { emfLine, type Metric } from '../../functions/core/contract/emf-document.ts';
import { FUNCTION_METRIC } from '../../functions/names.ts';
import { Timers } from '../connection.ts';
import type { EventOf, RelayEvent, RelayObserver } from '../events.ts';
import type { RelayClock } from '../exchange.ts';
import * as names from '../names.ts';

export const WRITE_EVERY_MS = 60_000;

export function startEmf(options: {
  readonly deployment: string;
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly write: (line: string) => void;
}) {
  const { deployment, clock, random, write } = options;
  const minute = new Minute(random);
  let leaving = false;
  const timers = new Timers<'minute'>(clock);

  function writeMinute(): void {
    const line = emfLine(deployment, clock.nowMs(), minute.take({ leaving }));
    if (line !== undefined) write(`${line}\n`);
  }

  timers.every('minute', WRITE_EVERY_MS, writeMinute);
  return {
    observe: ((event) => minute.note(event)) satisfies RelayObserver,
    leave: () => {
      leaving = true;
    },
    stop: () => {
      timers.cancelAll();
      writeMinute();
    },
  };
}

interface Row {
  readonly type: RelayEvent['type'];
  readonly metric: Metric;
  readonly read: (event: RelayEvent) => number | undefined;
}

const row = <Type extends RelayEvent['type']>(
  type: Type,
  metric: Metric,
  read: (event: EventOf<Type>) => number | undefined = () => 1,
): Row => ({ type, metric, read: read as Row['read'] });

export const SUMS = [
  row('request', names.RELAY_METRIC.requests),
  row('answered', names.RELAY_METRIC.admitted, ({ answer }) => Number(answer.outcome === 'admitted')),
  row('answered', names.RELAY_METRIC.rejected, ({ answer }) => Number(answer.outcome === 'rejected')),
  row('answered', names.RELAY_METRIC.fallbackAnswers, ({ via }) => Number(via === 'fallback')),
  row('unreadable', names.RELAY_METRIC.unreadableRequests),
  row('rejection_withheld', names.RELAY_METRIC.rejectionsWithheld),
  row('answer_refused', names.RELAY_METRIC.answersRefused),
  row('own_fault', names.RELAY_METRIC.ownFaults),
  row('connected', names.RELAY_METRIC.reconnects, ({ again }) => Number(again)),
  row('unmetered', names.RELAY_METRIC.unmeteredDropped, ({ dropped }) => dropped),
];

/** Half of the age at which RelayDirectoryStale is on. */
const FRESH_MS = 15 * 60_000;

/** The largest value of the minute, which begins with the last value of the minute before. */
export const LEVELS = [
  row('schema', names.RELAY_METRIC.schemaSuspect, ({ state }) =>
    Number(state === 'suspect' || state === 'placeholder'),
  ),
  row('fields', names.RELAY_METRIC.fieldsMissing, ({ missing }) => missing.length),
  row('waiting', names.RELAY_METRIC.waiting, ({ jobs }) => jobs),
  row('unmetered', names.RELAY_METRIC.unmeteredQueued, ({ queued }) => queued),
  row('rules', FUNCTION_METRIC.rulesBehindSeconds, ({ behindMs }) => Math.round(behindMs / 1_000)),
  row('directory', names.RELAY_METRIC.relayDirectoryAgeSeconds, ({ ageMs }) =>
    ageMs < FRESH_MS ? 0 : Math.round(ageMs / 1_000),
  ),
];

export const SAMPLES = [
  row(
    'answered',
    names.RELAY_METRIC.answerLatencyMs,
    ({ latencyMs, waitedMs = 0 }) => Math.round(Math.max(0, latencyMs - waitedMs) * 10) / 10,
  ),
  row('answered', names.RELAY_METRIC.waitMs, ({ waitedMs }) => waitedMs && Math.round(waitedMs)),
  row('batch', names.RELAY_METRIC.batchJobs, ({ jobs }) => jobs),
];

export class Minute {
  readonly #sums = new Map<Metric, number>();
  readonly #levels = new Map<Metric, { now: number; max: number }>();
  readonly #samples: ReadonlyMap<Metric, ReturnType<typeof sampleOf>>;
  #open = 0;
  #fewestOpen: number | undefined;

  constructor(random: () => number) {
    this.#samples = new Map(SAMPLES.map(({ metric }) => [metric, sampleOf(random)]));
  }

  note(event: RelayEvent): void {
    this.#noteStreams(event);
    for (const { type, metric, read } of SUMS)
      if (type === event.type) this.#sums.set(metric, (this.#sums.get(metric) ?? 0) + (read(event) ?? 0));
    for (const { type, metric, read } of LEVELS) {
      if (type !== event.type) continue;
      const now = read(event) ?? 0;
      this.#levels.set(metric, { now, max: Math.max(now, this.#levels.get(metric)?.max ?? 0) });
    }
    for (const { type, metric, read } of SAMPLES) {
      const value = type === event.type ? read(event) : undefined;
      if (value !== undefined) this.#samples.get(metric)?.add(value);
    }
  }

  /** Returns the minute's values and begins the next. @param leaving - leaves out the streams, which the relay closes. */
  take({ leaving }: { readonly leaving: boolean }): ReadonlyMap<Metric, readonly number[]> {
    const taken = new Map<Metric, readonly number[]>();
    for (const { metric } of SUMS) taken.set(metric, [this.#sums.get(metric) ?? 0]);
    for (const { metric } of LEVELS) taken.set(metric, [this.#levels.get(metric)?.max ?? 0]);
    for (const [metric, sample] of this.#samples) taken.set(metric, sample.take());
    if (!leaving) taken.set(names.RELAY_METRIC.streamsOpen, [this.#fewestOpen ?? this.#open]);
    this.#sums.clear();
    for (const level of this.#levels.values()) level.max = level.now;
    this.#fewestOpen = this.#open;
    return taken;
  }

  #noteStreams(event: RelayEvent): void {
    if (event.type === 'streams') {
      this.#open = event.open;
      this.#fewestOpen = Math.min(this.#fewestOpen ?? event.open, event.open);
    } else if (event.type === 'connected' && !event.again) {
      // A relay that starts has no stream for a moment, which is no outage.
      this.#fewestOpen = undefined;
    }
  }
}

/** Forty values per second are kept whole. Of more, each has the same chance to be kept (reservoir sampling). */
const SAMPLE_MAX = 2_400;

function sampleOf(random: () => number) {
  let kept: number[] = [];
  let seen = 0;
  return {
    add(value: number): void {
      seen += 1;
      const index = seen <= SAMPLE_MAX ? kept.length : Math.floor(random() * seen);
      if (index < SAMPLE_MAX) kept[index] = value;
    },
    take(): readonly number[] {
      const taken = kept;
      kept = [];
      seen = 0;
      return taken;
    },
  };
}
