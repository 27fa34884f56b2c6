import { beforeAll, describe, expect, test } from 'vitest';
import { alarmsFor } from '../../cdk/monitoring/alarms/alarms.ts';
import { MEMORY_MIB, USAGE_PRICES } from '../../cdk/monitoring/dashboard-rows.ts';
import { FUNCTION_METRICS, METRIC_DIMENSION, METRIC_NAMESPACE } from '../../functions/names.ts';
import { RELAY_METRICS } from '../../relay/names.ts';
import { COMMANDS } from '../../scripts/cli/commands.ts';
import { PRICES } from '../../scripts/cli/cost/prices.ts';
import { ALL_ALARMS } from '../support/all-alarms.ts';
import { dashboardOf, RUNBOOK_URL, UNMEASURED, WATCHED, type Widget } from './monitored.ts';
import { DEFAULTS, PRIVATE, SEVERAL, type Synthesized, synthesize } from './synthesized.ts';

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_limits.html */
const WIDGETS_MAX = 500;
const METRICS_OF_A_WIDGET_MAX = 500;
const METRICS_MAX = 2_500;
/** Far less than a template's megabyte, of which it is a part. */
const BODY_BYTES_MAX = 100_000;
const COLUMNS = 24;

const AWS_METRICS = [
  'AWS/DynamoDB ConsumedReadCapacityUnits',
  'AWS/DynamoDB ConsumedWriteCapacityUnits',
  'AWS/DynamoDB ReadThrottleEvents',
  'AWS/DynamoDB TransactionConflict',
  'AWS/DynamoDB WriteThrottleEvents',
  'AWS/ECS CPUUtilization',
  'AWS/ECS MemoryUtilization',
  'AWS/Lambda Duration',
  'AWS/Lambda Errors',
  'AWS/Lambda Invocations',
  'AWS/Lambda IteratorAge',
  'AWS/Lambda Throttles',
  'AWS/Lambda Url4xxCount',
  'AWS/Lambda Url5xxCount',
  'AWS/Logs IncomingBytes',
  'AWS/SQS ApproximateNumberOfMessagesVisible',
];
const EMITTED = [...FUNCTION_METRICS, ...RELAY_METRICS].map(({ name }) => `${METRIC_NAMESPACE} ${name}`);

const bySettings = new Map<string, Synthesized>();
beforeAll(() => {
  for (const [name, each] of Object.entries({ DEFAULTS, PRIVATE, WATCHED, UNMEASURED })) {
    bySettings.set(name, synthesize(each));
  }
});
const SETTINGS = ['DEFAULTS', 'PRIVATE', 'WATCHED', 'UNMEASURED'];

const boardOf = (name: string) => {
  const found = bySettings.get(name);
  if (found === undefined) throw new Error(`no synth of ${name}`);
  return dashboardOf(found);
};

type Cells = readonly unknown[];
const metricsOf = ({ type, properties }: Widget): readonly Cells[] =>
  type === 'metric' ? properties.metrics : [];
/** Namespace, name, dimensions and values, without the options at the end. */
const named = (cells: Cells): readonly string[] => cells.filter((cell) => typeof cell === 'string');
const isMath = (cells: Cells): boolean => named(cells).length === 0;
const titled = (widgets: readonly Widget[], title: string): Widget => {
  const found = widgets.find(({ properties }) => properties.title === title);
  if (found === undefined) throw new Error(`no widget "${title}"`);
  return found;
};

describe.each(SETTINGS)('the dashboard of %s', (name) => {
  test('has every widget inside of the grid and none on another', () => {
    const taken = new Set<string>();
    for (const { x, y, width, height } of boardOf(name).widgets) {
      expect(x + width).toBeLessThanOrEqual(COLUMNS);
      // Narrower ones have no room for a legend.
      expect(width).toBeGreaterThanOrEqual(6);
      for (let column = x; column < x + width; column += 1) {
        for (let line = y; line < y + height; line += 1) {
          expect(taken).not.toContain(`${column}/${line}`);
          taken.add(`${column}/${line}`);
        }
      }
    }
  });

  test('leaves no row half empty', () => {
    const widths = new Map<number, number>();
    for (const { y, width } of boardOf(name).widgets) widths.set(y, (widths.get(y) ?? 0) + width);
    expect([...widths.values()].filter((width) => width !== COLUMNS)).toEqual([]);
  });

  test('is one that CloudWatch takes', () => {
    const { text, widgets } = boardOf(name);
    expect(text.length).toBeLessThan(BODY_BYTES_MAX);
    expect(widgets.length).toBeLessThanOrEqual(WIDGETS_MAX);
    const counts = widgets.map((each) => metricsOf(each).length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(METRICS_OF_A_WIDGET_MAX);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(METRICS_MAX);
  });

  test('shows only what the code emits or AWS counts anyway', () => {
    const shown = boardOf(name)
      .widgets.flatMap(metricsOf)
      .filter((cells) => !isMath(cells))
      .map((cells) => named(cells).slice(0, 2).join(' '));
    expect(shown.length).toBeGreaterThan(10);
    expect(shown.filter((each) => !EMITTED.includes(each) && !AWS_METRICS.includes(each))).toEqual([]);
  });

  test('speaks of no series in a formula that the widget does not have', () => {
    for (const widget of boardOf(name).widgets) {
      const ids = metricsOf(widget).flatMap((cells) => {
        const { id } = (cells.at(-1) ?? {}) as { readonly id?: string };
        return id === undefined ? [] : [id];
      });
      for (const cells of metricsOf(widget).filter(isMath)) {
        const { expression } = cells[0] as { readonly expression: string };
        const words = (expression.match(/[a-z]\w*/gi) ?? []).filter((word) => word !== word.toUpperCase());
        expect(words.filter((word) => !ids.includes(word))).toEqual([]);
        // CloudWatch's own bound on an expression.
        expect(expression.length).toBeLessThanOrEqual(1_024);
      }
    }
  });
});

describe('the dashboard', () => {
  test('shows every metric that is paid for', () => {
    const shown = new Set(
      boardOf('DEFAULTS')
        .widgets.flatMap(metricsOf)
        .map((cells) => named(cells).slice(0, 2).join(' ')),
    );
    expect(EMITTED.filter((each) => !shown.has(each))).toEqual([]);
  });

  test('shows its own deployment and no other', () => {
    const ours = boardOf('PRIVATE')
      .widgets.flatMap(metricsOf)
      .filter((cells) => cells[0] === METRIC_NAMESPACE);
    expect(ours.length).toBeGreaterThan(20);
    for (const cells of ours) expect(named(cells).slice(2)).toEqual([METRIC_DIMENSION, 'private']);
  });

  test('begins with what is wrong and the one command that disarms', () => {
    const [words, status, numbers] = boardOf('WATCHED').widgets;
    expect(words?.properties.markdown).toContain('glab runner-controller update 7 --state dry_run');
    expect(status?.type).toBe('alarm');
    // The composite, too.
    expect(status?.properties.alarms).toHaveLength(ALL_ALARMS.length + 1);
    expect(numbers?.properties.view).toBe('singleValue');
  });

  test.each(ALL_ALARMS.map(({ name }) => name))('has a graph of %s with its threshold', (name) => {
    const spec = ALL_ALARMS.find((each) => each.name === name);
    const label = `${name}: ${spec?.severity} ${spec?.breach.join(' ')}`;
    const [graph, ...others] = boardOf('WATCHED').widgets.filter(({ properties }) =>
      JSON.stringify(properties.annotations ?? {}).includes(`"${label}"`),
    );
    expect(others).toEqual([]);
    expect(graph?.properties.annotations.horizontal).toContainEqual(
      expect.objectContaining({ label, value: spec?.breach[1], yAxis: 'left' }),
    );
    expect(graph?.properties.period).toBe((spec?.periodMinutes ?? 0) * 60);
    const [first = []] = graph === undefined ? [] : metricsOf(graph);
    if (isMath(first)) expect((first[0] as { expression: string }).expression).toBe(spec?.formula);
  });

  test('links every alarm to its section, and names it where there is no address', () => {
    const words = (name: string): string =>
      boardOf(name)
        .widgets.filter(({ type }) => type === 'text')
        .map(({ properties }) => properties.markdown)
        .join('\n');
    for (const { name } of ALL_ALARMS) {
      expect(words('WATCHED')).toContain(`[${name}](${RUNBOOK_URL}#${name.toLowerCase()})`);
    }
    for (const { name } of alarmsFor({
      relays: 2,
      deadlineMs: 2_000,
      failurePolicy: 'admit',
      watchdog: false,
      console: false,
      notices: true,
      metrics: true,
    })) {
      expect(words('DEFAULTS')).toContain(`**${name}**`);
    }
    expect(words('DEFAULTS')).not.toContain('](');
  });

  test('shows the latency against the deadline of the settings', () => {
    const graph = titled(boardOf('PRIVATE').widgets, 'From question to answer, ms');
    expect(graph.properties.annotations.horizontal).toEqual(
      expect.arrayContaining([expect.objectContaining({ value: 3_000 })]),
    );
    const stats = metricsOf(graph).map((cells) => (cells.at(-1) as { readonly stat: string }).stat);
    expect(stats).toEqual(['p99', 'p50']);
  });

  test('reads rules and groups from the decision log alone, ten at most', () => {
    const logs = boardOf('DEFAULTS').widgets.filter(({ type }) => type === 'log');
    expect(logs.map(({ properties }) => properties.title)).toEqual([
      'Rejections by rule',
      'Held for admitted jobs, by group',
      'Rejections by group',
      'Shadow: would be rejected, by rule',
    ]);
    for (const { properties } of logs) {
      expect(properties.query).toMatch(/^SOURCE '<RelayLog\w+>' \| filter message = "decision"/);
      expect(properties.query).toMatch(/\| limit 10$/);
    }
  });

  test('is one for each stage, by its name', () => {
    const names = synthesize(SEVERAL)
      .resources('AWS::CloudWatch::Dashboard')
      .map(([, { Properties }]) => Properties.DashboardName);
    expect(names.sort()).toEqual(['tollgate-prod', 'tollgate-prod-emea', 'tollgate-staging']);
  });
});

describe('what Tollgate itself costs, on the dashboard', () => {
  test('names a command that there is', async () => {
    const { properties } = boardOf('DEFAULTS').widgets.at(-1) ?? { properties: {} };
    const [, name, flag = ''] = /`npx tollgate (\w+) (--[a-z-]+) \d+`/.exec(properties.markdown) ?? [];
    const command = await COMMANDS.find((each) => each.name === name)?.load();
    expect(command?.help).toContain(`${flag} `);
  });

  test('is reckoned with the one price table', () => {
    const list = PRICES['us-east-1'];
    const each = ({ usd, per }: { readonly usd: number; readonly per: number }): number => usd / per;
    expect(USAGE_PRICES).toEqual({
      writeUnit: each(list.writeUnit),
      readUnit: each(list.readUnit),
      lambdaRequest: each(list.lambdaRequest),
      lambdaGbSecond: each(list.lambdaDuration),
      logGb: each(list.logIngestion),
    });
  });

  test('is reckoned with the memory that the functions have', () => {
    const deployed = bySettings
      .get('WATCHED')
      ?.resources('AWS::Lambda::Function')
      .map(([, { Properties }]) => [
        Properties.FunctionName.replace('tollgate-prod-', ''),
        Properties.MemorySize,
      ]);
    expect(Object.fromEntries(deployed ?? [])).toMatchObject(MEMORY_MIB);
  });

  test('is right for a write, a call and a gigabyte a second', () => {
    const { widgets } = boardOf('DEFAULTS');
    const lines = metricsOf(titled(widgets, 'US dollars a month, what depends on use')).filter(isMath);
    const dollars = (label: string, values: Readonly<Record<string, number>>): number => {
      const [{ expression } = { expression: 'NaN' }] = lines
        .map(([cell]) => cell as { readonly label: string; readonly expression: string })
        .filter((line) => line.label === label);
      const numbers = expression.replace(/FILL\((\w+), 0\)/g, (_, id: string) => String(values[id] ?? 0));
      return arithmetic(numbers);
    };
    expect(dollars('Table, writes', { writeUnits: 900_000, indexWriteUnits: 100_000 })).toBeCloseTo(
      0.625 * 730,
      6,
    );
    expect(dollars('Functions, calls', { admitCalls: 1_000_000 })).toBeCloseTo(0.2 * 730, 6);
    // Half a gigabyte for two million milliseconds.
    expect(dollars('Functions, time', { admitMs: 2_000_000 })).toBeCloseTo(0.0133334 * 730, 6);
    expect(dollars('Logs', { relayLogBytes: 1e9 })).toBeCloseTo(0.5 * 730, 6);
  });
});

/** `(1 + 2 * 3) * 4`, which is all that these formulas are once their series are numbers. */
function arithmetic(text: string): number {
  const [, inner = '', factor = ''] = /^\((.*)\) \* ([\d.]+)$/.exec(text) ?? [];
  const sum = inner
    .split(' + ')
    .map((term) =>
      term
        .split(' * ')
        .map(Number)
        .reduce((product, each) => product * each, 1),
    )
    .reduce((total, each) => total + each, 0);
  return sum * Number(factor);
}
