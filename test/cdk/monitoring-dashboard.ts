import { describe, expect, test } from 'vitest';
import { FUNCTION_METRICS, METRIC_NAMESPACE } from '../../functions/names.ts';
import { RELAY_METRICS } from '../../relay/names.ts';
import { ALL_ALARMS } from '../support/all-alarms.ts';
import { dashboardOf, UNMEASURED, WATCHED, type Widget } from './monitored.ts';
import { DEFAULTS, PRIVATE, synthesize } from './synthesized.ts';

/** Far less than a template's megabyte, of which it is a part. */
const BODY_BYTES_MAX = 100_000;
const COLUMNS = 24;

const EMITTED = [...FUNCTION_METRICS, ...RELAY_METRICS].map(({ name }) => `${METRIC_NAMESPACE} ${name}`);

const boardOf = (deployments: typeof DEFAULTS) => dashboardOf(synthesize(deployments));

type Cells = readonly unknown[];
const metricsOf = ({ type, properties }: Widget): readonly Cells[] =>
  type === 'metric' ? properties.metrics : [];
/** Namespace, name, dimensions and values, without the options at the end. */
const named = (cells: Cells): readonly string[] => cells.filter((cell) => typeof cell === 'string');
const isMath = (cells: Cells): boolean => named(cells).length === 0;

test.each(Object.entries({ DEFAULTS, PRIVATE, WATCHED, UNMEASURED }))(
  'the dashboard of %s is one that CloudWatch takes: every widget is inside of the grid and none on another',
  (_, deployments) => {
    const { text, widgets } = boardOf(deployments);
    expect(text.length).toBeLessThan(BODY_BYTES_MAX);
    const taken = new Set<string>();
    for (const { x, y, width, height } of widgets) {
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
  },
);

describe('the dashboard', () => {
  test('shows every metric that is paid for', () => {
    const shown = new Set(
      boardOf(DEFAULTS)
        .widgets.flatMap(metricsOf)
        .map((cells) => named(cells).slice(0, 2).join(' ')),
    );
    expect(EMITTED.filter((each) => !shown.has(each))).toEqual([]);
  });

  test.each(ALL_ALARMS.map(({ name }) => name))('has a graph of %s with its threshold', (name) => {
    const spec = ALL_ALARMS.find((each) => each.name === name);
    const label = `${name}: ${spec?.severity} ${spec?.breach.join(' ')}`;
    const [graph, ...others] = boardOf(WATCHED).widgets.filter(({ properties }) =>
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
});
