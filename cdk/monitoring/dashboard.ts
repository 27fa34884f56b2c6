import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Settings } from '../settings/deployment.ts';
import { COMPOSITE } from './admission-alarms.ts';
import type { DeploymentMetrics } from './alarm-set.ts';
import type { AlarmSpec } from './alarms.ts';
import type { Graph, GraphLines, Panel, Row } from './dashboard-rows.ts';
import { RUNBOOK_FILE, runbookLink } from './runbook.ts';

const NUMBERS: GraphLines = {
  ...{ streamsMost: 'Streams', requests: 'Requests', rejected: 'Rejected' },
  ...{ fallbackAnswers: 'Without the ledger', answerLatencyMs: 'p99, ms', liveHolds: 'Live holds' },
};

type Lines = readonly (readonly cloudwatch.IWidget[])[];

export function glanceWidgets(
  { stage, gitlab, alarms: targets }: Settings,
  alarms: readonly cloudwatch.IAlarm[],
  metrics: DeploymentMetrics,
): Lines {
  const disarm = `glab runner-controller update ${gitlab.controllerId ?? '<controller id>'} --state dry_run`;
  const link = runbookLink(COMPOSITE.name, targets.runbookUrl);
  const help = `Jobs fail for an unknown reason? Disarm the controller, then look: \`${disarm}\` — ${link}, in \`${RUNBOOK_FILE}\``;
  const words = new cloudwatch.TextWidget({
    markdown: `# Tollgate ${stage}: ${gitlab.instance}\n${help}`,
    width: GRID_COLUMNS,
    height: 2,
  });
  const left = metrics.has('streamsMost') ? GRID_COLUMNS / 2 : GRID_COLUMNS;
  const status = new cloudwatch.AlarmStatusWidget({
    title: 'Alarms',
    alarms: [...alarms],
    sortBy: cloudwatch.AlarmStatusWidgetSortBy.STATE_UPDATED_TIMESTAMP,
    width: left,
    height: 5,
  });
  const shown = drawLines(Object.entries(NUMBERS), PERIOD_MINUTES, metrics);
  const numbers = new cloudwatch.SingleValueWidget({
    title: 'Last five minutes',
    metrics: shown,
    period: Duration.minutes(PERIOD_MINUTES),
    sparkline: true,
    width: GRID_COLUMNS - left,
    height: 5,
  });
  return [[words], shown.length === 0 ? [status] : [status, numbers]];
}

interface WidgetDeps {
  readonly specs: readonly AlarmSpec[];
  readonly metrics: DeploymentMetrics;
  readonly logGroupName: string;
  readonly runbookUrl: string | undefined;
}

const GRID_COLUMNS = 24;
const HEIGHT = 6;
const HEADING_HEIGHT = 2;
const PERIOD_MINUTES = 5;
/** Narrower graphs have no room for their words. */
const PER_LINE_MAX = 4;

/** The row's heading and below it its panels; nothing where nothing of it is deployed. */
export function rowWidgets({ title, says, panels }: Row, deps: WidgetDeps): Lines {
  const isDeployed = ([formula]: Line): boolean => deps.metrics.has(formula);
  const shown = panels.filter((panel) => panel.kind !== 'graph' || linesOf(panel, deps).some(isDeployed));
  if (shown.length === 0) return [];
  const alarms = shown.flatMap((panel) => (panel.kind === 'graph' ? (specOf(panel, deps) ?? []) : []));
  const links = alarms.map(({ name }) => runbookLink(name, deps.runbookUrl)).join(' · ');
  const runbook = alarms.length === 0 ? '' : ` Runbook: ${links}`;
  const heading = new cloudwatch.TextWidget({
    markdown: `## ${title}\n${says}${runbook}`,
    width: GRID_COLUMNS,
    height: HEADING_HEIGHT,
    background: cloudwatch.TextWidgetBackground.TRANSPARENT,
  });
  return [
    [heading],
    ...splitRows(shown).map((line) => {
      const width = Math.floor(GRID_COLUMNS / line.length);
      return line.map((panel) => panelWidget(panel, width, deps));
    }),
  ];
}

/** Lines of about the same length: five panels are three and two. */
function splitRows(panels: readonly Panel[]): readonly (readonly Panel[])[] {
  const lines = Math.ceil(panels.length / PER_LINE_MAX);
  const perLine = Math.ceil(panels.length / lines);
  return Array.from({ length: lines }, (_, index) => panels.slice(index * perLine, (index + 1) * perLine));
}

function panelWidget(panel: Panel, width: number, deps: WidgetDeps): cloudwatch.IWidget {
  if (panel.kind === 'graph') return graphWidget(panel, width, deps);
  return new cloudwatch.LogQueryWidget({
    ...{ title: panel.title, width, height: HEIGHT, logGroupNames: [deps.logGroupName] },
    ...{ queryLines: [panel.query.join('\n')], view: cloudwatch.LogQueryVisualizationType.TABLE },
  });
}

function graphWidget(graph: Graph, width: number, deps: WidgetDeps): cloudwatch.IWidget {
  const { title, right = {}, stacked = false, marks = [] } = graph;
  const spec = specOf(graph, deps);
  const periodMinutes = graph.periodMinutes ?? spec?.periodMinutes ?? PERIOD_MINUTES;
  const annotations = [...marks, ...(spec === undefined ? [] : [thresholdOf(spec)])];
  return new cloudwatch.GraphWidget({
    title,
    width,
    height: HEIGHT,
    stacked,
    period: Duration.minutes(periodMinutes),
    left: drawLines(linesOf(graph, deps), periodMinutes, deps.metrics),
    right: drawLines(Object.entries(right), periodMinutes, deps.metrics),
    leftAnnotations: annotations.map((each) => ({ color: cloudwatch.Color.RED, ...each })),
    leftYAxis: { min: 0, showUnits: false },
    rightYAxis: { min: 0, showUnits: false },
    legendPosition: cloudwatch.LegendPosition.BOTTOM,
  });
}

/** Reads the alarm's own spec: a threshold that is changed moves on the graph, too. */
const thresholdOf = ({ name, severity, breach: [direction, value] }: AlarmSpec) => ({
  value,
  label: `${name}: ${severity} ${direction} ${value}`,
});

const specOf = ({ alarm }: Graph, { specs }: WidgetDeps): AlarmSpec | undefined =>
  specs.find(({ name }) => name === alarm);

type Line = readonly [formula: string, label: string];

const drawLines = (lines: readonly Line[], periodMinutes: number, { has, of }: DeploymentMetrics) =>
  lines.flatMap(([formula, label]) => (has(formula) ? of(formula, { periodMinutes, label }) : []));

function linesOf(graph: Graph, deps: WidgetDeps): readonly Line[] {
  const spec = specOf(graph, deps);
  const lines = Object.entries(graph.lines ?? {});
  return spec === undefined ? lines : [[spec.formula, spec.label], ...lines];
}
