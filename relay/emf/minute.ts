/** What a relay says to CloudWatch of one minute, counted up from its events. */
import type { Metric } from '../../functions/core/contract/index.ts';
import { decisionMs, type RelayEvent } from '../events.ts';
import * as names from '../names.ts';

/** Zeros from the beginning: a minute without questions is told, too. */
const COUNTED = [
  names.RELAY_QUESTIONS,
  names.RELAY_ADMITTED,
  names.RELAY_REJECTED,
  names.RELAY_FALLBACK_ANSWERS,
  names.RELAY_UNREADABLE_QUESTIONS,
  names.RELAY_REJECTIONS_WITHHELD,
  names.RELAY_ANSWERS_REFUSED,
  names.RELAY_OWN_FAULTS,
  names.RELAY_RECONNECTS,
  names.RELAY_UNMETERED_DROPPED,
] as const;

type Counted = (typeof COUNTED)[number];

export class Minute {
  readonly #counts = new Map<Counted, number>(COUNTED.map((metric) => [metric, 0]));
  readonly #latenciesMs: Sample;
  readonly #waitsMs: Sample;
  readonly #batchJobs: Sample;
  /** Covers the relay's whole life. */
  #everConnected = false;
  #open = 0;
  #fewestOpen: number | undefined;
  /** Now, and at any time of this minute. */
  #suspect = 0;
  #mostSuspect = 0;
  #fieldsMissing = 0;
  #waiting = 0;
  #mostWaiting = 0;
  #queued = 0;
  #mostQueued = 0;
  #directoryAgeMs = 0;
  #oldestDirectoryMs = 0;

  /** @param random - [0, 1) */
  constructor(random: () => number) {
    this.#latenciesMs = new Sample(random);
    this.#waitsMs = new Sample(random);
    this.#batchJobs = new Sample(random);
  }

  note(event: RelayEvent): void {
    switch (event.type) {
      case 'streams':
        this.#open = event.open;
        this.#fewestOpen = Math.min(this.#fewestOpen ?? event.open, event.open);
        return;
      case 'connected':
        if (this.#everConnected) this.#count(names.RELAY_RECONNECTS);
        // A relay that starts has none for a moment, which is no outage.
        else this.#fewestOpen = undefined;
        this.#everConnected = true;
        return;
      case 'question':
        this.#count(names.RELAY_QUESTIONS);
        return;
      case 'answered':
        this.#count(event.answer.outcome === 'admitted' ? names.RELAY_ADMITTED : names.RELAY_REJECTED);
        if (event.via === 'fallback') this.#count(names.RELAY_FALLBACK_ANSWERS);
        this.#latenciesMs.add(Math.round(decisionMs(event) * 10) / 10);
        if (event.waitedMs !== undefined) this.#waitsMs.add(Math.round(event.waitedMs));
        return;
      case 'waiting':
        this.#waiting = event.jobs;
        this.#mostWaiting = Math.max(this.#mostWaiting, event.jobs);
        return;
      case 'unreadable':
        this.#count(names.RELAY_UNREADABLE_QUESTIONS);
        return;
      case 'schema':
        this.#suspect = event.standing === 'suspect' || event.standing === 'placeholder' ? 1 : 0;
        this.#mostSuspect = Math.max(this.#mostSuspect, this.#suspect);
        return;
      case 'rejection_withheld':
        this.#count(names.RELAY_REJECTIONS_WITHHELD);
        return;
      case 'answer_refused':
        this.#count(names.RELAY_ANSWERS_REFUSED);
        return;
      case 'fields':
        this.#fieldsMissing = event.missing.length;
        return;
      case 'own_fault':
        this.#count(names.RELAY_OWN_FAULTS);
        return;
      case 'batch':
        this.#batchJobs.add(event.jobs);
        return;
      case 'directory':
        this.#directoryAgeMs = event.ageMs;
        this.#oldestDirectoryMs = Math.max(this.#oldestDirectoryMs, event.ageMs);
        return;
      case 'unmetered':
        this.#queued = event.queued;
        this.#mostQueued = Math.max(this.#mostQueued, event.queued);
        this.#count(names.RELAY_UNMETERED_DROPPED, event.dropped);
        return;
    }
  }

  /**
   * The minute's values; the next minute begins.
   *
   * @param leaving - streams that a relay closes because it was told to stop are not told.
   */
  take({ leaving }: { readonly leaving: boolean }): ReadonlyMap<Metric, readonly number[]> {
    const measured = new Map<Metric, readonly number[]>();
    for (const metric of COUNTED) {
      measured.set(metric, [this.#counts.get(metric) ?? 0]);
      this.#counts.set(metric, 0);
    }
    if (!leaving) measured.set(names.RELAY_STREAMS_OPEN, [this.#fewestOpen ?? this.#open]);
    measured.set(names.RELAY_SCHEMA_SUSPECT, [this.#mostSuspect]);
    measured.set(names.RELAY_FIELDS_MISSING, [this.#fieldsMissing]);
    measured.set(names.RELAY_UNMETERED_QUEUED, [this.#mostQueued]);
    measured.set(names.RELAY_ANSWER_LATENCY_MS, this.#latenciesMs.take());
    measured.set(names.RELAY_WAITING, this.#mostWaiting > 0 ? [this.#mostWaiting] : []);
    measured.set(names.RELAY_WAIT_MS, this.#waitsMs.take());
    measured.set(names.RELAY_BATCH_JOBS, this.#batchJobs.take());
    measured.set(names.RELAY_DIRECTORY_AGE_SECONDS, [Math.round(this.#oldestDirectoryMs / 1_000)]);
    this.#oldestDirectoryMs = this.#directoryAgeMs;
    this.#fewestOpen = this.#open;
    this.#mostWaiting = this.#waiting;
    this.#mostQueued = this.#queued;
    this.#mostSuspect = this.#suspect;
    return measured;
  }

  #count(metric: Counted, by = 1): void {
    this.#counts.set(metric, (this.#counts.get(metric) ?? 0) + by);
  }
}

/** Forty a second for a minute are kept whole; beyond that, each has the same chance to be among these. */
export const SAMPLE_MAX = 2_400;

/** A bounded, fair choice of the values of a minute, and always the largest of them: a reservoir. */
class Sample {
  readonly #random: () => number;
  #kept: number[] = [];
  #seen = 0;
  #largest = Number.NEGATIVE_INFINITY;

  /** @param random - [0, 1) */
  constructor(random: () => number) {
    this.#random = random;
  }

  add(value: number): void {
    this.#seen += 1;
    this.#largest = Math.max(this.#largest, value);
    if (this.#kept.length < SAMPLE_MAX) {
      this.#kept.push(value);
      return;
    }
    const place = Math.floor(this.#random() * this.#seen);
    if (place < SAMPLE_MAX) this.#kept[place] = value;
  }

  /** What was kept, and begins anew. */
  take(): readonly number[] {
    const taken = this.#seen > SAMPLE_MAX ? [...this.#kept, this.#largest] : this.#kept;
    this.#kept = [];
    this.#seen = 0;
    this.#largest = Number.NEGATIVE_INFINITY;
    return taken;
  }
}
