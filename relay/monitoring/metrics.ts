import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import type { Metric } from '../../functions/core/contract/emf-document.ts';
import type { EventOf, RelayEvent, RelayObserver } from '../events.ts';
import { LEVELS, SAMPLES, SUMS } from './cloudwatch.ts';

const PREFIX = 'tollgate_relay_';
/** Around the usual 16 ms, the 2 s after which the fallback decides, and the longest wait for headroom. */
const SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 10, 15, 20, 25];
const BATCH_JOBS = [1, 2, 4, 8, 16, 32, 64, 96];

/** `AnswerLatencyMs` is `tollgate_relay_answer_latency_seconds`. */
const named = ({ name }: Metric, suffix = ''): { readonly name: string; readonly help: string } => ({
  name: `${PREFIX}${name
    .replace(/^Relay/, '')
    .replace(/Ms$/, 'Seconds')
    .replaceAll(/\B[A-Z]/g, '_$&')
    .toLowerCase()}${suffix}`,
  help: `${name} in CloudWatch; relay/names.ts explains it.`,
});

/** Prometheus metrics: all that CloudWatch gets, and those with labels or for this relay alone. */
export function createMetrics(): { readonly observe: RelayObserver; render(): Promise<string> } {
  const registry = new Registry();
  const registers = [registry];
  const readers = new Map<RelayEvent['type'], ((event: RelayEvent) => void)[]>();
  const on = <Type extends RelayEvent['type']>(type: Type, run: (event: EventOf<Type>) => void): void => {
    readers.set(type, [...(readers.get(type) ?? []), run as (event: RelayEvent) => void]);
  };
  for (const { type, metric, read } of SUMS) {
    const counter = new Counter({ ...named(metric, '_total'), registers });
    on(type, (event) => counter.inc(read(event) ?? 0));
  }
  for (const { type, metric, read } of LEVELS) {
    const gauge = new Gauge({ ...named(metric), registers });
    on(type, (event) => gauge.set(read(event) ?? 0));
  }
  for (const { type, metric, read } of SAMPLES) {
    const [buckets, scale] = metric.unit === 'Milliseconds' ? [SECONDS, 1_000] : [BATCH_JOBS, 1];
    const histogram = new Histogram({ ...named(metric), buckets, registers });
    on(type, (event) => {
      const value = read(event);
      if (value !== undefined) histogram.observe(value / scale);
    });
  }
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: PREFIX + name, help, labelNames, registers });
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `${PREFIX}${name}_total`, help, labelNames, registers });

  const open = gauge('streams_open', 'AdmitJob streams open at the router.');
  const waiting = gauge('streams_waiting', 'Streams without a request yet.');
  on('streams', (event) => {
    open.set(event.open);
    waiting.set(event.waiting);
  });
  const decisions = counter('decisions', 'Answers, by outcome and who decided.', ['outcome', 'via']);
  const fallback = counter('fallback', 'Answers given without the ledger, by cause.', ['cause']);
  const unheard = counter('unheard', 'Answers that the router did not receive.');
  on('answered', ({ answer: { outcome }, via, cause, heard }) => {
    decisions.inc({ outcome, via });
    if (cause !== undefined) fallback.inc({ cause });
    if (!heard) unheard.inc();
  });
  const schema = gauge('schema_info', 'Always 1; the labels say which descriptors are in use.', [
    ...['hash', 'source', 'placeholder'],
  ]);
  on('schema', ({ hash, source, placeholder }) =>
    schema.set({ hash, source, placeholder: placeholder ? 'yes' : 'no' }, 1),
  );
  const posted = counter('unmetered_posted', 'Fallback answers in the ledger.');
  const journaled = counter('unmetered_journaled', 'Fallback answers journaled.');
  on('unmetered', (event) => {
    posted.inc(event.posted);
    journaled.inc(event.journaled ?? 0);
  });

  return {
    observe: (event) => {
      for (const read of readers.get(event.type) ?? []) read(event);
    },
    render: () => registry.metrics(),
  };
}
