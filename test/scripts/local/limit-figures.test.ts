import { expect, test } from 'vitest';
import { directoryOf } from '../../../policies/directory.ts';
import { parseLimits } from '../../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import { limitFigures } from '../../../scripts/local/summary.ts';
import { policyDocument } from '../../policies/documents.ts';

const NOW_MS = Date.parse('2026-11-21T12:00:00Z');

function limitsFrom(document: object): LimitSet {
  const policy = parsePolicy(policyDocument(), 'p1');
  const limits = policy.ok ? parseLimits(document, 'l1', policy.value) : policy;
  if (!limits.ok) throw new Error(JSON.stringify(limits.problems));
  return limits.value;
}

test('what a group has by its path is shown once its counter moved, and not where it has a limit of its own', async () => {
  const limits = limitsFrom({
    limits: [
      { on: { group: 2 }, jobs: 5 },
      { on: 'instance', jobs: 50, until: '2026-11-20' },
    ],
    group_defaults: [{ groups: 'acme/*', jobs: 3 }],
    personal_default: [{ jobs: 2 }],
  });
  const directory = directoryOf([
    { id: 1, path: 'acme', personal: false },
    { id: 2, parentId: 1, path: 'acme/own', personal: false },
    { id: 3, parentId: 1, path: 'acme/busy', personal: false },
    { id: 4, parentId: 1, path: 'acme/idle', personal: false },
    { id: 5, path: 'jane', personal: true },
  ]);
  const unchecked = { exempt: 0, unmetered: 0, bypass: 0 };
  const figures = await limitFigures(
    limits,
    directory,
    {
      readCounters: async (keys) =>
        keys.map((key) => {
          const moved = ['group/3', 'group/5'].includes(key.subject) ? 1 : 0;
          return { key, committed: moved, fitted: moved, settled: 0, unchecked, rev: moved };
        }),
    },
    NOW_MS,
  );
  expect(figures.map(({ subject, held, limitAmount }) => [subject, held, limitAmount])).toEqual([
    ['acme/own', 0, 5],
    ['acme/busy', 1, 3],
    ['jane', 1, 2],
  ]);
});
