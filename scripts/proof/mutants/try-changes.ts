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
  const unchangedMs = new Map<string, Promise<number>>();
  const endAll = (): void => {
    for (const child of running) child.kill('SIGKILL');
    rmSync(scratch, { recursive: true, force: true });
  };
  process.once('exit', endAll);
  try {
    // All at the start: the tree may be worked on meanwhile.
    const judges = mutants
      .slice(0, atOnce)
      .map((_, name) => new Judge(copyTree(root, join(scratch, String(name))), running, unchangedMs));
    const left = [...mutants];
    const work = async (judge: Judge): Promise<void> => {
      for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
        const one = { mutant, outcome: await judge.outcomeOf(mutant) };
        found.push(one);
        tried(one);
      }
    };
    await Promise.all(judges.map(work));
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

/** One copy of the tree, and how long its tests take. */
class Judge {
  readonly #tree: string;
  readonly #running: Set<ChildProcess>;
  readonly #unchangedMs: Map<string, Promise<number>>;

  /** @param unchangedMs - what tests took on the tree as it is: all judges ask that once. */
  constructor(tree: string, running: Set<ChildProcess>, unchangedMs: Map<string, Promise<number>>) {
    this.#tree = tree;
    this.#running = running;
    this.#unchangedMs = unchangedMs;
  }

  /** The quick tests are asked first: they notice most of it. */
  async outcomeOf(mutant: MutantChange): Promise<MutantOutcome['outcome']> {
    for (const tests of [mutant.tests, mutant.slowTests ?? []]) {
      const outcome = tests.length === 0 ? 'passed' : await this.#judged(mutant, tests);
      if (outcome !== 'passed') return outcome;
    }
    return 'survived';
  }

  async #judged(mutant: MutantChange, tests: readonly string[]): Promise<TestsOutcome> {
    const hungMs = Math.max(HUNG_MS_MIN, HUNG_TIMES * (await this.#unchanged(tests)));
    const file = join(this.#tree, mutant.source);
    const source = readFileSync(file, 'utf8');
    writeFileSync(file, changedSource(source, mutant));
    const outcome = await this.#run(tests, hungMs);
    writeFileSync(file, source);
    return outcome;
  }

  #unchanged(tests: readonly string[]): Promise<number> {
    const name = tests.join(' ');
    const known = this.#unchangedMs.get(name);
    if (known !== undefined) return known;
    const tookMs = this.#timeUnchanged(tests);
    this.#unchangedMs.set(name, tookMs);
    return tookMs;
  }

  async #timeUnchanged(tests: readonly string[]): Promise<number> {
    const startedAtMs = performance.now();
    if ((await this.#run(tests, UNCHANGED_MS_MAX)) !== 'passed')
      throw new Error(`the tests fail on the tree as it is: npm test -- --project unit ${tests.join(' ')}`);
    return performance.now() - startedAtMs;
  }

  #run(tests: readonly string[], hungMs: number): Promise<TestsOutcome> {
    // One process, so that nothing of a loop without an end outlives it.
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
    const inOne = ['--project', 'unit', '--bail', '1', '--no-file-parallelism', '--pool', 'threads'];
    const child = spawn(process.execPath, [...vitest, ...inOne, '--silent', '--reporter', 'dot', ...tests], {
      cwd: this.#tree,
      stdio: 'ignore',
    });
    this.#running.add(child);
    return new Promise((resolve, reject) => {
      let hung = false;
      const timer = setTimeout(() => {
        hung = true;
        child.kill('SIGKILL');
      }, hungMs);
      const end = (): void => {
        clearTimeout(timer);
        this.#running.delete(child);
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
}

type TestsOutcome = 'passed' | 'caught' | 'hung';
