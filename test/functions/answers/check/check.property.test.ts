/** Whatever ran before, a job meets what asking about it said it would meet. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LimitEdit } from '../../../../functions/core/limits/edit-model.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { aJob, consoleHouse, USERS } from '../../console/house.ts';

const RULES = [
  { id: 'budgets', kind: 'budget', mode: 'enforce' },
  { id: 'slots', kind: 'concurrency', mode: 'enforce' },
  { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] },
  { id: 'pinned', kind: 'image', mode: 'warn', deny: ['*:latest'] },
];

const someJob = fc.record({
  jobName: fc.constantFrom('unit', 'build', 'deploy'),
  image: fc.constantFrom('alpine:3.22', 'alpine:latest', 'node:24'),
  jobTags: fc.constantFrom<readonly string[]>([], ['large'], ['free'], ['elsewhere']),
  timeoutSeconds: fc.integer({ min: 60, max: 7_200 }),
});

const mode = fc.constantFrom<'enforce' | 'shadow'>('enforce', 'enforce', 'shadow');
const someLimits = fc.record({
  cards: fc.integer({ min: 1, max: 8 }),
  payments: fc.integer({ min: 1, max: 12 }),
  slots: fc.integer({ min: 1, max: 6 }),
  starts: fc.integer({ min: 1, max: 8 }),
  large: fc.integer({ min: 1, max: 6 }),
  modes: fc.tuple(mode, mode, mode, mode, mode),
});

type Limits = typeof someLimits extends fc.Arbitrary<infer Value> ? Value : never;

const editsOf = ({ cards, payments, slots, starts, large, modes }: Limits): readonly LimitEdit[] => [
  { kind: 'set', subject: 'group/104', unit: 'money', amount: cards, per: 'month', mode: modes[0] },
  { kind: 'set', subject: 'group/101', unit: 'money', amount: payments, per: 'week', mode: modes[1] },
  { kind: 'set', subject: 'group/104', unit: 'jobs', amount: slots, mode: modes[2] },
  { kind: 'set', subject: 'project/1', unit: 'starts', amount: starts, per: 'day', mode: modes[3] },
  { kind: 'set', subject: 'runner-class/large', unit: 'money', amount: large, per: 'month', mode: modes[4] },
];

test('outcome, price and every reason are those of the decision that follows', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(someLimits, fc.array(someJob, { minLength: 1, maxLength: 12 }), async (limits, jobs) => {
      const house = consoleHouse({ policy: { rules: RULES } });
      await house.apply(editsOf(limits));
      for (const [index, job] of jobs.entries()) {
        const { jobName: name, image, jobTags: tags, timeoutSeconds } = job;
        const run = { ref: 'main', userId: 7 };
        const asked = { project: 1, ...run, jobs: [{ name, image, tags, timeoutSeconds }] };
        const answer = await house.read.check(asked, USERS.finance);
        if (answer.outcome !== 'checked') throw new Error(answer.outcome);
        const [told] = answer.pipeline.jobs;
        const [decision] = await house.ask([aJob(index + 1, job)]);
        if (decision === undefined || decision.outcome === 'undecided') throw new Error('undecided');
        const against = decision.outcome === 'rejected' ? decision.violations : [];
        const codes = [...against, ...decision.shadow].map(({ rule, mode: how, reason }) => [
          rule,
          how,
          reason.code,
        ]);
        expect(told?.outcome).toBe(decision.outcome);
        expect(told?.costMicros).toBe(decision.terms?.costMicros);
        expect(told?.reasons.map(({ rule, mode: how, code }) => [rule, how, code])).toEqual(codes);
        seen.add(decision.outcome);
        for (const [, , code = ''] of codes) seen.add(code);
        // A limit that the job fits is one that is told to have room for it.
        if (decision.outcome === 'admitted')
          for (const row of answer.pipeline.limits)
            if (row.mode === 'enforce') expect(row, row.limit).toMatchObject({ fits: true });
      }
    }),
    { numRuns: propertyRuns(150) },
  );
  for (const word of ['admitted', 'rejected', 'BUDGET_EXHAUSTED', 'CONCURRENCY_FULL', 'IMAGE_NOT_ALLOWED'])
    expect([...seen]).toContain(word);
});
