import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PRICES } from '../cli/cost/prices.ts';
import { parseInput } from '../terminal/define.ts';
import { runProgram } from '../terminal/program.ts';
import { type LoadOutcome, type LoadPoint, measureLoad } from './bench/load.ts';

const USAGE = `npm run capacity

Measures 1, 64 and 1000 root groups, with 1, 2 and 4 relays and with one transaction per job, with own limits and with one of the
instance besides, at rising rates in virtual time, and writes docs/capacity.md. Takes some minutes; the same on any machine.

Exit codes: 0 done, 3 wrong usage`;

const ROOTS = [1, 64, 1_000] as const;
const SIDES = [1, 2, 4, 'naive'] as const;
const PER_SECOND = [100, 250, 500, 1_000, 2_000, 3_000, 5_000, 8_000] as const;
/** A curve is followed until more than this share is undecided, and holds below the other one. */
const UNDECIDED_BROKEN = 0.05;
const UNDECIDED_HELD = 0.001;
const SHOWN_PER_SECOND = 1_000;
/** Fewer conflicts per job mean that the lane waits for its own transactions. */
const CONFLICTS_FEW = 1;

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));

async function measureCurve(curve: Omit<LoadPoint, 'perSecond'>): Promise<readonly LoadOutcome[]> {
  const outcomes: LoadOutcome[] = [];
  for (const perSecond of PER_SECOND) {
    const outcome = await measureLoad({ ...curve, perSecond });
    outcomes.push(outcome);
    console.error(
      `${curveOf(outcome)}, ${perSecond}/s: p99 ${outcome.p99Ms.toFixed(0)} ms, ${(outcome.undecidedShare * 100).toFixed(1)} % undecided`,
    );
    if (outcome.undecidedShare > UNDECIDED_BROKEN) break;
  }
  return outcomes;
}

async function main(): Promise<number> {
  if (process.argv.includes('--help')) {
    console.log(USAGE);
    return 0;
  }
  parseInput(process.argv.slice(2), {}, {});
  const outcomes: LoadOutcome[] = [];
  for (const isShared of [false, true])
    for (const roots of ROOTS)
      for (const relays of SIDES) outcomes.push(...(await measureCurve({ roots, relays, isShared })));
  const { writeUnit } = PRICES['us-east-1'];
  const page = capacityPage(outcomes, (writeUnit.usd / writeUnit.per) * 1_000_000);
  writeFileSync(`${docs}capacity.md`, page);
  return 0;
}

const curveOf = ({ roots, relays, isShared }: LoadPoint): string =>
  `${roots === 1 ? '1 root' : `${roots} roots`}, ${
    relays === 'naive' ? 'a transaction per job' : relays === 1 ? '1 relay' : `${relays} relays`
  }, ${isShared ? 'own and shared limits' : 'own limits'}`;

export function breaksBy(points: readonly LoadOutcome[]): string {
  const last = points.at(-1);
  if (last === undefined || last.undecidedShare <= UNDECIDED_HELD) return 'holds';
  if (last.throttlesPerJob > last.conflictsPerJob) return 'write units of one item';
  if (last.isShared && last.roots > 1)
    return last.conflictsPerJob < CONFLICTS_FEW
      ? 'transactions of the one lane, a hundred items each'
      : 'conflicts on the shared counter';
  return last.relays === 'naive' ? 'conflicts of jobs' : 'conflicts of relays and settlement';
}

const held = (points: readonly LoadOutcome[]): number =>
  Math.max(
    0,
    ...points.filter((each) => each.undecidedShare <= UNDECIDED_HELD).map((each) => each.perSecond),
  );

export function capacityPage(outcomes: readonly LoadOutcome[], usdPerMillionUnits: number): string {
  const shownAt = (points: readonly LoadOutcome[]): string => {
    const point = points.find(({ perSecond }) => perSecond === SHOWN_PER_SECOND);
    if (point === undefined) return '– | – | –';
    const usd = (point.unitsPerJob * usdPerMillionUnits).toFixed(2);
    return `${point.p99Ms.toFixed(0)} | ${point.unitsPerJob.toFixed(1)} | $${usd}`;
  };
  const rows = [...Map.groupBy(outcomes, curveOf)].map(
    ([name, points]) =>
      `| ${name} | ${held(points) || 'less than the first'} | ${breaksBy(points)} | ${shownAt(points)} |`,
  );
  return `# Capacity

The jobs a second that Tollgate decides, and the first bottleneck. This command writes the page:

\`\`\`sh
npm run capacity
\`\`\`

**The model.** Requests come at random instants, without waiting for earlier responses; a latency counts from the scheduled instant. Jobs end
after 200 ms, so admissions and ends meet on the counters. Batching, decision and ledger are the real ones, in virtual time, on a table that
conflicts and throttles like DynamoDB. A job has three counters, and one of the whole instance if limits are shared. Processors and networks are
not modelled: [measurements.md](measurements.md) has them.

A curve *holds* while at most ${UNDECIDED_HELD * 100} % of jobs are undecided, that is not decided by the ledger within 2 s. It is followed until more
than ${UNDECIDED_BROKEN * 100} % are. Write units are those of admissions and settlements, failed transactions included.

| Setting | Holds at, jobs/s | Breaks by | p99 at ${SHOWN_PER_SECOND}/s, ms | Write units a job | Writes, a million jobs |
| --- | ---: | --- | ---: | ---: | ---: |
${rows.join('\n')}
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runProgram(main, 'npm run capacity -- --help');
