import { expect } from 'vitest';
import { EVERY_PART } from '../support/all-alarms.ts';
import type { Change } from './change.ts';

export const aMetric: Change = {
  what: 'a metric with an alarm: jobs that ran although they were rejected',
  filesMax: 4,
  patches: [
    {
      file: 'functions/names.ts',
      before: '\n/** All of them, for whoever shows',
      insert: `export const METRIC_RAN_REJECTED = {
  name: 'RanRejected',
  unit: 'Count',
  statistic: 'Sum',
  says: 'Jobs that ran although they were rejected.',
} as const;
`,
    },
    {
      file: 'functions/names.ts',
      before: '  METRIC_RAN_JOBS,\n',
      insert: '  METRIC_RAN_REJECTED,\n',
    },
    {
      file: 'functions/sweep/report.ts',
      before: '  metrics.flush();',
      insert: '  metrics.add(names.METRIC_RAN_REJECTED, report.ranRejected);\n',
    },
    {
      file: 'cdk/monitoring/alarms/truth.ts',
      before: `  {
    name: 'HoldsOverdue'`,
      insert: `  {
    name: 'RejectedYetRan',
    severity: 'ticket',
    says: 'A job ran that had been rejected.',
    formula: 'ranRejected',
    label: 'Jobs that ran although they were rejected',
    graph: 'Rejected, yet ran',
    periodMinutes: 60,
    breach: ['above', 0],
    periods: 1,
    // No value is no sweep, which is SweepFailing.
    missing: 'notBreaching',
  },
`,
    },
    {
      file: 'cdk/RUNBOOK.md',
      before: '## HoldsOverdue\n',
      insert: `## RejectedYetRan

*Ticket.*

**Meaning.** A job ran that had been rejected.

`,
    },
  ],
  shows: async (load) => {
    const { newTally, measureSweepReport } = await load('functions/sweep/report.ts');
    const { emfMetrics } = await load('functions/core/metrics/metrics.ts');
    let line = '{}';
    const write = (text: string): void => {
      line = text;
    };
    const metrics = emfMetrics({ deployment: 'prod', clock: { nowMs: () => 0 }, write });
    measureSweepReport({ ...newTally(), ranRejected: 3 }, metrics);
    expect(JSON.parse(line)).toMatchObject({ RanRejected: 3 });

    const { alarmsFor } = await load('cdk/monitoring/alarms/all-alarms.ts');
    const alarm = alarmsFor(EVERY_PART).find(
      ({ name }: { readonly name: string }) => name === 'RejectedYetRan',
    );
    const { SERIES, seriesIn } = await load('cdk/monitoring/series.ts');
    expect(seriesIn(alarm.formula).map((word: string) => SERIES[word])).toEqual([
      { from: 'tollgate', name: 'RanRejected', statistic: 'Sum' },
    ]);
    const { rowsFor } = await load('cdk/monitoring/dashboard/rows.ts');
    const rows = rowsFor({ relays: 1, deadlineMs: 1, failurePolicy: 'admit', metrics: true });
    const graph = { kind: 'graph', title: 'Rejected, yet ran', alarm: 'RejectedYetRan' };
    expect(rows.flatMap(({ panels }: { readonly panels: readonly object[] }) => panels)).toContainEqual(
      graph,
    );
  },
};
