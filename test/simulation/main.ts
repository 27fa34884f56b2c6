import { parseInput, text, whole } from '../../scripts/terminal/define.ts';
import { runProgram } from '../../scripts/terminal/program.ts';
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

async function main(args: readonly string[]): Promise<number> {
  const flags = {
    seed: text('<n>', '', whole(0, 0xffff_ffff)),
    jobs: text('<n>', '', whole(100, SHAPE.jobs)),
  };
  const { seed = SHAPE.seed, jobs = 20_000 } = parseInput(args, flags, {}).flags;
  const workload = drawWorkload({ ...SHAPE, seed, jobs });
  const month = await simulateMonth({ workload, estimate: 'history' });
  console.log(reportText(month));
  return month.problems.length === 0 ? 0 : 1;
}

await runProgram(main, 'npm run simulate -- --help', { usage: USAGE });
