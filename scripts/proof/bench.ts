/** `npm run bench`: every promised figure, measured here. See USAGE. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Figure, isFailedFigure, reached, renderTable } from './bench/figure.ts';
import { medianOfTries } from './bench/median-of-tries.ts';
import { measurePart } from './bench/part-process.ts';
import { BENCH_PARTS } from './bench/parts.ts';

const USAGE = `npm run bench [-- --only <part>] [--json]

Measures each figure and says whether it reaches what is promised. Ratios are medians of interleaved rounds, counts are
exact, "modelled" figures rest on the constants in scripts/proof/bench/contention-constants.ts. Every part runs in a process of
its own, so that none is measured in another's heap. The same figures are written to .tollgate/bench.json.

  --only ${Object.keys(BENCH_PARTS).join(' | ')}
           one part
  --json   print JSON instead of the table

When a ratio of a part is missed, the part is measured twice more, and the median of all three counts.
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
  if (only !== undefined && BENCH_PARTS[only] === undefined) {
    throw new TypeError(`--only is "${only}"; expected one of ${Object.keys(BENCH_PARTS).join(', ')}`);
  }
  const figures: Figure[] = [];
  const partSeconds: Record<string, number> = {};
  const startedMs = performance.now();
  for (const name of Object.keys(BENCH_PARTS)) {
    if (only !== undefined && only !== name) continue;
    console.error(`measuring ${name} …`);
    const partStartedMs = performance.now();
    figures.push(...(await measured(name)));
    partSeconds[name] = secondsSince(partStartedMs);
  }
  const report = {
    node: process.version,
    seconds: Math.round(secondsSince(startedMs)),
    partSeconds,
    figures: figures.map((figure) => ({ ...figure, reached: reached(figure) })),
  };
  mkdirSync(`${root}.tollgate`, { recursive: true });
  writeFileSync(`${root}.tollgate/bench.json`, `${JSON.stringify(report, null, 2)}\n`);
  console.log(
    json
      ? JSON.stringify(report)
      : `\n${renderTable(figures)}\n\n${report.seconds} s on Node ${process.version}`,
  );
  return figures.some(isFailedFigure) ? 1 : 0;
}

/** To the tenth. */
const secondsSince = (startedMs: number): number => Math.round((performance.now() - startedMs) / 100) / 10;

const measured = (name: string): Promise<readonly Figure[]> =>
  medianOfTries(
    () => measurePart(name),
    (time, of) => console.error(`measuring ${name} again (${time} of ${of}): a ratio was missed …`),
  );

try {
  process.exit(await main());
} catch (error) {
  const usage = error instanceof TypeError;
  console.error(usage ? `${error.message}\n\n${USAGE}` : error);
  process.exit(usage ? 3 : 1);
}
