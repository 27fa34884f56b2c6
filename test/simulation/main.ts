/** `npm run simulate`: a month of CI in virtual time, and the books against the truth. See USAGE. */
import { parseArgs } from 'node:util';
import { runArms } from './month/arms.ts';
import { ESTIMATES } from './month/month.ts';
import { chargedPerTrue, invariantsOf, reportText } from './month/report.ts';
import { MONTH_DAYS, SHAPE } from './month/shape.ts';

const USAGE = `npm run simulate [-- --seed <n>] [--jobs <n>] [--json]

A month in virtual time: 200 groups in three levels, 200 000 jobs, budgets that run out, lost and repeated events, jobs
that never ask or ask again, edits of limits, grants, new prices, groups that move, periods that end, relays that die,
GitLab away for six hours. The real policies and the real ledger decide and settle. Every answer, claim, charge and
counter is compared with what rules written apart from them expect, and at the end the books with what the simulated
GitLab knows. Up to 50 000 jobs the table's stream is rolled up, and usage is compared, too. Three times over the same
workload: with holds by history (the product's own), by the default of the policy, and by the timeout.
test/simulation/month/shape.ts has every number.

  --seed <n>      another month; the same seed gives the same figures  [${SHAPE.seed}]
  --jobs <n>      a smaller month, 100 to ${SHAPE.jobs}  [${SHAPE.jobs}]
  --json          print JSON instead of the table

Exit codes: 0 every invariant holds, 1 one is broken, 3 wrong usage`;

const JOBS_MIN = 100;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(SHAPE.seed) },
      jobs: { type: 'string', default: String(SHAPE.jobs) },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const seed = wholeNumber('--seed', values.seed, 0, 0xffff_ffff);
  const jobs = wholeNumber('--jobs', values.jobs, JOBS_MIN, SHAPE.jobs);
  const months = await runArms({ ...SHAPE, seed, jobs }, ESTIMATES, progress());
  const broken = months.some((month) => invariantsOf(month).some(({ holds }) => !holds));
  if (values.json) {
    const printed = months.map((month) => ({
      ...{ ...month, chargedPerTrue: chargedPerTrue(month), invariants: invariantsOf(month) },
    }));
    console.log(JSON.stringify({ seed, jobs, months: printed }, undefined, 2));
  } else console.log(reportText(months));
  return broken ? 1 : 0;
}

/** One line that rewrites itself, on a terminal only. */
function progress(): (estimate: string, day: number) => void {
  const days = new Map<string, number>();
  return (estimate, day) => {
    days.set(estimate, Math.min(day, MONTH_DAYS));
    const line = [...days].map(([name, each]) => `${name} ${each}/${MONTH_DAYS}`).join('   ');
    if (process.stderr.isTTY) process.stderr.write(`\r${line}   `);
  };
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
