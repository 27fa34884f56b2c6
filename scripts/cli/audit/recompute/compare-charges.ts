import { type AuditedPrices, chargeOf, classFor, type PriceBook } from './prices.ts';

export interface RunOfJob {
  readonly jobId: number;
  readonly projectPath: string;
  readonly failureReason: unknown;
  readonly createdAtMs: number;
  readonly startedAtMs: number | undefined;
  readonly isOver: boolean;
  readonly seconds: number | undefined;
  readonly runnerId: number;
  readonly runnerTags: readonly string[];
}

export interface BookedCharge {
  readonly jobId: number;
  readonly projectPath: string | undefined;
  readonly runnerClass: string;
  readonly microsPerMinute: number;
  readonly priceVersion: string;
  readonly seconds: number;
  readonly micros: number;
}

interface ChargeDifference {
  readonly jobId: number;
  readonly projectPath: string;
  readonly bookedMicros: number;
  readonly recomputedMicros: number;
  readonly reason: string;
  readonly sentence: string;
}

export type ChargeComparison = Awaited<ReturnType<typeof compareCharges>>;

interface ComparisonAsk {
  readonly startMs: number;
  readonly endMs: number;
  readonly runs: AsyncIterable<RunOfJob>;
  readonly booked: ReadonlyMap<number, BookedCharge>;
  readonly prices: PriceBook;
  readonly counts: (projectPath: string) => boolean;
}

/** GitLab's failure reason of a rejected job, which ran for an instant. */
const REJECTED = 'job_router_failure';
const GONE = 'GitLab does not list this job: its project or runner was deleted, or its end is unknown';
const NOT_CHARGED =
  'it ran and is not charged here: GitLab sent no admission request, its end is not reported yet, or its project was moved';

export async function compareCharges({ startMs, endMs, runs, booked, prices, counts }: ComparisonAsk) {
  const seen = new Set<number>();
  const differences: ChargeDifference[] = [];
  // `open`: still run. `edge`: not charged, and created before the month: GitLab does not show if they were admitted in it.
  // `byRequest`: of classes with rates for what a job requests, taken at the rate of the books.
  const sum = { jobs: 0, open: 0, edge: 0, byRequest: 0 };
  let recomputed = 0n;
  for await (const run of runs) {
    const { jobId, startedAtMs, seconds, projectPath } = run;
    const charge = booked.get(jobId);
    if ((charge === undefined && !counts(projectPath)) || seen.has(jobId) || startedAtMs === undefined)
      continue;
    const isOutside = startedAtMs < startMs || startedAtMs >= endMs || run.failureReason === REJECTED;
    if (charge === undefined && isOutside) continue;
    if (charge === undefined && run.createdAtMs < startMs) {
      sum.edge += 1;
      continue;
    }
    seen.add(jobId);
    if (!run.isOver || seconds === undefined) {
      sum.open += 1;
      continue;
    }
    const [inForce, ...others] = prices(startedAtMs).map((list) => recompute(list, run, seconds, charge));
    if (inForce === undefined) continue;
    // Another list that may have counted then is believed only where the charge names it, and agrees with it.
    const agreed = others.find(
      (each) => each.difference === undefined && each.version === charge?.priceVersion,
    );
    const found = inForce.difference === undefined ? inForce : (agreed ?? inForce);
    sum.jobs += 1;
    if (found.byRequest) sum.byRequest += 1;
    recomputed += found.micros;
    if (found.difference !== undefined) differences.push(found.difference);
  }
  for (const { jobId, projectPath = '', micros } of booked.values()) {
    if (seen.has(jobId) || micros === 0) continue;
    sum.jobs += 1;
    const why = { reason: 'not_at_gitlab', sentence: GONE };
    differences.push({ jobId, projectPath, bookedMicros: micros, recomputedMicros: 0, ...why });
  }
  const bookedMicros = [...booked.values()].reduce((all, { micros }) => all + micros, 0);
  differences.sort((a, b) => a.jobId - b.jobId);
  return { ...sum, bookedMicros, recomputedMicros: Number(recomputed), differences };
}

function recompute(prices: AuditedPrices, run: RunOfJob, seconds: number, charge: BookedCharge | undefined) {
  const { version } = prices;
  const own = classFor(prices, run);
  const byRequest = own?.byRequest === true && charge !== undefined;
  const rate = byRequest ? BigInt(charge.microsPerMinute) : (own?.microsPerMinute ?? 0n);
  const micros = chargeOf(rate, own?.wholeMinutes ?? false, seconds);
  const bookedMicros = charge?.micros ?? 0;
  if (micros === BigInt(bookedMicros)) return { micros, byRequest, version };
  const { jobId, projectPath } = run;
  const why = reasonOf(charge, Math.ceil(seconds), own?.name ?? '', version, rate);
  const difference = { jobId, projectPath, bookedMicros, recomputedMicros: Number(micros), ...why };
  return { micros, byRequest, version, difference };
}

function reasonOf(
  charge: BookedCharge | undefined,
  seconds: number,
  runnerClass: string,
  version: string,
  rate: bigint,
): Pick<ChargeDifference, 'reason' | 'sentence'> {
  if (charge === undefined) return { reason: 'not_charged', sentence: NOT_CHARGED };
  const causes = [
    ['duration', `${charge.seconds} s`, `${seconds} s`, 'GitLab says'],
    ['price_version', charge.priceVersion, version, 'the prices in force were'],
    ['runner_class', charge.runnerClass, runnerClass, 'by its tags of now its runner is of class'],
    ['price', String(charge.microsPerMinute), String(rate), 'millionths a minute are'],
  ] as const;
  const cause = causes.find(([, booked, found]) => booked !== found);
  if (cause === undefined) return { reason: 'amount', sentence: 'time and price agree, the amount does not' };
  const [reason, booked, found, words] = cause;
  return { reason, sentence: `${words} ${found}, the books took ${booked}` };
}
