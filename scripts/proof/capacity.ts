import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseInput } from '../terminal/define.ts';
import { runProgram } from '../terminal/program.ts';
import { type LoadOutcome, type LoadPoint, measureLoad } from './bench/load.ts';

const USAGE = `npm run capacity

Measures 1, 64 and 1000 root groups, with two and four relays and with one transaction per job, with own limits and with one of the
instance besides, at rising rates in virtual time, and writes the table of docs/capacity.md. Takes some minutes; the same on any machine.
BENCH_TRANSACTION_MS and BENCH_ITEM_MS take what \`npm run bench:aws\` measured.

Exit codes: 0 done, 3 wrong usage`;

const ROOTS = [1, 64, 1_000] as const;
const SIDES = [2, 4, 'naive'] as const;
const PER_SECOND = [100, 250, 500, 1_000, 2_000, 3_000, 5_000, 8_000] as const;
const UNDECIDED_MAX = 0.001;
const SETTLED_MIN = 0.99;
/** DynamoDB's default quota, for a table with its indexes. */
const TABLE_UNITS_PER_SECOND = 40_000;

const PAGE = fileURLToPath(new URL('../../docs/capacity.md', import.meta.url));

async function measureCurve(curve: Omit<LoadPoint, 'perSecond'>): Promise<readonly LoadOutcome[]> {
  const outcomes: LoadOutcome[] = [];
  for (const perSecond of PER_SECOND) {
    const outcome = await measureLoad({ ...curve, perSecond });
    outcomes.push(outcome);
    console.error(
      `${curveOf(outcome)}, ${perSecond}/s: p99 ${outcome.p99Ms.toFixed(0)} ms, ${(outcome.undecidedShare * 100).toFixed(1)} % undecided`,
    );
    if (breaksBy(outcome) !== undefined) break;
  }
  return outcomes;
}

async function main(args: readonly string[]): Promise<number> {
  parseInput(args, {}, {});
  const outcomes: LoadOutcome[] = [];
  for (const isShared of [false, true])
    for (const roots of ROOTS)
      for (const relays of SIDES) outcomes.push(...(await measureCurve({ roots, relays, isShared })));
  writeFileSync(PAGE, capacityPage(readFileSync(PAGE, 'utf8'), outcomes));
  return 0;
}

const curveOf = ({ roots, relays, isShared }: LoadPoint): string =>
  `${roots === 1 ? '1 root' : `${roots} roots`}, ${
    relays === 'naive' ? 'a transaction per job' : `${relays} relays`
  }, ${isShared ? 'own and shared limits' : 'own limits'}`;

/** @returns the bound that a rate passes. The page names the setting that raises it. */
function breaksBy(load: LoadOutcome): string | undefined {
  const isDecided = load.undecidedShare <= UNDECIDED_MAX && load.settledShare >= SETTLED_MIN;
  if (isDecided)
    return load.unitsPerJob * load.perSecond > TABLE_UNITS_PER_SECOND ? 'table quota' : undefined;
  return load.isShared && load.roots > 1 ? 'shared counter' : 'group counters';
}

/** Replaces the rows of the page's table. */
function capacityPage(page: string, outcomes: readonly LoadOutcome[]): string {
  const rows = [...Map.groupBy(outcomes, curveOf)].map(([name, points]) => {
    const bound = points.map(breaksBy).find((each) => each !== undefined) ?? '–';
    const held = points.findLast((load) => breaksBy(load) === undefined);
    const figures = held && [held.p99Ms.toFixed(0), held.unitsPerJob.toFixed(1), held.jobsPerCall.toFixed(1)];
    return `| ${name} | ${held?.perSecond ?? 0} | ${bound} | ${(figures ?? ['–', '–', '–']).join(' | ')} |\n`;
  });
  return page.replace(/(\| ---.*\n)(\|.*\n)*/, `$1${rows.join('')}`);
}

if (import.meta.main) await runProgram(main, 'npm run capacity -- --help', { usage: USAGE });
