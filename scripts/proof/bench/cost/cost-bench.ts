import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { MeasuredCosts } from '../../../cli/cost/units.ts';
import type { Figure } from '../figure.ts';
import { BATCHES, measureDeskCosts, measureJobCosts, measureRecords, TOGETHER } from './measure-costs.ts';
import { withBytesAsWritten } from './page-bytes.ts';

const FILE = fileURLToPath(new URL('../../../cli/cost/measured-costs.json', import.meta.url));
const FORMATTER = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');

/** Counts anew what `tollgate cost` reads, and writes it down where it is another than was written. */
export async function costFigures(): Promise<readonly Figure[]> {
  const counted = {
    how: 'sample jobs, visits and runs through the programs that are deployed, over tables in memory that count by formula',
    renewedBy: 'npm run bench -- --only cost',
    batches: BATCHES,
    together: TOGETHER,
    jobs: {
      admitted: {
        ...(await measureJobCosts('admitted')),
        byCounters: await measureRecords('admitted'),
      },
      rejected: {
        ...(await measureJobCosts('rejected')),
        byCounters: await measureRecords('rejected'),
      },
    },
    desk: await measureDeskCosts(),
  };
  const isNews = keep(counted);
  const { byBatch, byBatchAndTogether: both, perCounter } = counted.jobs.admitted;
  /** As the README's money: batches of five on three counters. */
  const [batch, size] = [BATCHES.indexOf(5), TOGETHER.indexOf(5)];
  const value =
    (byBatch.hold[batch] ?? Number.NaN) +
    3 * (perCounter.hold[batch] ?? Number.NaN) +
    (both.settle[batch]?.[size] ?? Number.NaN) +
    3 * (perCounter.settle[batch]?.[size] ?? Number.NaN) +
    (byBatch.dueIndex[batch] ?? Number.NaN);
  return [
    {
      name: 'write units of a job from hold to end, 3 counters, batches of five',
      value,
      must: { atMost: 8.4 },
      unit: 'per job',
      kind: 'count',
      note: isNews ? `counted otherwise than before: ${FILE} is new, commit it` : 'as it was written down',
    },
  ];
}

/** @returns whether the file says something else than before. */
function keep(counted: Omit<MeasuredCosts, 'countedOn' | 'countedAfter'>): boolean {
  const {
    countedOn: _on,
    countedAfter: _after,
    ...before
  }: MeasuredCosts = JSON.parse(readFileSync(FILE, 'utf8'));
  const { desk } = counted;
  const byGroups = withBytesAsWritten(desk.byGroups, before.desk.byGroups);
  if (isDeepStrictEqual(before, { ...counted, desk: { ...desk, byGroups } })) return false;
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', timeout: 10_000 });
  const costs: MeasuredCosts = {
    countedOn: new Date().toISOString().slice(0, 10),
    countedAfter: commit.trim(),
    ...counted,
  };
  writeFileSync(FILE, JSON.stringify(costs));
  execFileSync(process.execPath, [FORMATTER, 'format', '--write', FILE], { timeout: 60_000 });
  return true;
}
