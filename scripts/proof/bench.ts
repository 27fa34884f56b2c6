import { choice, parseInput } from '../terminal/define.ts';
import { runProgram } from '../terminal/program.ts';
import { type Figure, reached, renderTable } from './bench/figure.ts';
import { BENCH_PARTS, measurePart, medianOfTries } from './bench/parts.ts';

const USAGE = `npm run bench [-- --only <part>] [--json]

Measures each figure and compares it with its bound. Ratios are medians of interleaved rounds, counts are exact, "modelled"
figures rest on the constants in scripts/proof/bench/contention-model.ts. Each part runs in its own process, so that no
part is measured in the heap of another.

  --only ${Object.keys(BENCH_PARTS).join(' | ')}
           one part
  --json   print JSON instead of the table

If a part misses a ratio, it is measured twice more, and the median of all three counts.
Exit codes: 0 all reached, 1 one missed, 3 wrong usage`;

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(USAGE);
    return 0;
  }
  const parts = Object.keys(BENCH_PARTS);
  const { only, json } = parseInput(args, { only: choice('<part>', '', parts) }, {}).flags;
  const figures: Figure[] = [];
  for (const name of only === undefined ? parts : [only])
    figures.push(
      ...(await medianOfTries(() => {
        console.error(`measuring ${name} …`);
        return measurePart(name);
      })),
    );
  const report = {
    node: process.version,
    figures: figures.map((figure) => ({ ...figure, reached: reached(figure) })),
  };
  console.log(json ? JSON.stringify(report) : `\n${renderTable(figures)}`);
  return figures.every(reached) ? 0 : 1;
}

await runProgram(main, 'npm run bench -- --help');
