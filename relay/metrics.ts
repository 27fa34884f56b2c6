import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { decisionMs, noticeOf, type RelayEvent, type RelayObserver } from './events.ts';
import * as names from './names.ts';

/** Fields of a newer router are few; an attacker's are not. */
const UNKNOWN_FIELD_LABELS_MAX = 50;
/** Around the 16 ms we aim for and the 2 s after which the fallback answers. */
const LATENCY_SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 3];
const WAIT_SECONDS = [0.25, 0.5, 1, 2, 5, 10, 15, 20, 25];
const BATCH_JOBS = [1, 2, 4, 8, 16, 32, 64, 96];
/** As numbers, so that an alarm can compare: 0 is well. */
const BREAKER_STATES = { closed: 0, half_open: 1, open: 2 } as const;

export interface RelayMetrics {
  readonly observe: RelayObserver;
  /** Prometheus text format. */
  render(): Promise<string>;
}

/** Counts what the relay says. One registry per relay, so that two in a process do not share numbers. */
export function createMetrics(): RelayMetrics {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const counter = <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[] = [],
  ): Counter<Label> => new Counter({ name, help, labelNames, registers });

  const open = gauge(names.METRIC_STREAMS_OPEN, 'AdmitJob streams open at the router.');
  const waiting = gauge(names.METRIC_STREAMS_WAITING, 'Of those, without a question yet.');
  const reconnects = counter(names.METRIC_RECONNECTS, 'Times a stream opened after there was none.');
  const questions = counter(names.METRIC_QUESTIONS, 'Questions the router asked.');
  const decisions = counter(names.METRIC_DECISIONS, 'Answers given, by outcome and who decided.', [
    'outcome',
    'via',
  ]);
  const rejections = counter(
    names.METRIC_REJECTIONS,
    'Rejections, by notice: a repeat has been told before, e.g. before GitLab retried the job by itself.',
    ['notice'],
  );
  const fallback = counter(names.METRIC_FALLBACK, 'Answers given without the ledger, by cause.', ['cause']);
  const unheard = counter(names.METRIC_UNHEARD, 'Answers nobody was there to hear.');
  const latency = new Histogram({
    name: names.METRIC_LATENCY,
    help: 'From question to answer, without what a job was kept waiting for room.',
    buckets: LATENCY_SECONDS,
    registers,
  });
  const waitingJobs = gauge(names.METRIC_WAITING, 'Jobs kept waiting for room.');
  const wait = new Histogram({
    name: names.METRIC_WAIT,
    help: 'How long jobs were kept waiting for room.',
    buckets: WAIT_SECONDS,
    registers,
  });
  const batchJobs = new Histogram({
    name: names.METRIC_BATCH_JOBS,
    help: 'Jobs per batch sent to the admit function.',
    buckets: BATCH_JOBS,
    registers,
  });
  const unknownFields = counter(names.METRIC_UNKNOWN_FIELDS, 'Questions with a field the schema lacks.', [
    'field',
  ]);
  const unreadable = counter(names.METRIC_UNREADABLE, 'Questions that could not be read.');
  const suspicious = counter(names.METRIC_SUSPICIOUS, 'Questions whose variables contradict GitLab.');
  const implausible = counter(names.METRIC_IMPLAUSIBLE, 'Questions that cannot be true as they were read.');
  const schemaInfo = new Gauge({
    name: names.METRIC_SCHEMA_INFO,
    help: 'Always 1; the labels say which descriptors are in use.',
    labelNames: ['hash', 'source', 'placeholder'],
    registers,
  });
  const schemaProven = gauge(
    names.METRIC_SCHEMA_PROVEN,
    'Whether the schema is proven: 1. While it is not, nothing is rejected: 0.',
  );
  const withheld = counter(
    names.METRIC_REJECTIONS_WITHHELD,
    'Jobs admitted because the schema was not proven, by how far it was.',
    ['standing'],
  );
  const refused = counter(
    names.METRIC_ANSWERS_REFUSED,
    'Answers that the router did not accept, by outcome.',
    ['outcome'],
  );
  const fieldsMissing = gauge(
    names.METRIC_FIELDS_MISSING,
    'Fields that rules need and GitLab does not send, or not any more.',
  );
  const ownFaults = counter(names.METRIC_OWN_FAULTS, 'Mistakes of the relay itself, by place.', ['place']);
  const breaker = gauge(names.METRIC_BREAKER, 'Circuit breaker: 0 closed, 1 half open, 2 open.');
  const directoryAge = gauge(names.METRIC_DIRECTORY_AGE, 'Seconds since all groups of GitLab were listed.');
  const unmeteredQueued = gauge(
    names.METRIC_UNMETERED_QUEUED,
    'Fallback answers the ledger does not know yet.',
  );
  const unmeteredPosted = counter(names.METRIC_UNMETERED_POSTED, 'Fallback answers told to the ledger.');
  const unmeteredJournaled = counter(
    names.METRIC_UNMETERED_JOURNALED,
    'Fallback answers written into the journal.',
  );
  const unmeteredDropped = counter(
    names.METRIC_UNMETERED_DROPPED,
    'Fallback answers lost, for whatever reason.',
  );

  const fieldLabels = new Set<string>();
  const fieldLabel = (field: string): string => {
    if (fieldLabels.size < UNKNOWN_FIELD_LABELS_MAX) fieldLabels.add(field);
    return fieldLabels.has(field) ? field : 'other';
  };
  const countRejection = (event: Extract<RelayEvent, { type: 'answered' }>): void => {
    const notice = noticeOf(event);
    if (notice !== undefined) rejections.inc({ notice });
  };
  let connectedBefore = false;

  function observe(event: RelayEvent): void {
    switch (event.type) {
      case 'streams':
        open.set(event.open);
        waiting.set(event.waiting);
        return;
      case 'connected':
        if (connectedBefore) reconnects.inc();
        connectedBefore = true;
        return;
      case 'question':
        questions.inc();
        return;
      case 'answered':
        decisions.inc({ outcome: event.answer.outcome, via: event.via });
        countRejection(event);
        if (event.cause !== undefined) fallback.inc({ cause: event.cause });
        if (!event.heard) unheard.inc();
        latency.observe(decisionMs(event) / 1_000);
        if (event.waitedMs !== undefined) wait.observe(event.waitedMs / 1_000);
        return;
      case 'waiting':
        waitingJobs.set(event.jobs);
        return;
      case 'batch':
        batchJobs.observe(event.jobs);
        return;
      case 'unknown_fields':
        for (const field of event.fields) unknownFields.inc({ field: fieldLabel(field) });
        return;
      case 'unreadable':
        unreadable.inc();
        return;
      case 'suspicious':
        suspicious.inc();
        return;
      case 'implausible':
        implausible.inc();
        return;
      case 'schema':
        schemaInfo.set(
          { hash: event.hash, source: event.source, placeholder: event.placeholder ? 'yes' : 'no' },
          1,
        );
        schemaProven.set(event.standing === 'proven' ? 1 : 0);
        return;
      case 'rejection_withheld':
        withheld.inc({ standing: event.standing });
        return;
      case 'answer_refused':
        refused.inc({ outcome: event.outcome });
        return;
      case 'fields':
        fieldsMissing.set(event.missing.length);
        return;
      case 'own_fault':
        ownFaults.inc({ place: event.place });
        return;
      case 'breaker':
        breaker.set(BREAKER_STATES[event.state]);
        return;
      case 'directory':
        directoryAge.set(Math.round(event.ageMs / 1_000));
        return;
      case 'unmetered':
        unmeteredQueued.set(event.queued);
        unmeteredPosted.inc(event.posted);
        unmeteredJournaled.inc(event.journaled ?? 0);
        unmeteredDropped.inc(event.dropped);
        return;
      case 'not_written':
      case 'stream_ended':
      case 'backing_off':
      case 'registered':
      case 'registration_failed':
      case 'admit_failed':
        // Told by the log; as numbers they show in streams, reconnects, the breaker and the fallback.
        return;
    }
  }

  return { observe, render: () => registry.metrics() };
}
