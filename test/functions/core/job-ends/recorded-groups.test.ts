import { expect, test } from 'vitest';
import { wasBelowPath, wasInGroup } from '../../../../functions/core/job-ends/job-charge.ts';
import type { JobFacts, JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { indexDirectory } from '../../../../policies/directory.ts';
import { someFacts } from '../../../support/ledger/asks.ts';
import { aRecord as someRecord } from '../../../support/ledger/rollup-bench.ts';

/** The groups by now: 111 below 110 below 200, which was called `north` before 100 was. */
const NOW = indexDirectory([
  { id: 100, path: 'north', personal: false },
  { id: 200, path: 'south', personal: false },
  { id: 110, parentId: 200, path: 'south/g110', personal: false },
  { id: 111, parentId: 110, path: 'south/g110/g111', personal: false },
]);

const aRecord = (facts: Partial<JobFacts>): JobRecord => someRecord({ facts: someFacts(facts) });

const groupsOf = (record: JobRecord): readonly number[] =>
  [100, 110, 111, 200].filter((id) => wasInGroup(record, id));

test.each<[string, JobRecord, readonly number[]]>([
  [
    'the groups it was decided below, not those of now',
    aRecord({ rootId: 100, groupId: 111, groupIds: [100, 110, 111] }),
    [100, 110, 111],
  ],
  [
    'where some were not known, the root and its own',
    aRecord({ rootId: 100, groupId: 111, groupIds: [100] }),
    [100, 111],
  ],
  ['of a job that nobody could place: none, whatever its path', aRecord({ projectPath: 'north/app' }), []],
])('%s', (_, record, groups) => {
  expect(groupsOf(record)).toEqual(groups);
});

test('a path that the directory does not know finds no job whose root is known by another name', () => {
  const ofSouth = aRecord({ rootId: 200, groupIds: [200], projectPath: 'old/gone/app' });
  expect(wasBelowPath(ofSouth, 'old', NOW)).toBe(false);
  expect(wasBelowPath({ ...ofSouth, facts: { ...ofSouth.facts, rootId: 999 } }, 'old/Gone', NOW)).toBe(true);
  expect(wasBelowPath(aRecord({ rootId: 200, projectPath: 'south/gone/app' }), 'south/gone', NOW)).toBe(true);
});
