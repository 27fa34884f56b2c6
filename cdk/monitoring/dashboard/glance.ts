import { Duration } from 'aws-cdk-lib';
import {
  AlarmStatusWidget,
  AlarmStatusWidgetSortBy,
  type IAlarm,
  type IWidget,
  SingleValueWidget,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Settings } from '../../settings/deployment.ts';
import { COMPOSITE } from '../alarms/alarm-spec.ts';
import type { DeploymentMetrics } from '../metrics.ts';
import { RUNBOOK_FILE, runbookLink } from '../runbook.ts';
import type { GraphLine } from './panel.ts';
import { GRID_COLUMNS } from './widgets.ts';

interface GlanceProps {
  readonly settings: Settings;
  readonly alarms: readonly IAlarm[];
  readonly metrics: DeploymentMetrics;
}

const NUMBERS: readonly GraphLine[] = [
  { formula: 'streamsMost', label: 'Streams' },
  { formula: 'questions', label: 'Questions' },
  { formula: 'rejected', label: 'Rejected' },
  { formula: 'fallbacks', label: 'Without the ledger' },
  { formula: 'latencyP99', label: 'p99, ms' },
  { formula: 'liveHolds', label: 'Live holds' },
];
const NUMBERS_PERIOD_MINUTES = 5;

/** The first look: what this is, what is wrong, how much goes on. */
export function glanceWidgets({ settings, alarms, metrics }: GlanceProps): readonly (readonly IWidget[])[] {
  const { stage, gitlab, alarms: targets } = settings;
  const id = gitlab.controllerId ?? '<controller id>';
  const disarm = `glab runner-controller update ${id} --state dry_run`;
  const link = runbookLink(COMPOSITE.name, targets.runbookUrl);
  const words = new TextWidget({
    markdown: [
      `# Tollgate ${stage}: ${gitlab.instance}`,
      `Jobs fail and nobody knows why? Disarm the controller, then look: \`${disarm}\` — ${link}, in \`${RUNBOOK_FILE}\``,
    ].join('\n'),
    width: GRID_COLUMNS,
    height: 2,
  });
  const left = metrics.has('streamsMost') ? GRID_COLUMNS / 2 : GRID_COLUMNS;
  const status = new AlarmStatusWidget({
    title: 'Alarms',
    alarms: [...alarms],
    sortBy: AlarmStatusWidgetSortBy.STATE_UPDATED_TIMESTAMP,
    width: left,
    height: 5,
  });
  const shown = NUMBERS.filter(({ formula }) => metrics.has(formula));
  const numbers = new SingleValueWidget({
    title: 'Last five minutes',
    metrics: shown.map(({ formula, label }) =>
      metrics.of(formula, { periodMinutes: NUMBERS_PERIOD_MINUTES, label }),
    ),
    period: Duration.minutes(NUMBERS_PERIOD_MINUTES),
    sparkline: true,
    width: GRID_COLUMNS - left,
    height: 5,
  });
  return [[words], shown.length === 0 ? [status] : [status, numbers]];
}
