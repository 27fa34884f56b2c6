import { readFileSync } from 'node:fs';
import * as names from '../../../relay/names.ts';
import { type RelaySettings, startRelay, sumOfMetric } from '../../../scripts/proof/relay-process.ts';

const COUNTS = {
  requests: ['tollgate_relay_requests_total', '', names.RELAY_METRIC.requests],
  admitted: ['tollgate_relay_decisions_total', 'outcome="admitted"', names.RELAY_METRIC.admitted],
  rejected: ['tollgate_relay_decisions_total', 'outcome="rejected"', names.RELAY_METRIC.rejected],
  fallback: ['tollgate_relay_fallback_total', '', names.RELAY_METRIC.fallbackAnswers],
  unreadable: ['tollgate_relay_unreadable_requests_total', '', names.RELAY_METRIC.unreadableRequests],
} as const;
type Counted = (typeof COUNTS)[keyof typeof COUNTS];
type RelayCounts = Readonly<Record<keyof typeof COUNTS, number>>;

const countsBy = (count: (counted: Counted) => number): RelayCounts =>
  Object.fromEntries(Object.entries(COUNTS).map(([name, counted]) => [name, count(counted)])) as RelayCounts;

export type RelayProcess = Awaited<ReturnType<typeof startCountedRelay>>;

/** A relay process with its counts, by its metrics and by its CloudWatch lines. */
export async function startCountedRelay({
  heapMb,
  ...settings
}: RelaySettings & { readonly heapMb?: number }) {
  const sums: Record<string, number> = {};
  const relay = await startRelay({
    ...settings,
    nodeFlags: heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`],
    onLine: (line) => {
      if (!line.startsWith('{"_aws"')) return;
      for (const [name, value] of Object.entries(JSON.parse(line) as Record<string, unknown>))
        if (typeof value === 'number') sums[name] = (sums[name] ?? 0) + value;
    },
  });
  return {
    ...relay,
    counts: async () => {
      const text = await relay.metrics();
      const unheard = sumOfMetric(text, 'tollgate_relay_unheard_total');
      return { ...countsBy(([name, label]) => sumOfMetric(text, name, label)), unheard };
    },
    /** Counts from the CloudWatch lines, complete once the relay has ended. */
    written: () => countsBy(([, , { name }]) => sums[name] ?? 0),
    cpuMs: (): number | undefined => cpuMsOf(relay.pid),
  };
}

/** Linux counts in hundredths of a second, in fields 14 and 15; the command in parentheses may contain spaces. */
function cpuMsOf(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
