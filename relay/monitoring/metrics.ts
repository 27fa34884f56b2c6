import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import { decisionMs, type EventOf, noticeOf, type RelayEvent, type RelayObserver } from '../events.ts';
import * as names from '../names.ts';

/** Around the usual 16 ms, and the 2 s after which the fallback decides. */
const LATENCY_SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 3];
const WAIT_SECONDS = [0.25, 0.5, 1, 2, 5, 10, 15, 20, 25];
const BATCH_JOBS = [1, 2, 4, 8, 16, 32, 64, 96];
/** As numbers, so that an alarm can compare. */
const BREAKER_STATES = { closed: 0, half_open: 1, open: 2 } as const;

type Type = RelayEvent['type'];
type Labels = Readonly<Record<string, string>>;
type Row = (registers: Registry[]) => readonly [Type, (event: RelayEvent) => void];

const row = <Of extends Type>(type: Of, run: (event: EventOf<Of>) => void) =>
  [type, run as (event: RelayEvent) => void] as const;

const gauge =
  <Of extends Type>(name: string, help: string, type: Of, read: (event: EventOf<Of>) => number): Row =>
  (registers) => {
    const metric = new Gauge({ name, help, registers });
    return row(type, (event) => metric.set(read(event)));
  };

const counter =
  <Of extends Type>(
    name: string,
    help: string,
    type: Of,
    read: (event: EventOf<Of>) => number = () => 1,
  ): Row =>
  (registers) => {
    const metric = new Counter({ name, help, registers });
    return row(type, (event) => metric.inc(read(event)));
  };

/** @param read - returns the labels to count. Undefined counts nothing. @default the fields of these names */
const labelled =
  <Of extends Type>(
    name: string,
    help: string,
    type: Of,
    labelNames: string[],
    read: (event: EventOf<Of>) => Labels | undefined = (event) =>
      Object.fromEntries(labelNames.map((label) => [label, String(event[label as keyof typeof event])])),
  ): Row =>
  (registers) => {
    const metric = new Counter({ name, help, labelNames, registers });
    return row(type, (event) => {
      const labels = read(event);
      if (labels !== undefined) metric.inc(labels);
    });
  };

const histogram =
  <Of extends Type>(
    name: string,
    help: string,
    type: Of,
    buckets: number[],
    read: (event: EventOf<Of>) => number | undefined,
  ): Row =>
  (registers) => {
    const metric = new Histogram({ name, help, buckets, registers });
    return row(type, (event) => {
      const seen = read(event);
      if (seen !== undefined) metric.observe(seen);
    });
  };

const schemaInfo: Row = (registers) => {
  const labelNames = ['hash', 'source', 'placeholder'];
  const help = 'Always 1; the labels say which descriptors are in use.';
  const metric = new Gauge({ name: names.METRIC_SCHEMA_INFO, help, labelNames, registers });
  return row('schema', ({ hash, source, placeholder }) =>
    metric.set({ hash, source, placeholder: placeholder ? 'yes' : 'no' }, 1),
  );
};

const ROWS: readonly Row[] = [
  gauge(names.METRIC_STREAMS_OPEN, 'AdmitJob streams open at the router.', 'streams', (e) => e.open),
  gauge(names.METRIC_STREAMS_WAITING, 'Of those, without a question yet.', 'streams', (e) => e.waiting),
  counter(names.METRIC_RECONNECTS, 'Times a stream opened after a loss of all.', 'connected', (e) =>
    Number(e.again),
  ),
  counter(names.METRIC_QUESTIONS, 'Questions the router asked.', 'question'),
  labelled(
    names.METRIC_DECISIONS,
    'Answers given, by outcome and who decided.',
    'answered',
    ['outcome', 'via'],
    ({ answer: { outcome }, via }) => ({ outcome, via }),
  ),
  labelled(
    names.METRIC_REJECTIONS,
    'Rejections, by notice: a repeat was reported before, e.g. before GitLab retried the job.',
    'answered',
    ['notice'],
    (event) => {
      const notice = noticeOf(event);
      return notice && { notice };
    },
  ),
  labelled(
    names.METRIC_FALLBACK,
    'Answers given without the ledger, by cause.',
    'answered',
    ['cause'],
    ({ cause }) => (cause === undefined ? undefined : { cause }),
  ),
  counter(names.METRIC_UNHEARD, 'Answers that the router did not receive.', 'answered', (e) =>
    Number(!e.heard),
  ),
  histogram(
    names.METRIC_LATENCY,
    'From question to answer, without the time a job waited for headroom.',
    'answered',
    LATENCY_SECONDS,
    (event) => decisionMs(event) / 1_000,
  ),
  gauge(names.METRIC_WAITING, 'Jobs that wait for headroom.', 'waiting', (e) => e.jobs),
  histogram(
    names.METRIC_WAIT,
    'How long jobs waited for headroom.',
    'answered',
    WAIT_SECONDS,
    (e) => e.waitedMs && e.waitedMs / 1_000,
  ),
  histogram(names.METRIC_BATCH_JOBS, 'Jobs per batch.', 'batch', BATCH_JOBS, (e) => e.jobs),
  counter(names.METRIC_UNKNOWN_FIELDS, 'Questions with a field the schema lacks.', 'unknown_fields'),
  counter(names.METRIC_UNREADABLE, 'Questions that could not be read.', 'unreadable'),
  counter(names.METRIC_SUSPICIOUS, 'Questions whose variables contradict GitLab.', 'suspicious'),
  counter(names.METRIC_IMPLAUSIBLE, 'Questions that cannot be true as they were read.', 'implausible'),
  schemaInfo,
  gauge(names.METRIC_SCHEMA_PROVEN, '0: the schema is unproven, and no job is rejected.', 'schema', (e) =>
    Number(e.standing === 'proven'),
  ),
  labelled(
    names.METRIC_REJECTIONS_WITHHELD,
    'Jobs admitted because the schema was not proven, by its status.',
    'rejection_withheld',
    ['standing'],
  ),
  labelled(
    names.METRIC_ANSWERS_REFUSED,
    'Answers that the router did not accept, by outcome.',
    'answer_refused',
    ['outcome'],
  ),
  gauge(
    names.METRIC_FIELDS_MISSING,
    'Fields that rules need and GitLab does not send.',
    'fields',
    (e) => e.missing.length,
  ),
  labelled(names.METRIC_OWN_FAULTS, 'Mistakes of the relay itself, by place.', 'own_fault', ['place']),
  gauge(
    names.METRIC_BREAKER,
    'Circuit breaker: 0 closed, 1 half open, 2 open.',
    'breaker',
    (e) => BREAKER_STATES[e.state],
  ),
  gauge(names.METRIC_DIRECTORY_AGE, 'Seconds since all groups of GitLab were listed.', 'directory', (e) =>
    Math.round(e.ageMs / 1_000),
  ),
  gauge(names.METRIC_UNMETERED_QUEUED, 'Undelivered fallback answers.', 'unmetered', (e) => e.queued),
  counter(names.METRIC_UNMETERED_POSTED, 'Fallback answers in the ledger.', 'unmetered', (e) => e.posted),
  counter(
    names.METRIC_UNMETERED_JOURNALED,
    'Fallback answers in the journal.',
    'unmetered',
    (e) => e.journaled ?? 0,
  ),
  counter(names.METRIC_UNMETERED_DROPPED, 'Fallback answers lost.', 'unmetered', (e) => e.dropped),
];

export function createMetrics(): { readonly observe: RelayObserver; render(): Promise<string> } {
  const registry = new Registry();
  const readers = Map.groupBy(
    ROWS.map((start) => start([registry])),
    ([type]) => type,
  );
  return {
    observe: (event) => {
      for (const [, read] of readers.get(event.type) ?? []) read(event);
    },
    render: () => registry.metrics(),
  };
}
