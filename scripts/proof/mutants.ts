/** `npm run mutants`: makes conditions a little wrong, one at a time, and expects a test to notice. See USAGE. */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { seededRandom } from '../local/seeded-random.ts';
import { changedSince } from './mutants/changed-since.ts';
import { isHarmless, misnamedHarmless } from './mutants/harmless-changes.ts';
import { MUTANT_TARGETS } from './mutants/targets.ts';
import {
  changeText,
  type MutantChange,
  type MutantOutcome,
  mutantsOf,
  tryMutants,
} from './mutants/try-changes.ts';

const USAGE = `npm run mutants [-- [<source> …] [--since <commit>] [--sample <n>] [--seed <n>] [--json]]

Writes each comparison, "and", "or" and "not" of these files otherwise, one at a time in a copy of the tree, and runs the file's
tests: one of them must fail. A change that none of them notices is a condition nobody tests.

  <source>          of these files only  [all]
  --since <commit>  of lines that are others than there  [all]
  --sample <n>      so many changes at most, drawn by the seed  [all]
  --seed <n>        [random]
  --json            print JSON instead of lines

Files:
${MUTANT_TARGETS.map(({ source }) => `  ${source}`).join('\n')}

Exit codes: 0 every change was noticed or is listed as harmless, 1 one was not, or what is listed is no one change any more,
3 wrong usage`;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SEED_MAX = 0xffff_ffff;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      since: { type: 'string' },
      sample: { type: 'string' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * SEED_MAX)) },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const unknown = positionals.find((name) => !MUTANT_TARGETS.some(({ source }) => source === name));
  if (unknown !== undefined) throw new TypeError(`<source> is "${unknown}"; --help lists the files`);
  const misnamed = misnamedHarmless(mutantsOf(ROOT, MUTANT_TARGETS));
  if (misnamed.length > 0) {
    console.error(
      `listed as harmless, and no one change:\n${misnamed.map((each) => `  ${each}`).join('\n')}`,
    );
    return 1;
  }
  const targets = MUTANT_TARGETS.filter(
    ({ source }) => positionals.length === 0 || positionals.includes(source),
  );
  const seed = wholeNumber('seed', values.seed, SEED_MAX);
  const isMeant = values.since === undefined ? () => true : changedSince(ROOT, values.since);
  const all = mutantsOf(ROOT, targets).filter((mutant) => !isHarmless(mutant) && isMeant(mutant));
  const mutants =
    values.sample === undefined ? all : drawn(all, wholeNumber('sample', values.sample, SEED_MAX), seed);
  console.error(`${mutants.length} of ${all.length} changes, seed ${seed}`);
  const found = await tryMutants(mutants, {
    root: ROOT,
    atOnce: availableParallelism(),
    tried: (one) => console.error(lineOf(one)),
  });
  const survived = found.filter(({ outcome }) => outcome === 'survived');
  console.log(
    values.json
      ? JSON.stringify({ seed, changes: found.length, survived: survived.map(jsonOf) }, undefined, 2)
      : `${found.length - survived.length} of ${found.length} changes noticed${survived.map((one) => `\n  ${lineOf(one)}`).join('')}`,
  );
  return survived.length === 0 ? 0 : 1;
}

function wholeNumber(name: string, text: string, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > max)
    throw new TypeError(`--${name} is "${text}"; expected a whole number from 0 to ${max}`);
  return value;
}

function drawn(all: readonly MutantChange[], count: number, seed: number): readonly MutantChange[] {
  const random = seededRandom(seed);
  return all
    .map((mutant) => ({ mutant, lot: random() }))
    .toSorted((one, other) => one.lot - other.lot)
    .slice(0, count)
    .map(({ mutant }) => mutant);
}

const lineOf = ({ mutant, outcome }: MutantOutcome): string =>
  `${outcome.padEnd(8)} ${mutant.source}:${mutant.line} ${changeText(mutant)}`;

const jsonOf = ({ mutant }: MutantOutcome) => ({
  ...{ source: mutant.source, line: mutant.line, from: mutant.from, to: mutant.to },
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

try {
  process.exit(await main());
} catch (error) {
  const usage = error instanceof TypeError && /^<source>|--/.test(error.message);
  console.error(usage ? `${error.message}\n\n${USAGE}` : error);
  process.exit(usage ? 3 : 1);
}
