/** The charges of a job by its state, and the usage that all jobs add up to. */
import type { AskedJob, ExpectedAsk, ExpectedClaim } from './asked-claims.ts';
import { type CountedUnit, costOf, dayIn } from './rule-set.ts';

export interface DecidedJob {
  readonly job: AskedJob;
  readonly ask: ExpectedAsk;
  readonly state: 'HELD' | 'RUNNING' | 'SETTLED' | 'RELEASED' | 'EXPIRED' | 'REJECTED' | 'RESERVED';
  readonly decidedAtMs: number;
  readonly wasRejected: boolean;
  readonly ranSeconds: number;
  readonly isChargedUnknown: boolean;
  readonly uncheckedBy: 'exempt' | 'unmetered' | 'bypass' | undefined;
}

export const REJECTION_STANDS_MS = 60_000;

function usedBy(unit: CountedUnit, seconds: number, ask: ExpectedAsk): number {
  switch (unit) {
    case 'micros':
      return costOf(seconds, ask.microsPerMinute, ask.paidBySeconds);
    case 'seconds':
      return seconds;
    case 'starts':
      return 1;
    case 'jobs':
      return 0;
  }
}

export function chargeOf({ unit, amount }: ExpectedClaim, decided: DecidedJob): number {
  switch (decided.state) {
    case 'HELD':
    case 'RUNNING':
      return amount;
    case 'SETTLED':
      return usedBy(unit, decided.ranSeconds, decided.ask);
    case 'EXPIRED':
      return unit !== 'jobs' && decided.isChargedUnknown ? amount : 0;
    case 'RELEASED':
    case 'REJECTED':
    case 'RESERVED':
      return 0;
  }
}

const COUNTS = [
  ...([
    'jobs',
    'admitted',
    'rejected',
    'released',
    'expired',
    'seconds',
    'settledMicros',
    'heldMicros',
  ] as const),
  ...(['exempt', 'unmetered', 'bypass'] as const),
];
export type UsageLine = Record<(typeof COUNTS)[number], number>;

/** Usage by subject and day of the decision, keyed `group/101|2026-11-21`: the groups are those of the decision. */
export function usageLines(jobs: Iterable<DecidedJob>, zone: string): ReadonlyMap<string, UsageLine> {
  const lines = new Map<string, UsageLine>();
  for (const each of jobs) {
    const { job, ask, decidedAtMs } = each;
    const subjects = [
      'instance',
      ...ask.groupIds.map((id) => `group/${id}`),
      `project/${job.projectId}`,
      `runner-class/${job.runnerClass}`,
    ];
    for (const subject of subjects) {
      const name = `${subject}|${dayIn(zone, decidedAtMs)}`;
      const line = lines.get(name) ?? (Object.fromEntries(COUNTS.map((count) => [count, 0])) as UsageLine);
      lines.set(name, line);
      count(each, line);
    }
  }
  return lines;
}

function count(decided: DecidedJob, line: UsageLine): void {
  const { state, ask, wasRejected, ranSeconds, uncheckedBy } = decided;
  line.jobs += 1;
  line[wasRejected ? 'rejected' : 'admitted'] += 1;
  if (uncheckedBy !== undefined) line[uncheckedBy] += 1;
  if (state === 'RELEASED') line.released += 1;
  if (state === 'EXPIRED') line.expired += 1;
  const hold = usedBy('micros', ask.estimateSeconds, ask);
  if (state === 'HELD' || state === 'RUNNING') line.heldMicros += hold;
  if (decided.isChargedUnknown) line.settledMicros += hold;
  if (state !== 'SETTLED') return;
  line.seconds += ranSeconds;
  line.settledMicros += usedBy('micros', ranSeconds, ask);
}
