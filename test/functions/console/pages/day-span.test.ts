import { expect, test } from 'vitest';
import { daySpan } from '../../../../functions/console/pages/parts/amounts.tsx';

test.each([
  ['2026-11-01', '2026-11-22', '1 to 22 Nov 2026'],
  ['2026-10-30', '2026-11-22', '30 Oct to 22 Nov 2026'],
  ['2026-12-30', '2027-01-02', '30 Dec 2026 to 2 Jan 2027'],
  ['2026-11-22', '2026-11-22', '22 Nov 2026'],
])('%s to %s reads %s', (fromDay, toDay, text) => {
  expect(daySpan({ fromDay, toDay })).toBe(text);
});
