import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { monitoringCounts } from '../../cdk/monitoring/alarms/alarms.ts';
import { alarmsOf, UNMEASURED, WATCHED } from './monitored.ts';
import { DEFAULTS, type Synthesized, synthesize } from './synthesized.ts';

const shape = {
  relays: 2,
  deadlineMs: 2_000,
  failurePolicy: 'admit',
  watchdog: false,
  console: false,
  notices: true,
  metrics: true,
} as const;

const bySettings = new Map<string, Synthesized>();
beforeAll(() => {
  for (const [name, each] of Object.entries({ DEFAULTS, WATCHED, UNMEASURED })) {
    bySettings.set(name, synthesize(each));
  }
});

/** An alarm's template has one, or for arithmetic as many as it is made of. */
const metricsIn = (alarm: { readonly Metrics?: readonly { readonly MetricStat?: object }[] }): number =>
  alarm.Metrics?.filter(({ MetricStat }) => MetricStat !== undefined).length ?? 1;

describe('what tollgate cost is told', () => {
  test.each([
    ['DEFAULTS', shape],
    ['WATCHED', { ...shape, watchdog: true, console: true, requeue: true, noticesMinutes: 60 }],
    [
      'UNMEASURED',
      { ...shape, watchdog: true, console: true, requeue: true, noticesMinutes: 60, metrics: false },
    ],
  ])('is what the template of %s has', (name, watched) => {
    const synthesized = bySettings.get(name);
    if (synthesized === undefined) throw new Error(`no synth of ${name}`);
    const alarms = alarmsOf(synthesized);
    expect(monitoringCounts(watched)).toMatchObject({
      alarms: alarms.length,
      alarmMetrics: alarms.reduce((sum: number, each) => sum + metricsIn(each), 0),
      compositeAlarms: synthesized.resources('AWS::CloudWatch::CompositeAlarm').length,
      dashboards: synthesized.resources('AWS::CloudWatch::Dashboard').length,
    });
  });

  test('is found out without loading the CDK', () => {
    const seen = new Set<string>();
    const follow = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      const imports = readFileSync(file, 'utf8').matchAll(
        /^(?:import|export) (?!type ).*?from '([^']+)';$/gms,
      );
      for (const [, target = ''] of imports) {
        expect(target).toMatch(/^\./);
        follow(join(dirname(file), target));
      }
    };
    follow(fileURLToPath(new URL('../../cdk/monitoring/alarms/alarms.ts', import.meta.url)));
    expect(seen.size).toBeGreaterThan(5);
  });
});
