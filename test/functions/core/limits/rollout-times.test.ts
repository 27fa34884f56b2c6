import { expect, test } from 'vitest';
import { withRolloutTimes } from '../../../../functions/core/limits/publish-limits.ts';
import { NOW_MS, someLimits } from '../../../policies/documents.ts';

const BEFORE = '2026-11-01T00:00:00Z';
const NOW = '2026-11-21T12:00:00Z';

test.each([
  ['new', {}, { cost: 'warn' }, { cost: 'warn', cost_since: NOW }],
  [
    'another mode, whatever time a file says',
    { cost: 'shadow', cost_since: BEFORE },
    { cost: 'warn', cost_since: BEFORE },
    { cost: 'warn', cost_since: NOW },
  ],
  [
    'the same mode, from a file that leaves the time out',
    { cost: 'warn', cost_since: BEFORE },
    { cost: 'warn' },
    { cost: 'warn', cost_since: BEFORE },
  ],
  ['the same mode of which nobody knows since when', { cost: 'warn' }, { cost: 'warn' }, { cost: 'warn' }],
  [
    'the other class',
    { cost: 'warn', cost_since: BEFORE },
    { cost: 'warn', capacity: 'off' },
    { cost: 'warn', cost_since: BEFORE, capacity: 'off', capacity_since: NOW },
  ],
  [
    'no mode any more',
    { cost: 'warn', cost_since: BEFORE, reported: BEFORE },
    { cost_since: BEFORE, reported: BEFORE },
    { reported: BEFORE },
  ],
])('a step begins when its mode becomes live: %s', (_, before, after, expected) => {
  for (const subject of [{ instance: true }, { group: 100 }, { project: 7 }]) {
    const live = someLimits({ rollout: Object.keys(before).length === 0 ? [] : [{ ...subject, ...before }] });
    const document = { limits: [], rollout: [{ ...subject, ...after }] };
    expect(withRolloutTimes(document, live, NOW_MS)).toEqual({
      limits: [],
      rollout: [{ ...subject, ...expected }],
    });
  }
});
