import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runProgram } from '../terminal/program.ts';
import { type Figure, reached, renderTable } from './bench/figure.ts';
import { BENCH_PARTS, measurePart, medianOfTries } from './bench/parts.ts';

const USAGE = `npm run bench [-- --only <part>] [--json]

Measures each figure and compares it with its bound. Ratios are medians of interleaved rounds, counts are exact, "modelled"
figures rest on the constants in scripts/proof/bench/contention-model.ts. Each part runs in its own process, so that no
part is measured in the heap of another. The figures are also written to .tollgate/bench.json.

  --only ${Object.keys(BENCH_PARTS).join(' | ')}
           one part
  --json   print JSON instead of the table

If a part misses a ratio, it is measured twice more, and the median of all three counts.
Exit codes: 0 all reached, 1 one missed, 3 wrong usage`;

const root = fileURLToPath(new URL('../..', import.meta.url));

async function main(): Promise<number> {
  const { only, json, help } = parseArgs({
    options: {
      only: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  }).values;
  if (help) {
    console.log(USAGE);
    return 0;
  }
  if (only !== undefined && BENCH_PARTS[only] === undefined)
    throw new TypeError(`--only is "${only}"; expected one of ${Object.keys(BENCH_PARTS).join(', ')}`);
  const figures: Figure[] = [];
  for (const name of Object.keys(BENCH_PARTS)) {
    if (only !== undefined && only !== name) continue;
    console.error(`measuring ${name} …`);
    const onAgain = (time: number, of: number): void =>
      console.error(`measuring ${name} again (${time} of ${of}): a ratio was missed …`);
    figures.push(...(await medianOfTries(() => measurePart(name), onAgain)));
  }
  const report = {
    node: process.version,
    figures: figures.map((figure) => ({ ...figure, reached: reached(figure) })),
  };
  mkdirSync(`${root}.tollgate`, { recursive: true });
  writeFileSync(`${root}.tollgate/bench.json`, `${JSON.stringify(report, null, 2)}\n`);
  console.log(json ? JSON.stringify(report) : `\n${renderTable(figures)}`);
  return figures.every(reached) ? 0 : 1;
}

await runProgram(main, 'npm run bench -- --help', (error) => error instanceof TypeError);
