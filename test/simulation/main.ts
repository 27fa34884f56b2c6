import { parseArgs } from 'node:util';
import { drawWorkload } from './month/draw.ts';
import { simulateMonth } from './month/month.ts';
import { reportText } from './month/report.ts';
import { SHAPE } from './month/shape.ts';

const USAGE = `npm run simulate [-- --seed <n>] [--jobs <n>]

A month in virtual time: 200 groups in three levels, budgets that run out, lost and repeated events, jobs that never ask or ask
again, edits of limits, grants, new prices, groups that move, periods that end, relays that die, GitLab away for six hours.
The real policies and the real ledger decide and settle. Every answer, claim, charge and counter is compared with what rules
written apart from them expect, and at the end with what the simulated GitLab knows.
test/simulation/month/shape.ts has every number.

  --seed <n>      another month; the same seed gives the same figures  [${SHAPE.seed}]
  --jobs <n>      100 to ${SHAPE.jobs}  [20000]

Exit codes: 0 all promises hold, 1 one is broken, 3 wrong usage`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(SHAPE.seed) },
      jobs: { type: 'string', default: '20000' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const seed = wholeNumber('--seed', values.seed, 0, 0xffff_ffff);
  const jobs = wholeNumber('--jobs', values.jobs, 100, SHAPE.jobs);
  const month = await simulateMonth({
    workload: drawWorkload({ ...SHAPE, seed, jobs }),
    estimate: 'history',
  });
  console.log(reportText(month));
  return month.problems.length === 0 ? 0 : 1;
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw new TypeError(`${name} is "${text}"; expected a whole number from ${least} to ${most}`);
  return value;
}

try {
  process.exitCode = await main();
} catch (error) {
  const usage = error instanceof TypeError;
  console.error(usage ? `${error.message}\n\n${USAGE}` : error);
  process.exitCode = usage ? 3 : 1;
}
