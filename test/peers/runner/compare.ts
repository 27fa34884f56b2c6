/**
 * Asks the runner's own libraries (`main.go`) and Tollgate the same random questions and fails where they differ.
 *
 *   node scripts/pinned.mjs test/peers/runner/compare.ts [--cases 20000] [--seed 1]
 *
 * Needs Go.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { seededRandom } from '../../../scripts/local/random.ts';
import { compare, LIBRARIES, type Library, newQuestion, type Question, type RunnersAnswer } from './cases.ts';

const TOLD_MAX = 10;
const RUN_MS_MAX = 60_000;
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
  },
});

const program = join(mkdtempSync(join(tmpdir(), 'tollgate-runner-')), 'runner');
process.on('exit', () => rmSync(dirname(program), { recursive: true, force: true }));
const built = spawnSync('go', ['build', '-mod=readonly', '-buildvcs=false', '-o', program, '.'], {
  cwd: import.meta.dirname,
  stdio: 'inherit',
});
if (built.status !== 0)
  throw new Error(`go build ended with ${built.status ?? built.error?.message}; is Go installed?`);

function answersOf(questions: readonly Question[]): readonly RunnersAnswer[] {
  const run = spawnSync(program, {
    input: questions.map((each) => JSON.stringify(each)).join('\n'),
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
    timeout: RUN_MS_MAX,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (run.status !== 0)
    throw new Error(`the runner's libraries ended with ${run.status ?? run.error?.message}`);
  return run.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RunnersAnswer);
}

function compareAll(library: Library): number {
  const random = seededRandom(Number(values.seed) + LIBRARIES.indexOf(library));
  const questions = Array.from({ length: Number(values.cases) }, () => newQuestion(library, random));
  const answers = answersOf(questions);
  const counts = { agrees: 0, stricter: 0, unspecified: 0, differs: 0 };
  questions.forEach((question, index) => {
    const answer = answers[index];
    if (answer === undefined) throw new Error(`${library}: question ${index} has no answer`);
    const comparison = compare(question, answer);
    counts[comparison] += 1;
    if (comparison === 'differs' && counts.differs <= TOLD_MAX)
      process.stdout.write(`${library} differs: ${JSON.stringify(question)} ${JSON.stringify(answer)}\n`);
  });
  const told = Object.entries(counts).map(([what, count]) => `${what} ${count}`);
  process.stdout.write(`${library}: ${questions.length} cases: ${told.join(', ')}\n`);
  return counts.differs;
}

const differing = LIBRARIES.map(compareAll).reduce((sum, each) => sum + each, 0);
if (differing > 0) process.exitCode = 1;
