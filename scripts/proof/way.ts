/** `npm run way`: the files and functions that one question really executes. See USAGE. */

import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startAsking } from './way/ask-once.ts';
import { startEditing } from './way/edit-once.ts';
import { type ExecutedFile, executedBy } from './way/executed.ts';

const USAGE = `npm run way -- <admission | rejection | csv-edit> [--json]

Asks one question of the real programs, in this process, and prints the files and functions of relay/, functions/ and policies/
that ran for it, counted by V8. A file stands before those it imports. DynamoDB's client is answered from memory.

  admission   a job the router asks about, and that is admitted
  rejection   a job that no longer fits the budget of its group
  csv-edit    a file of limits, exported, changed and made live through the console's API

Exit codes: 0 told, 3 wrong usage`;

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The twin in memory answers in DynamoDB's place here; deployed programs never run it. */
const TWIN = /^functions\/core\/store\/(memory-table|table-evaluation|meets)\.ts$/;
const isOurs = (file: string): boolean => /^(relay|functions|policies)\//.test(file) && !TWIN.test(file);
/** What loads, compiles and remembers at the first time is no part of the way. */
const WARM_UP = 3;
/** Questions of which the way is taken. */
const MEASURED = 3;

type Way = 'admission' | 'rejection' | 'csv-edit';

/** @throws {Error} if the question is not answered as it must be. */
async function wayOf(way: Way): Promise<readonly ExecutedFile[]> {
  if (way === 'csv-edit') {
    const edit = await startEditing();
    for (let time = 0; time < WARM_UP; time += 1) await edit(800 - time);
    return executedBy(() => edit(700), root, isOurs);
  }
  const answer = way === 'admission' ? 'admitted' : 'rejected';
  const asking = await startAsking(way === 'admission' ? 900_000 : 0);
  try {
    for (let time = 0; time < WARM_UP; time += 1) await asking.ask(answer);
    const [first = [], ...others] = await inTurn(() => executedBy(() => asking.ask(answer), root, isOurs));
    // A timer may fire meanwhile, and on a busy machine one does: what one of the questions did without is no part of the way.
    return first.filter(({ file }) => others.every((ran) => ran.some((each) => each.file === file)));
  } finally {
    await asking.close();
  }
}

async function inTurn<T>(ask: () => Promise<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for (let time = 0; time < MEASURED; time += 1) all.push(await ask());
  return all;
}

const WAYS: readonly string[] = ['admission', 'rejection', 'csv-edit'] satisfies readonly Way[];
const isWay = (word: string | undefined): word is Way => word !== undefined && WAYS.includes(word);

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const [word] = positionals;
  if (values.help || !isWay(word) || positionals.length > 1) {
    (values.help ? console.log : console.error)(USAGE);
    return values.help ? 0 : 3;
  }
  const files = await wayOf(word);
  if (values.json) console.log(JSON.stringify({ way: word, files }, undefined, 2));
  else {
    for (const { file, functions } of files) console.log(`${file}\n    ${functions.join(', ')}`);
    console.log(`\n${files.length} files, ${files.flatMap(({ functions }) => functions).length} functions`);
  }
  return 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    process.exit(await main());
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
