/** Groups move between roots and are renamed; who is charged was decided with each job. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Statement } from '../../../../functions/answers/statement/model.ts';
import type { AdmissionRequest } from '../../../../policies/request/request.ts';
import { openLedger } from '../../../../scripts/cli/open-ledger.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { listed } from '../desk-run.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';

const ROOTS = [100, 200, 300];
/** Below the roots; 111 and 211 begin below 110 and 210. */
const BELOW = [110, 111, 210, 211, 310];
const BEGIN: Parents = { 110: 100, 111: 110, 210: 200, 211: 210, 310: 300 };
const NOVEMBER = '2026-11';

type Parents = Readonly<Record<number, number>>;

interface Move {
  readonly group: number;
  readonly below: number;
}

/** `rename` changes the root's path, also to one that another root had. */
type Step =
  | { readonly kind: 'job'; readonly group: number; readonly seconds: number; readonly ids: boolean }
  | { readonly kind: 'move'; readonly move: Move }
  | { readonly kind: 'rename' };

const anyGroup = fc.constantFrom(...ROOTS, ...BELOW);
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('job' as const),
        group: anyGroup,
        seconds: fc.integer({ min: 1, max: 900 }),
        ids: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('move' as const),
        move: fc.record({ group: fc.constantFrom(...BELOW), below: anyGroup }),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'rename' as const }) },
  ),
  { minLength: 2, maxLength: 14 },
);

const chainOf = (group: number, parents: Parents): readonly number[] => {
  const above = parents[group];
  return above === undefined ? [group] : [...chainOf(above, parents), group];
};

class Company {
  parents: Parents = BEGIN;
  #names = ['north', 'south', 'west'];

  /** A move below itself is none. */
  move({ group, below }: Move): void {
    if (!chainOf(below, this.parents).includes(group)) this.parents = { ...this.parents, [group]: below };
  }

  /** Each root takes the name of the next. */
  rename(): void {
    const [first = '', ...rest] = this.#names;
    this.#names = [...rest, first];
  }

  chain(group: number): readonly number[] {
    return chainOf(group, this.parents);
  }

  path(group: number): string {
    return this.chain(group)
      .map((id) => (ROOTS.includes(id) ? this.#names[ROOTS.indexOf(id)] : `g${id}`))
      .join('/');
  }

  document(): object {
    const groups = [...ROOTS, ...BELOW].map((id) => ({
      id,
      path: this.path(id),
      ...(this.parents[id] !== undefined && { parent: this.parents[id] }),
    }));
    const projects = [...ROOTS, ...BELOW].map((id) => ({
      id: 1_000 + id,
      group: id,
      path: `${this.path(id)}/app`,
    }));
    return { groups: groups.sort((a, b) => this.chain(a.id).length - this.chain(b.id).length), projects };
  }
}

const requestOf = (
  jobId: number,
  { group, ids }: Extract<Step, { kind: 'job' }>,
  company: Company,
): AdmissionRequest => {
  const { namespaceId: _group, rootNamespaceId: _root, ...plain } = aRequest(jobId);
  return {
    ...plain,
    projectId: 1_000 + group,
    projectPath: `${company.path(group)}/app`,
    ...(ids && { namespaceId: group, rootNamespaceId: company.chain(group)[0] }),
  } as AdmissionRequest;
};

test('the statements of all roots add up to all jobs, and each group has those decided below it, whatever moved since', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (course) => {
      const policy = { rules: [{ id: 'budgets', kind: 'budget', mode: 'enforce' }] };
      const limits = [{ on: { group: 110 }, money: 1_000, per: 'month' }];
      const bench = ledgerBench({ policy, limits });
      const company = new Company();
      let rules = bench.documents(policy, limits, company.document());
      const chains = new Map<number, readonly number[]>();
      for (const [index, step] of course.entries()) {
        if (step.kind === 'job') {
          const jobId = index + 1;
          chains.set(jobId, company.chain(step.group));
          await bench.ask([requestOf(jobId, step, company)], rules);
          bench.clock.advance(step.seconds * 1_000);
          await bench.ledger.settle([
            { jobId, durationSeconds: step.seconds, endedAtMs: bench.clock.nowMs() },
          ]);
          continue;
        }
        if (step.kind === 'move') company.move(step.move);
        else company.rename();
        rules = bench.documents(policy, limits, company.document());
      }

      const billed = new Map<number, readonly number[]>();
      for (const group of [...ROOTS, ...BELOW]) billed.set(group, jobIdsOf(await statementOf(group, bench)));
      const all = [...chains.keys()];
      const ofRoots = ROOTS.flatMap((root) => billed.get(root) ?? []);
      expect(ofRoots.toSorted((a, b) => a - b)).toEqual(all);
      for (const [group, jobIds] of billed) {
        expect({ group, jobIds }).toEqual({
          group,
          jobIds: all.filter((id) => chains.get(id)?.includes(group)),
        });
      }
    }),
    { numRuns: propertyRuns(100) },
  );
});

async function statementOf(group: number, bench: ReturnType<typeof ledgerBench>): Promise<Statement> {
  const { io, told } = bench.desk();
  const asked = ['--month', NOVEMBER, '--group', String(group), '--by', 'job', '--json'];
  await listed('statement', [openLedger, bench.opening()]).run([...asked, ...bench.flags], io);
  return JSON.parse(told.out);
}

const jobIdsOf = ({ lines }: Statement): readonly number[] =>
  lines.flatMap(({ job }) => (job === undefined ? [] : [job.id])).toSorted((a, b) => a - b);
