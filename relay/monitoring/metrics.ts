import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import { decisionMs, type EventOf, noticeOf, type RelayEvent, type RelayObserver } from '../events.ts';

const PREFIX = 'tollgate_relay_';
/** Around the usual 16 ms, and the 2 s after which the fallback decides. */
const LATENCY_SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 3];
const WAIT_SECONDS = [0.25, 0.5, 1, 2, 5, 10, 15, 20, 25];
const BATCH_JOBS = [1, 2, 4, 8, 16, 32, 64, 96];
/** As numbers, so that an alarm can compare. */
const BREAKER_STATES = { closed: 0, half_open: 1, open: 2 } as const;

type Type = RelayEvent['type'];
type Row = (registers: Registry[]) => readonly [Type, (event: RelayEvent) => void];

const row = <Of extends Type>(type: Of, run: (event: EventOf<Of>) => void) =>
  [type, run as (event: RelayEvent) => void] as const;

type Read<Of extends Type, Value = number> = (event: EventOf<Of>) => Value;

const gauge =
  <Of extends Type>(name: string, help: string, type: Of, read: Read<Of>): Row =>
  (registers) => {
    const metric = new Gauge({ name: PREFIX + name, help, registers });
    return row(type, (event) => metric.set(read(event)));
  };

const counter =
  <Of extends Type>(name: string, help: string, type: Of, read: Read<Of> = () => 1): Row =>
  (registers) => {
    const metric = new Counter({ name: PREFIX + name, help, registers });
    return row(type, (event) => metric.inc(read(event)));
  };

/** @param read - returns the labels' values in order; an absent one counts nothing. @default the fields of these names */
const labelled =
  <Of extends Type>(
    name: string,
    help: string,
    type: Of,
    labelNames: string[],
    read: Read<Of, readonly unknown[]> = (event) =>
      labelNames.map((label) => event[label as keyof typeof event]),
  ): Row =>
  (registers) => {
    const metric = new Counter({ name: PREFIX + name, help, labelNames, registers });
    return row(type, (event) => {
      const values = read(event);
      if (!values.includes(undefined)) metric.labels(...values.map(String)).inc();
    });
  };

const histogram =
  <Of extends Type>(
    name: string,
    help: string,
    type: Of,
    buckets: number[],
    read: Read<Of, number | undefined>,
  ): Row =>
  (registers) => {
    const metric = new Histogram({ name: PREFIX + name, help, buckets, registers });
    return row(type, (event) => {
      const seen = read(event);
      if (seen !== undefined) metric.observe(seen);
    });
  };

const schemaInfo: Row = (registers) => {
  const labelNames = ['hash', 'source', 'placeholder'];
  const help = 'Always 1; the labels say which descriptors are in use.';
  const metric = new Gauge({ name: `${PREFIX}schema_info`, help, labelNames, registers });
  return row('schema', ({ hash, source, placeholder }) =>
    metric.set({ hash, source, placeholder: placeholder ? 'yes' : 'no' }, 1),
  );
};

const ROWS: readonly Row[] = [
  gauge('streams_open', 'AdmitJob streams open at the router.', 'streams', (e) => e.open),
  gauge('streams_waiting', 'Streams without a request yet.', 'streams', (e) => e.waiting),
  counter('reconnects_total', 'Times a stream opened after a loss of all.', 'connected', (e) =>
    Number(e.again),
  ),
  counter('requests_total', 'Admission requests from the router.', 'request'),
  labelled('decisions_total', 'Answers, by outcome and who decided.', 'answered', ['outcome', 'via'], (e) => [
    e.answer.outcome,
    e.via,
  ]),
  labelled('rejections_total', 'Rejections; a repeat was reported before.', 'answered', ['notice'], (e) => [
    noticeOf(e),
  ]),
  labelled('fallback_total', 'Answers given without the ledger, by cause.', 'answered', ['cause']),
  counter('unheard_total', 'Answers that the router did not receive.', 'answered', (e) => Number(!e.heard)),
  histogram(
    'answer_latency_seconds',
    'Without waits for headroom.',
    'answered',
    LATENCY_SECONDS,
    (e) => decisionMs(e) / 1_000,
  ),
  gauge('waiting_jobs', 'Jobs that wait for headroom.', 'waiting', (e) => e.jobs),
  histogram(
    'wait_seconds',
    'Time that jobs waited for headroom.',
    'answered',
    WAIT_SECONDS,
    (e) => e.waitedMs && e.waitedMs / 1_000,
  ),
  histogram('batch_jobs', 'Jobs per batch.', 'batch', BATCH_JOBS, (e) => e.jobs),
  counter('unknown_fields_total', 'Requests with a field the schema lacks.', 'unknown_fields'),
  counter('unreadable_total', 'Requests that could not be read.', 'unreadable'),
  counter('suspicious_total', 'Requests whose variables contradict GitLab.', 'suspicious'),
  counter('implausible_total', 'Requests that cannot be true as they were read.', 'implausible'),
  schemaInfo,
  gauge('schema_proven', '0: the schema is unproven, and no job is rejected.', 'schema', (e) =>
    Number(e.state === 'proven'),
  ),
  labelled('rejections_withheld_total', 'Admitted under an unproven schema.', 'rejection_withheld', [
    'state',
  ]),
  labelled('answers_refused_total', 'Not accepted by the router.', 'answer_refused', ['outcome']),
  gauge('fields_missing', 'Fields that rules need and GitLab omits.', 'fields', (e) => e.missing.length),
  labelled('own_faults_total', 'Mistakes of the relay itself, by place.', 'own_fault', ['place']),
  gauge('breaker_state', '0 closed, 1 half open, 2 open.', 'breaker', (e) => BREAKER_STATES[e.state]),
  gauge('directory_age_seconds', 'Seconds since all groups of GitLab were listed.', 'directory', (e) =>
    Math.round(e.ageMs / 1_000),
  ),
  gauge('rules_behind_seconds', 'Seconds of deciding by an older policy.', 'rules', (e) =>
    Math.round(e.behindMs / 1_000),
  ),
  gauge('unmetered_queued', 'Undelivered fallback answers.', 'unmetered', (e) => e.queued),
  counter('unmetered_posted_total', 'Fallback answers in the ledger.', 'unmetered', (e) => e.posted),
  counter('unmetered_journaled_total', 'Fallback answers journaled.', 'unmetered', (e) => e.journaled ?? 0),
  counter('unmetered_dropped_total', 'Fallback answers lost.', 'unmetered', (e) => e.dropped),
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
