import { expect, test } from 'vitest';
import { shadowReport } from '../../functions/answers/rollout/shadow-report.ts';
import { contributionOf, placeBy } from '../../functions/core/usage/contribution.ts';
import { runnerNames, usageOf } from '../../functions/core/usage/usage.ts';
import { readRules } from '../../scripts/cli/rules-flags.ts';
import { aRequest, ledgerBench } from '../scripts/cli/ledger-bench.ts';

const RULES = [{ id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] }];

test('page, command line and forecast say the same of a controller in dry run', async () => {
  const bench = ledgerBench({ policy: { rules: RULES } });
  for (let jobId = 1; jobId <= 14; jobId += 1) {
    bench.clock.advance(60_000);
    await bench.ask([
      aRequest(jobId, jobId % 7 === 0 ? { image: 'ubuntu:26.04', jobName: `build ${jobId}` } : {}),
    ]);
    await bench.ledger.settle([{ jobId, durationSeconds: 60, endedAtMs: bench.clock.nowMs() + 60_000 }]);
  }
  const records = (
    await bench.ledger.readRecords(Array.from({ length: 14 }, (_, index) => index + 1))
  ).filter((record) => record !== undefined);
  const usages = records.map((record) =>
    usageOf(contributionOf(record, undefined, placeBy(undefined, 'UTC'), runnerNames()).tally),
  );
  const sum = (of: (usage: (typeof usages)[number]) => number): number =>
    usages.reduce((total, usage) => total + of(usage), 0);
  const all = { sinceMs: 0, untilMs: bench.clock.nowMs() + 120_000 };
  const flags = { policy: 'policy.yaml', limits: 'limits.yaml', directory: 'directory.yaml' };
  const rules = readRules(flags, { cwd: bench.folder, root: `${bench.folder}/` });
  const span = { ...all, zone: 'UTC' };
  const { ifArmed, totals: watched } = await shadowReport(bench.store, { span, rules, ledger: 'it' });

  expect(sum(({ jobs }) => jobs)).toBe(14);
  expect([
    sum(({ ranRejected }) => ranRejected),
    sum(({ ranRejectedBy }) => ranRejectedBy.get('images') ?? 0),
    watched.ranRejected,
    ifArmed.ranRejected,
    ifArmed.wouldFail,
  ]).toEqual([2, 2, 2, 2, 2]);
  // None of them passed us by: they were asked about.
  expect([sum(({ bypass }) => bypass), watched.unasked, ifArmed.unasked]).toEqual([0, 0, 0]);
});
