/** GitLab's words in any order, cut into batches anyhow, repeated, between admissions: the same charges in the end. */
import fc from 'fast-check';
import { test } from 'vitest';
import type { GitLabJob } from '../../../../functions/core/gitlab/gitlab.ts';
import { endOfJob } from '../../../../functions/core/job-ends/actions.ts';
import { chargeBypass } from '../../../../functions/core/job-ends/charge-bypass.ts';
import { anAsk, claim, someFacts } from '../../../support/ledger/asks.ts';
import { endJobs } from '../../../support/ledger/end-jobs.ts';
import { aGitLabJob, books, ranFor, STARTED_MS } from '../../../support/ledger/gitlab-jobs.ts';
import { History, must } from '../../../support/ledger/history.ts';

const RUNS = 500;
const JOBS = 5;

/** What became of a job: how long it ran, or never. */
type Fate = number | 'canceled' | 'refused';

const fate: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 600 }) },
  { weight: 1, arbitrary: fc.constantFrom('canceled' as const, 'refused' as const) },
);

function endWord(jobId: number, one: Fate): GitLabJob {
  if (one === 'canceled') return aGitLabJob(jobId, { status: 'canceled' });
  return one === 'refused'
    ? ranFor(jobId, 1, { status: 'failed', failureReason: 'job_router_failure' })
    : ranFor(jobId, one);
}

/** Everything GitLab says about it on the way. */
const wordsOf = (jobId: number, one: Fate): readonly GitLabJob[] => [
  aGitLabJob(jobId, { status: 'pending' }),
  aGitLabJob(jobId, { status: 'running', startedAtMs: STARTED_MS, runnerId: 12 }),
  endWord(jobId, one),
  ...(typeof one === 'number' ? [withoutRunner(ranFor(jobId, one))] : []),
];

/** Not every version tells it with every word. */
const withoutRunner = ({ runnerId: _, ...gitlabJob }: GitLabJob): GitLabJob => gitlabJob;

/** Priced as the rules price a bypass, so that it does not matter who comes first. */
const ask = (jobId: number) =>
  anAsk(jobId, [claim('group/100', 600, 1e9)], {
    facts: someFacts({ microsPerMinute: 60, policyVersion: JSON.stringify({ 'group/100': 1e9 }) }),
  });

type Step = { readonly admit: number } | { readonly say: GitLabJob };

test('whatever order, batches and repetitions GitLab’s words come in, each job that ran is charged its duration once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fate, { minLength: 1, maxLength: JOBS }).chain((fates) => {
        const words = fates.flatMap((one, index) => wordsOf(index + 1, one));
        const admissions = fates.map((_, index): Step => ({ admit: index + 1 }));
        const steps: readonly Step[] = [...words.map((say) => ({ say })), ...admissions];
        return fc.record({
          fates: fc.constant(fates),
          // Every step once, and some again.
          order: fc
            .subarray([...steps])
            .chain((again) =>
              fc.shuffledSubarray([...steps, ...again], { minLength: steps.length + again.length }),
            ),
          cuts: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 10 }),
        });
      }),
      async ({ fates, order, cuts }) => {
        const house = books({ onCommit: (writes) => history.onCommit(writes) });
        const history: History = new History(() => house.store.dump());
        const free = flatRules();
        const deps = { ...house.deps, currentRules: free };
        const batch: GitLabJob[] = [];
        let cut = 0;
        const flush = async (): Promise<void> => {
          const words = batch.splice(0);
          const isEnd = (word: GitLabJob): boolean => endOfJob(word, house.clock.nowMs()).kind === 'ran';
          await endJobs(
            words.filter((word) => !isEnd(word)),
            deps,
          );
          await chargeBypass(words.filter(isEnd), deps);
          cut += 1;
        };
        for (const step of order) {
          if ('say' in step) batch.push(step.say);
          else {
            await flush();
            const askedAt = history.commits;
            const [outcome] = await house.ledger.hold([ask(step.admit)], house.clock.monotonicMs() + 30_000);
            if (outcome !== undefined) history.answered(step.admit, outcome, askedAt);
          }
          if (batch.length >= (cuts[cut % cuts.length] ?? 1)) await flush();
        }
        await flush();
        // A question after the end holds anew; GitLab's last word, said again, takes it back.
        await endJobs(
          fates.map((one, index) => endWord(index + 1, one)),
          deps,
        );
        for (const [index, one] of fates.entries()) {
          const seconds = typeof one === 'number' ? one : 0;
          const record = await house.ledger.readRecord(index + 1);
          const { micros = 0 } = await house.charged(index + 1);
          must(micros === seconds, `job ${index + 1} (${record?.state}) pays ${micros} for ${seconds} s`);
          const runnerId = record?.facts.runnerId ?? record?.facts.asked?.runnerId;
          if (typeof one === 'number')
            must(runnerId === 12, `job ${index + 1} ran on ${runnerId}, not on 12`);
          must(record?.dueAtMs === undefined, `job ${index + 1} is still live`);
        }
        const { drift } = await house.ledger.rebuild({ repair: false });
        must(drift.length === 0, `drift: ${JSON.stringify(drift)}`);
      },
    ),
    { numRuns: RUNS },
  );
});

/** The rules of the house at 60 micro-units a minute: what the history takes a second to cost. */
function flatRules() {
  const { currentRules } = books().deps;
  return async () => {
    const rules = await currentRules([]);
    const { prices } = rules.policy;
    const defaultClass = { ...prices.defaultClass, microsPerMinute: 60 };
    return { ...rules, policy: { ...rules.policy, prices: { ...prices, classes: [], defaultClass } } };
  };
}
