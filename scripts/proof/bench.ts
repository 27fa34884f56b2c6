import { choice, parseInput, text } from '../terminal/define.ts';
import { runProgram } from '../terminal/program.ts';
import { type Figure, passes, reached, renderTable } from './bench/figure.ts';
import { BENCH_PARTS, measurePart } from './bench/parts.ts';
import { ENV_AGAINST } from './bench/processes.ts';

const USAGE = `npm run bench [-- --only <part>] [--against <revision>] [--json]

Measures each figure and compares it with its bound. Ratios are medians of interleaved rounds; they depend on the machine, so
their targets fail nothing. Counts repeat, and steps of JavaScript are compared with the commit that landed last. "modelled"
figures rest on the constants in scripts/proof/bench/contention-model.ts. Each part runs in its own process, so that no
part is measured in the heap of another.

  --only ${Object.keys(BENCH_PARTS).join(' | ')}
           one part
  --against <revision>
           compare with this one. Default: main, or on main the commit before
  --json   print JSON instead of the table

Exit codes: 0 all reached, 1 a count or a modelled figure missed, 3 wrong usage`;

async function main(args: readonly string[]): Promise<number> {
  const parts = Object.keys(BENCH_PARTS);
  const flags = { only: choice('<part>', '', parts), against: text('<revision>', '') };
  const { only, against, json } = parseInput(args, flags, {}).flags;
  if (against !== undefined) process.env[ENV_AGAINST] = against;
  const figures: Figure[] = [];
  for (const name of only === undefined ? parts : [only]) {
    console.error(`measuring ${name} …`);
    figures.push(...(await measurePart(name)));
  }
  const report = {
    node: process.version,
    figures: figures.map((figure) => ({ ...figure, reached: reached(figure) })),
  };
  console.log(json ? JSON.stringify(report) : `\n${renderTable(figures)}`);
  return figures.every(passes) ? 0 : 1;
}

await runProgram(main, 'npm run bench -- --help', { usage: USAGE });
