/** What a change costs: all of them are made in one copy of the sources, counted, used and type-checked. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changedCopy } from './change-cost/change.ts';
import { aCommand } from './change-cost/command.ts';
import { aCondition } from './change-cost/condition.ts';
import { aConsolePage } from './change-cost/console-page.ts';
import { aField } from './change-cost/field.ts';
import { aMetric } from './change-cost/metric.ts';
import { aRuleKind } from './change-cost/rule-kind.ts';
import { aUnit } from './change-cost/unit.ts';

const CHANGES = [aUnit, aRuleKind, aConsolePage, aCommand, aMetric, aField, aCondition];

let copy: ReturnType<typeof changedCopy>;
beforeAll(() => {
  copy = changedCopy(CHANGES);
});
afterAll(() => copy.remove());

test.each(CHANGES)('$what touches at most $filesMax files and works', async (change) => {
  expect(new Set(change.patches.map(({ file }) => file)).size).toBeLessThanOrEqual(change.filesMax);
  await change.shows(copy.load);
});

test('the compiler takes all of them', async () => {
  expect(await copy.complaints()).toBe('');
});
