import { UsageError } from '../terminal/command.ts';
import { flagLines, orElse, parseInput, text, whole } from '../terminal/define.ts';
import { runProgram } from '../terminal/program.ts';
import { chaosHolds, chaosText, runChaos } from './chaos/run.ts';
import { FAULTS } from './chaos/scene.ts';

const MINUTES = { min: 0.1, max: 120, usual: 10 };
const SEED_MAX = 0xffff_ffff;

const minutesIn = (given: string, flag: string): number => {
  const minutes = Number(given);
  if (minutes >= MINUTES.min && minutes <= MINUTES.max) return minutes;
  throw new UsageError(`--${flag} "${given}": expected ${MINUTES.min} to ${MINUTES.max}`);
};

const FLAGS = {
  seed: text(
    '<n>',
    'order, length and place of the faults, and the jobs (default: random)',
    whole(0, SEED_MAX),
  ),
  minutes: orElse(text('<n>', `duration, ${MINUTES.min} to ${MINUTES.max}`, minutesIn), MINUTES.usual),
};

const USAGE = `npm run chaos [-- --seed <n>] [--minutes <n>]

Two relays, the bundled functions and DynamoDB Local as processes, a router that asks under a shared cap that is always full, and
one fault after the other. At every commit no limit is passed by what the ledger admitted; at the end every request has
a response, every job that ran is charged, and a recount finds no drift. Only decisions that died with a killed relay, or
that a relay cannot know to be delivered, need the sweep for that. Needs Java for DynamoDB Local.

${flagLines(FLAGS)}

Faults: ${Object.keys(FAULTS).join('; ')}

Exit codes: 0 everything holds, 1 something does not, 3 wrong usage`;

async function main(args: readonly string[]): Promise<number> {
  const { seed = Math.floor(Math.random() * SEED_MAX), minutes } = parseInput(args, FLAGS, {}).flags;
  console.error(`seed ${seed}, ${minutes} min`);
  const result = await runChaos(seed, minutes, console.error);
  console.log(chaosText(result));
  return chaosHolds(result) ? 0 : 1;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

await runProgram(main, 'npm run chaos -- --help', { usage: USAGE });
