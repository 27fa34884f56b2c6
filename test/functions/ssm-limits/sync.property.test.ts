import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LimitsError } from '../../../functions/core/limits/limits-error.ts';
import { SsmLimitsError } from '../../../functions/ssm-limits/ssm-limits-error.ts';
import { money, SsmBench } from './ssm-bench.ts';

/** Few, so that steps meet. */
const GROUPS = [1, 2];
/** Three limits: only parameters have the first, only the page has the last, and both edit the one between. */
const [MONEY, JOBS, STARTS] = ['money-month', 'jobs-now', 'starts-hour'] as const;

type Step =
  | { readonly kind: 'put'; readonly group: number; readonly money: boolean; readonly jobs: boolean }
  | { readonly kind: 'spoil'; readonly group: number }
  | { readonly kind: 'delete'; readonly group: number }
  | {
      readonly kind: 'page';
      readonly group: number;
      readonly limit: typeof JOBS | typeof STARTS;
      readonly set: boolean;
    }
  | { readonly kind: 'sync'; readonly fault: Fault; readonly at: number };

type Fault = 'none' | 'apply-before' | 'apply-after' | 'marks-before' | 'marks-after' | 'parameters' | 'race';

const group = fc.constantFrom(...GROUPS);
/** Lost answers of edits are what hurts. */
const FAULTS = [
  'none',
  'apply-before',
  'apply-after',
  'marks-before',
  'marks-after',
  'parameters',
  'race',
] as const;
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      group,
      money: fc.boolean(),
      jobs: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('spoil' as const), group }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), group }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('page' as const),
      group,
      limit: fc.constantFrom(JOBS, STARTS),
      set: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('sync' as const),
      fault: fc.constantFrom(...FAULTS),
      // An edit is one call; what is remembered around it are some.
      at: fc.integer({ min: 1, max: 4 }),
    }),
  },
);

/** What the parameters and the page say, as a person with both before them would put it together. */
class Truth {
  readonly bench = new SsmBench();
  /** What a group's valid parameter says; undefined: it has none. */
  readonly parameter = new Map<number, { readonly money?: number; readonly jobs?: number }>();
  /** When a parameter last named a contested limit, and the page last edited it. */
  readonly named = new Map<number, number>();
  readonly page = new Map<string, { readonly atMs: number; readonly amount: number | undefined }>();
  #next = 1;

  async take(what: Step): Promise<void> {
    const { bench } = this;
    if (what.kind === 'put') {
      const says = {
        ...(what.money && { money: this.#next++ }),
        ...(what.jobs && { jobs: this.#next++ }),
      };
      bench.put(what.group, [
        ...(says.money === undefined ? [] : [money(says.money)]),
        ...(says.jobs === undefined ? [] : [{ jobs: says.jobs }]),
      ]);
      this.parameter.set(what.group, says);
      if (says.jobs !== undefined) this.named.set(what.group, bench.clock.nowMs());
    } else if (what.kind === 'spoil') {
      // The last valid version is the last one that was taken.
      await bench.sync();
      bench.put(what.group, 'path: acme/another\nlimits: []');
    } else if (what.kind === 'delete') {
      bench.delete(what.group);
      this.parameter.delete(what.group);
    } else if (what.kind === 'page') this.#edit(what);
    else await this.#sync(what);
  }

  #edit({ group: id, limit, set }: Extract<Step, { kind: 'page' }>): void {
    const { bench } = this;
    bench.clock.pass(1_000);
    const subject = `group/${id}`;
    if (!set && bench.desk.limit(id, limit) === undefined) return;
    const amount = set ? this.#next++ : undefined;
    if (amount === undefined) bench.desk.onPage({ kind: 'remove', subject, limit });
    else if (limit === JOBS) bench.desk.onPage({ kind: 'set', subject, unit: 'jobs', amount });
    else bench.desk.onPage({ kind: 'set', subject, unit: 'starts', per: 'hour', amount });
    this.page.set(`${id} ${limit}`, { atMs: bench.clock.nowMs(), amount });
  }

  async #sync({ fault, at }: Extract<Step, { kind: 'sync' }>): Promise<void> {
    const { bench } = this;
    let calls = 0;
    const isNow = (): boolean => {
      calls += 1;
      return calls === at;
    };
    bench.desk.onApply = () => {
      if (fault === 'race' && calls < at) {
        calls += 1;
        this.#edit({ kind: 'page', group: 1, limit: STARTS, set: true });
      }
      if (fault === 'apply-before') return 'lost-before';
      return fault === 'apply-after' ? 'lost-after' : undefined;
    };
    bench.marksFault = () => {
      if (fault === 'marks-before') return isNow() ? 'lost-before' : undefined;
      return fault === 'marks-after' && isNow() ? 'lost-after' : undefined;
    };
    bench.parametersFault = () => (fault === 'parameters' && isNow() ? 'parameters_misread' : undefined);
    await bench.sync().catch((error: unknown) => {
      if (!(error instanceof LimitsError) && !(error instanceof SsmLimitsError)) throw error;
    });
    bench.desk.onApply = () => undefined;
    bench.marksFault = () => undefined;
    bench.parametersFault = () => undefined;
  }

  expectLive(): void {
    for (const id of GROUPS) {
      const { money: amount, jobs } = this.parameter.get(id) ?? {};
      const amountOf = (limit: string) => this.bench.desk.limit(id, limit)?.amount;
      expect([id, MONEY, amountOf(MONEY)]).toEqual([id, MONEY, amount && amount * 1_000_000]);
      expect([id, STARTS, amountOf(STARTS)]).toEqual([id, STARTS, this.page.get(`${id} ${STARTS}`)?.amount]);
      const edited = this.page.get(`${id} ${JOBS}`);
      const namedAtMs = this.named.get(id) ?? 0;
      if (edited !== undefined && edited.atMs > namedAtMs) {
        expect([id, JOBS, amountOf(JOBS)]).toEqual([id, JOBS, edited.amount]);
      } else if (jobs !== undefined || edited === undefined) {
        expect([id, JOBS, amountOf(JOBS)]).toEqual([id, JOBS, jobs]);
      }
    }
  }
}

test('whatever is edited, deleted and interrupted in whatever order, the last word on each limit is in force in the end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const truth = new Truth();
      for (const each of steps) await truth.take(each);
      await truth.bench.sync();
      truth.expectLive();
      // And nothing is left to do.
      const edits = truth.bench.desk.entries.length;
      expect(await truth.bench.sync()).toMatchObject({ applied: [], left: 0 });
      expect(truth.bench.desk.entries).toHaveLength(edits);
    }),
    { numRuns: 1_500 },
  );
});
