/** Changes one condition after the other in copies of the tree, and lets its tests judge. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type ConditionChange, changedSource, conditionChanges } from './condition-changes.ts';
import type { MutantTarget } from './targets.ts';

export interface MutantChange extends ConditionChange, MutantTarget {}

export interface MutantOutcome {
  readonly mutant: MutantChange;
  /** `hung`: ended by force, which a test run would have been, too. */
  readonly outcome: 'caught' | 'hung' | 'survived';
}

/** Far beyond what these tests take, even on a machine that is busy: a loop without an end is what remains. */
const HUNG_MS_MIN = 20_000;
const HUNG_TIMES = 4;
const UNCHANGED_MS_MAX = 600_000;

export const mutantsOf = (root: string, targets: readonly MutantTarget[]): readonly MutantChange[] =>
  targets.flatMap((target) =>
    conditionChanges(readFileSync(join(root, target.source), 'utf8')).map((change) => ({
      ...change,
      ...target,
    })),
  );

/** `relay/room.ts:12 a < b → a <= b`, the line aside: it moves. */
export const changeText = ({ from, to }: ConditionChange): string => `${from} → ${to}`;

interface TryOptions {
  readonly root: string;
  readonly atOnce: number;
  readonly tried: (one: MutantOutcome) => void;
}

/** @throws {Error} if the tests do not pass on the unchanged tree, or it is no clone. */
export async function tryMutants(
  mutants: readonly MutantChange[],
  { root, atOnce, tried }: TryOptions,
): Promise<readonly MutantOutcome[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'tollgate-mutants-'));
  const found: MutantOutcome[] = [];
  const running = new Set<ChildProcess>();
  const endAll = (): void => {
    for (const child of running) child.kill('SIGKILL');
    rmSync(scratch, { recursive: true, force: true });
  };
  process.once('exit', endAll);
  try {
    // All at the start: the tree may be worked on meanwhile.
    const trees = mutants.slice(0, atOnce).map((_, name) => copyTree(root, join(scratch, String(name))));
    const left = [...mutants];
    const worker = async (tree: string, hungMs: number): Promise<void> => {
      for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
        const file = join(tree, mutant.source);
        const source = readFileSync(file, 'utf8');
        writeFileSync(file, changedSource(source, mutant));
        const outcome = await judgedInTurn(tree, mutant, { hungMs, running });
        writeFileSync(file, source);
        const one = { mutant, outcome: outcome === 'passed' ? 'survived' : outcome } as const;
        found.push(one);
        tried(one);
      }
    };
    const tests = [...new Set(mutants.flatMap(({ tests, slowTests = [] }) => [...tests, ...slowTests]))];
    const startedAtMs = performance.now();
    for (const tree of trees.slice(0, 1)) {
      const outcome = await judged(tree, tests, { hungMs: UNCHANGED_MS_MAX, running });
      if (outcome !== 'passed')
        throw new Error('the tests do not pass on the tree as it is: run npm test first');
    }
    const hungMs = Math.max(HUNG_MS_MIN, HUNG_TIMES * (performance.now() - startedAtMs));
    await Promise.all(trees.map((tree) => worker(tree, hungMs)));
    return found;
  } finally {
    process.off('exit', endAll);
    endAll();
  }
}

/** What git knows or would take, as it stands. */
function copyTree(root: string, tree: string): string {
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const file of new Set(listed.split('\0').filter((name) => name !== ''))) {
    mkdirSync(join(tree, dirname(file)), { recursive: true });
    cpSync(join(root, file), join(tree, file));
  }
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  return tree;
}

interface JudgeOptions {
  readonly hungMs: number;
  /** Is told of every process, as long as it runs. */
  readonly running: Set<ChildProcess>;
}

type Judgement = 'passed' | 'caught' | 'hung';

/** The quick tests first: they notice most of it. */
async function judgedInTurn(
  tree: string,
  { tests, slowTests = [] }: MutantTarget,
  options: JudgeOptions,
): Promise<Judgement> {
  const outcome = await judged(tree, tests, options);
  return outcome !== 'passed' || slowTests.length === 0 ? outcome : judged(tree, slowTests, options);
}

function judged(
  tree: string,
  tests: readonly string[],
  { hungMs, running }: JudgeOptions,
): Promise<Judgement> {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
  // One process, so that nothing of a loop without an end outlives it.
  const once = ['--project', 'unit', '--bail', '1', '--no-file-parallelism', '--pool', 'threads'];
  const child = spawn(process.execPath, [...vitest, ...once, '--silent', '--reporter', 'dot', ...tests], {
    cwd: tree,
    stdio: 'ignore',
  });
  running.add(child);
  return new Promise((resolve, reject) => {
    let hung = false;
    const timer = setTimeout(() => {
      hung = true;
      child.kill('SIGKILL');
    }, hungMs);
    const end = (): void => {
      clearTimeout(timer);
      running.delete(child);
    };
    child.on('error', (error) => {
      end();
      reject(error);
    });
    child.on('exit', (code) => {
      end();
      resolve(hung ? 'hung' : code === 0 ? 'passed' : 'caught');
    });
  });
}
