import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import { decisionMs, type EventOf, noticeOf, type RelayEvent, type RelayObserver } from '../events.ts';
import * as names from '../names.ts';

/** A newer router sends few unknown fields. An attacker may send any number. */
const UNKNOWN_FIELD_LABELS_MAX = 50;
/** Around the usual 16 ms, and the 2 s after which the fallback decides. */
const LATENCY_SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 3];
const WAIT_SECONDS = [0.25, 0.5, 1, 2, 5, 10, 15, 20, 25];
const BATCH_JOBS = [1, 2, 4, 8, 16, 32, 64, 96];
/** As numbers, so that an alarm can compare. */
const BREAKER_STATES = { closed: 0, half_open: 1, open: 2 } as const;

export interface RelayMetrics {
  readonly observe: RelayObserver;
  render(): Promise<string>;
}

type Labels = Readonly<Record<string, string>>;

/** Defines every metric with the event that changes it. Each relay has a registry of its own, for processes with several. */
export function createMetrics(): RelayMetrics {
  const registry = new Registry();
  const registers = [registry];
  const readers = new Map<RelayEvent['type'], ((event: RelayEvent) => void)[]>();

  function on<Type extends RelayEvent['type']>(type: Type, run: (event: EventOf<Type>) => void): void {
    readers.set(type, [...(readers.get(type) ?? []), run as (event: RelayEvent) => void]);
  }

  /** @param by - returns the labels to count, or a number without labels. Undefined counts nothing. */
  function counter<Type extends RelayEvent['type']>(
    type: Type,
    name: string,
    help: string,
    by: (event: EventOf<Type>) => Labels | number | undefined = () => 1,
    labelNames: string[] = [],
  ): void {
    const metric = new Counter({ name, help, labelNames, registers });
    on(type, (event) => {
      const counted = by(event);
      if (typeof counted === 'number') metric.inc(counted);
      else if (counted !== undefined) metric.inc(counted);
    });
  }

  function gauge<Type extends RelayEvent['type']>(
    type: Type,
    name: string,
    help: string,
    value: (event: EventOf<Type>) => number,
  ): void {
    const metric = new Gauge({ name, help, registers });
    on(type, (event) => metric.set(value(event)));
  }

  function histogram<Type extends RelayEvent['type']>(
    type: Type,
    name: string,
    help: string,
    buckets: number[],
    value: (event: EventOf<Type>) => number | undefined,
  ): void {
    const metric = new Histogram({ name, help, buckets, registers });
    on(type, (event) => {
      const seen = value(event);
      if (seen !== undefined) metric.observe(seen);
    });
  }

  gauge('streams', names.METRIC_STREAMS_OPEN, 'AdmitJob streams open at the router.', ({ open }) => open);
  gauge(
    'streams',
    names.METRIC_STREAMS_WAITING,
    'Of those, without a question yet.',
    ({ waiting }) => waiting,
  );
  let connections = 0;
  counter('connected', names.METRIC_RECONNECTS, 'Times a stream opened after there was none.', () => {
    connections += 1;
    return connections > 1 ? 1 : 0;
  });
  counter('question', names.METRIC_QUESTIONS, 'Questions the router asked.');
  counter(
    'answered',
    names.METRIC_DECISIONS,
    'Answers given, by outcome and who decided.',
    ({ answer: { outcome }, via }) => ({ outcome, via }),
    ['outcome', 'via'],
  );
  counter(
    'answered',
    names.METRIC_REJECTIONS,
    'Rejections, by notice: a repeat was reported before, e.g. before GitLab retried the job.',
    (event) => {
      const notice = noticeOf(event);
      return notice && { notice };
    },
    ['notice'],
  );
  counter(
    'answered',
    names.METRIC_FALLBACK,
    'Answers given without the ledger, by cause.',
    ({ cause }) => (cause === undefined ? undefined : { cause }),
    ['cause'],
  );
  counter('answered', names.METRIC_UNHEARD, 'Answers that the router did not receive.', ({ heard }) =>
    heard ? 0 : 1,
  );
  histogram(
    'answered',
    names.METRIC_LATENCY,
    'From question to answer, without the time a job waited for headroom.',
    LATENCY_SECONDS,
    (event) => decisionMs(event) / 1_000,
  );
  gauge('waiting', names.METRIC_WAITING, 'Jobs that wait for headroom.', ({ jobs }) => jobs);
  histogram(
    'answered',
    names.METRIC_WAIT,
    'How long jobs waited for headroom.',
    WAIT_SECONDS,
    ({ waitedMs }) => waitedMs && waitedMs / 1_000,
  );
  histogram(
    'batch',
    names.METRIC_BATCH_JOBS,
    'Jobs per batch sent to the admit function.',
    BATCH_JOBS,
    ({ jobs }) => jobs,
  );
  const fieldLabels = new Set<string>();
  const unknownFields = new Counter({
    name: names.METRIC_UNKNOWN_FIELDS,
    help: 'Questions with a field the schema lacks.',
    labelNames: ['field'],
    registers,
  });
  on('unknown_fields', ({ fields }) => {
    for (const field of fields) {
      if (fieldLabels.size < UNKNOWN_FIELD_LABELS_MAX) fieldLabels.add(field);
      unknownFields.inc({ field: fieldLabels.has(field) ? field : 'other' });
    }
  });
  counter('unreadable', names.METRIC_UNREADABLE, 'Questions that could not be read.');
  counter('suspicious', names.METRIC_SUSPICIOUS, 'Questions whose variables contradict GitLab.');
  counter('implausible', names.METRIC_IMPLAUSIBLE, 'Questions that cannot be true as they were read.');
  const schemaInfo = new Gauge({
    name: names.METRIC_SCHEMA_INFO,
    help: 'Always 1; the labels say which descriptors are in use.',
    labelNames: ['hash', 'source', 'placeholder'],
    registers,
  });
  on('schema', ({ hash, source, placeholder }) =>
    schemaInfo.set({ hash, source, placeholder: placeholder ? 'yes' : 'no' }, 1),
  );
  gauge(
    'schema',
    names.METRIC_SCHEMA_PROVEN,
    '1 if the schema is proven. 0 otherwise, and no job is rejected.',
    ({ standing }) => (standing === 'proven' ? 1 : 0),
  );
  counter(
    'rejection_withheld',
    names.METRIC_REJECTIONS_WITHHELD,
    'Jobs admitted because the schema was not proven, by its status.',
    ({ standing }) => ({ standing }),
    ['standing'],
  );
  counter(
    'answer_refused',
    names.METRIC_ANSWERS_REFUSED,
    'Answers that the router did not accept, by outcome.',
    ({ outcome }) => ({ outcome }),
    ['outcome'],
  );
  gauge(
    'fields',
    names.METRIC_FIELDS_MISSING,
    'Fields that rules need and GitLab does not send, or not any more.',
    ({ missing }) => missing.length,
  );
  counter(
    'own_fault',
    names.METRIC_OWN_FAULTS,
    'Mistakes of the relay itself, by place.',
    ({ place }) => ({ place }),
    ['place'],
  );
  gauge(
    'breaker',
    names.METRIC_BREAKER,
    'Circuit breaker: 0 closed, 1 half open, 2 open.',
    ({ state }) => BREAKER_STATES[state],
  );
  gauge(
    'directory',
    names.METRIC_DIRECTORY_AGE,
    'Seconds since all groups of GitLab were listed.',
    ({ ageMs }) => Math.round(ageMs / 1_000),
  );
  gauge(
    'unmetered',
    names.METRIC_UNMETERED_QUEUED,
    'Fallback answers the ledger does not know yet.',
    ({ queued }) => queued,
  );
  counter(
    'unmetered',
    names.METRIC_UNMETERED_POSTED,
    'Fallback answers reported to the ledger.',
    ({ posted }) => posted,
  );
  counter(
    'unmetered',
    names.METRIC_UNMETERED_JOURNALED,
    'Fallback answers written into the journal.',
    ({ journaled = 0 }) => journaled,
  );
  counter('unmetered', names.METRIC_UNMETERED_DROPPED, 'Fallback answers lost.', ({ dropped }) => dropped);

  return {
    observe: (event) => {
      for (const read of readers.get(event.type) ?? []) read(event);
    },
    render: () => registry.metrics(),
  };
}
