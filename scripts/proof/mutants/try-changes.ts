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
const HUNG_MS = 180_000;

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
    const left = [...mutants];
    const worker = async (name: number): Promise<void> => {
      const tree = join(scratch, String(name));
      copyTree(root, tree);
      for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
        const file = join(tree, mutant.source);
        const source = readFileSync(join(root, mutant.source), 'utf8');
        writeFileSync(file, changedSource(source, mutant));
        const outcome = await judged(tree, mutant.tests, running);
        writeFileSync(file, source);
        const one = { mutant, outcome: outcome === 'passed' ? 'survived' : outcome } as const;
        found.push(one);
        tried(one);
      }
    };
    const unchanged = join(scratch, 'unchanged');
    copyTree(root, unchanged);
    const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
    if ((await judged(unchanged, tests, running)) !== 'passed')
      throw new Error('the tests do not pass on the tree as it is: run npm test first');
    await Promise.all(Array.from({ length: Math.min(atOnce, mutants.length) }, (_, name) => worker(name)));
    return found;
  } finally {
    process.off('exit', endAll);
    endAll();
  }
}

/** What git knows or would take, as it stands. */
function copyTree(root: string, tree: string): void {
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
}

function judged(
  tree: string,
  tests: readonly string[],
  running: Set<ChildProcess>,
): Promise<'passed' | 'caught' | 'hung'> {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
  const once = ['--project', 'unit', '--bail', '1', '--maxWorkers', '1', '--silent', '--reporter', 'dot'];
  const child = spawn(process.execPath, [...vitest, ...once, ...tests], { cwd: tree, stdio: 'ignore' });
  running.add(child);
  return new Promise((resolve, reject) => {
    let hung = false;
    const timer = setTimeout(() => {
      hung = true;
      child.kill('SIGKILL');
    }, HUNG_MS);
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
