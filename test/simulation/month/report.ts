import { table } from '../../../scripts/terminal/table.ts';
import { COMPARED, type ComparedFigure } from '../findings.ts';
import type { MonthResult } from './month.ts';

export function reportText({ comparisons, problems, relays, waits, sweeps, ...counts }: MonthResult): string {
  const rows = [
    ['admitted', counts.admitted],
    ['rejected', counts.rejected],
    ['jobs that never asked, charged', counts.bypass],
    ['answered by the fallback', relays.fallback],
    ['asked again because the answer was lost', counts.askedAgain],
    ['asked again after a relay died', relays.askedTwice],
    ['kept waiting for room', waits.waited],
    ['holds ended by the sweep', sweeps.healed],
    ...Object.entries(COMPARED).map(([what, name]) => {
      const { compared, otherwise } = comparisons.counts[what as ComparedFigure];
      return [`other than expected: ${name}`, `${otherwise} of ${compared}`];
    }),
  ];
  const lines = table(
    ['figure', ''],
    rows.map((row) => row.map(String)),
    Number.POSITIVE_INFINITY,
  );
  const broken = problems.map((problem) => `BROKEN: ${problem}`);
  return [lines, ...(broken.length === 0 ? ['All promises hold.'] : broken)].join('\n');
}
