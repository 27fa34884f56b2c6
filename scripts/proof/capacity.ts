/** `npm run capacity`: jobs a second against p99, undecided, units and cost, and what breaks first. See USAGE. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PRICES } from '../cli/cost/prices.ts';
import { capacityChart, capacityPage, curveOf, UNDECIDED_BROKEN } from './bench/capacity-page.ts';
import { type LoadOutcome, type LoadPoint, measureLoad } from './bench/open-loop.ts';

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
/** What the chart can show legibly: many roots are what sites are. */
const isCharted = ({ roots, relays }: LoadPoint): boolean => roots === 64 && relays !== 4;

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

try {
  process.exit(await main());
} catch (error) {
  const usage = error instanceof TypeError;
  console.error(usage ? `${error.message}\n\n${USAGE}` : error);
  process.exit(usage ? 3 : 1);
}
