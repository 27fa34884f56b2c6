/** `npm run capacity`: jobs a second against p99, undecided, units and cost, and what breaks first. See USAGE. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PRICES } from '../cli/cost/prices.ts';
import { type LoadOutcome, type LoadPoint, measureLoad } from './bench/load.ts';

const USAGE = `npm run capacity [-- --quick]

Measures 1, 64 and 1000 root groups, with 1, 2 and 4 relays and with one transaction per job, with own limits and with one of the
instance besides, at rising rates in virtual time, and writes docs/capacity.md and docs/capacity.svg. Takes some minutes; the same on
any machine.

  --quick  prints the first two rates of each curve, and writes nothing

Exit codes: 0 done, 3 wrong usage`;

const ROOTS = [1, 64, 1_000] as const;
const SIDES = [1, 2, 4, 'naive'] as const;
const PER_SECOND = [100, 250, 500, 1_000, 2_000, 3_000, 5_000, 8_000] as const;
const QUICK = 2;
/** More curves would not be legible. */
const isCharted = ({ roots, relays }: LoadPoint): boolean => roots === 64 && relays !== 4;

/** A curve is followed until more than this share is undecided, and holds below the other one. */
const UNDECIDED_BROKEN = 0.05;
const UNDECIDED_HELD = 0.001;
/** The table shows latency and cost of each curve at this rate, in jobs a second. */
const SHOWN_PER_SECOND = 1_000;
/** Fewer conflicts per job mean that the lane waits for its own transactions. */
const CONFLICTS_FEW = 1;

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));

async function measureCurve(
  curve: Omit<LoadPoint, 'perSecond'>,
  rates: readonly number[],
): Promise<readonly LoadOutcome[]> {
  const outcomes: LoadOutcome[] = [];
  for (const perSecond of rates) {
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
  const { values } = parseArgs({
    options: { quick: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const rates = values.quick ? PER_SECOND.slice(0, QUICK) : PER_SECOND;
  const outcomes: LoadOutcome[] = [];
  for (const isShared of [false, true])
    for (const roots of ROOTS)
      for (const relays of SIDES) outcomes.push(...(await measureCurve({ roots, relays, isShared }, rates)));
  const { writeUnit } = PRICES['us-east-1'];
  const page = capacityPage(outcomes, {
    usdPerMillionUnits: (writeUnit.usd / writeUnit.per) * 1_000_000,
    chart: 'capacity.svg',
  });
  if (values.quick) console.log(page);
  else {
    writeFileSync(`${docs}capacity.md`, page);
    writeFileSync(`${docs}capacity.svg`, capacityChart(outcomes.filter(isCharted)));
  }
  return 0;
}

const curveOf = ({ roots, relays, isShared }: LoadPoint): string =>
  `${roots === 1 ? '1 root' : `${roots} roots`}, ${
    relays === 'naive' ? 'a transaction per job' : relays === 1 ? '1 relay' : `${relays} relays`
  }, ${isShared ? 'own and shared limits' : 'own limits'}`;

/** Curves in the order in which they were measured. */
function curvesOf(outcomes: readonly LoadOutcome[]): ReadonlyMap<string, readonly LoadOutcome[]> {
  const curves = new Map<string, LoadOutcome[]>();
  for (const outcome of outcomes) {
    const name = curveOf(outcome);
    curves.set(name, [...(curves.get(name) ?? []), outcome]);
  }
  return curves;
}

/** Names the cause that stops a curve, from its last point. */
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

export function capacityPage(
  outcomes: readonly LoadOutcome[],
  { usdPerMillionUnits, chart }: { readonly usdPerMillionUnits: number; readonly chart: string },
): string {
  const shownAt = (points: readonly LoadOutcome[]): string => {
    const point = points.find(({ perSecond }) => perSecond === SHOWN_PER_SECOND);
    if (point === undefined) return '– | – | –';
    const usd = (point.unitsPerJob * usdPerMillionUnits).toFixed(2);
    return `${point.p99Ms.toFixed(0)} | ${point.unitsPerJob.toFixed(1)} | $${usd}`;
  };
  const rows = [...curvesOf(outcomes)].map(
    ([name, points]) =>
      `| ${name} | ${held(points) || 'less than the first'} | ${breaksBy(points)} | ${shownAt(points)} |`,
  );
  return `# Capacity

The jobs a second that Tollgate decides, and the first bottleneck. This command writes the page and its chart:

\`\`\`sh
npm run capacity
\`\`\`

**The model.** Requests come at random instants, without waiting for earlier responses; a latency counts from the scheduled instant. Jobs end
after 200 ms, so admissions and ends meet on the counters. Batching, decision and ledger are the real ones, in virtual time, on a table that
conflicts and throttles like DynamoDB. A job has three counters, and one of the whole instance if limits are shared. Processors and networks are
not modelled: [measurements.md](measurements.md) has them.

A curve *holds* while at most ${UNDECIDED_HELD * 100} % of jobs are undecided, that is not decided by the ledger within 2 s. It is followed until more
than ${UNDECIDED_BROKEN * 100} % are. Write units are those of admissions and settlements, failed transactions included.

![p99 against jobs a second](${chart})

| Setting | Holds at, jobs/s | Breaks by | p99 at ${SHOWN_PER_SECOND}/s, ms | Write units a job | Writes, a million jobs |
| --- | ---: | --- | ---: | ---: | ---: |
${rows.join('\n')}
`;
}

const SIZE = { width: 860, height: 420, left: 60, right: 320, top: 20, bottom: 50 } as const;
const P99_MS = { min: 5, max: 3_000 } as const;
const COLOURS = ['#0a54ab', '#b3541e', '#2f7d32', '#7b3fa0', '#a3263b', '#5b6770'] as const;

/** p99 against jobs a second, both by powers; a cross where more than a thousandth was undecided. */
export function capacityChart(outcomes: readonly LoadOutcome[]): string {
  const rates = outcomes.map(({ perSecond }) => perSecond);
  const [from, to] = [Math.min(...rates), Math.max(...rates)];
  const share = (value: number, min: number, max: number): number =>
    (Math.log(value) - Math.log(min)) / (Math.log(max) - Math.log(min) || 1);
  const x = (rate: number): number =>
    SIZE.left + share(rate, from, to) * (SIZE.width - SIZE.left - SIZE.right);
  const y = (ms: number): number =>
    SIZE.height -
    SIZE.bottom -
    share(Math.min(P99_MS.max, Math.max(P99_MS.min, ms)), P99_MS.min, P99_MS.max) *
      (SIZE.height - SIZE.top - SIZE.bottom);
  const at = (value: number): string => value.toFixed(1);
  const text = (left: number, top: number, content: string, anchor = 'start', colour = '#444'): string =>
    `<text x="${at(left)}" y="${at(top)}" text-anchor="${anchor}" fill="${colour}">${content}</text>`;
  const grid = [10, 30, 100, 300, 1_000, 3_000].map(
    (ms) =>
      `<path d="M${SIZE.left} ${at(y(ms))}H${SIZE.width - SIZE.right}" stroke="#ddd"/>${text(SIZE.left - 6, y(ms) + 4, String(ms), 'end')}`,
  );
  const ticks = [...new Set(rates)].map((rate) =>
    text(x(rate), SIZE.height - SIZE.bottom + 18, String(rate), 'middle'),
  );
  const curves = [...curvesOf(outcomes)].map(([name, points], index) => {
    const colour = COLOURS[index % COLOURS.length] ?? COLOURS[0];
    const line = points.map(({ perSecond, p99Ms }) => `${at(x(perSecond))},${at(y(p99Ms))}`).join(' ');
    const marks = points.map(({ perSecond, p99Ms, undecidedShare }) => {
      const [left, top] = [x(perSecond), y(p99Ms)];
      return undecidedShare > UNDECIDED_HELD
        ? `<path d="M${at(left - 4)} ${at(top - 4)}l8 8m0 -8l-8 8" stroke="${colour}" stroke-width="2"/>`
        : `<circle cx="${at(left)}" cy="${at(top)}" r="3" fill="${colour}"/>`;
    });
    const key = text(SIZE.width - SIZE.right + 12, SIZE.top + 12 + index * 18, name, 'start', colour);
    return `<polyline points="${line}" fill="none" stroke="${colour}" stroke-width="1.5"/>${marks.join('')}${key}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" font-family="sans-serif" font-size="11">
<title>p99 against jobs a second</title>
<rect width="100%" height="100%" fill="#fff"/>
${grid.join('\n')}
${ticks.join('\n')}
${text(SIZE.left, SIZE.height - 12, 'jobs a second → p99 in ms, from the scheduled instant; × more than 0.1 % undecided')}
${curves.join('\n')}
</svg>
`;
}

// Also when scripts/pinned.mjs runs it.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    process.exit(await main());
  } catch (error) {
    const usage = error instanceof TypeError;
    console.error(usage ? `${error.message}\n\n${USAGE}` : error);
    process.exit(usage ? 3 : 1);
  }
}
