import { expect, test } from 'vitest';
import type { Log, LogFields } from '../../../functions/core/environment/machine.ts';
import type { Metrics } from '../../../functions/core/metrics/metrics.ts';
import { runOn } from '../../../functions/ssm-limits/run.ts';
import { directoryOf } from '../../../policies/place/directory.ts';
import { aPolicy } from '../../policies/documents.ts';
import { money, nameOf, pathOf, SsmBench } from './ssm-bench.ts';

function rig() {
  const bench = new SsmBench();
  const lines: { level: string; message: string; fields: LogFields | undefined }[] = [];
  const to = (level: string) => (message: string, fields?: LogFields) => {
    lines.push({ level, message, fields });
  };
  const log: Log = { info: to('info'), warn: to('warn'), error: to('error') };
  const measured: [string, number][] = [];
  const metrics: Metrics = { add: ({ name }, value) => measured.push([name, value]), flush: () => {} };
  const run = (event: unknown): Promise<void> =>
    runOn(event, {
      path: '/tollgate/test/limits',
      parameters: bench.parameters,
      marks: bench.marks,
      desk: bench.desk,
      packed: bench.desk.inForce,
      policy: aPolicy(),
      directory: async () => directoryOf([{ id: 1, path: pathOf(1), personal: false }]),
      clock: bench.clock,
      random: () => 0.5,
      log,
      metrics,
    });
  /** As EventBridge tells it: in whole seconds. */
  const changed = (): unknown => ({
    source: 'aws.ssm',
    'detail-type': 'Parameter Store Change',
    time: new Date(bench.clock.nowMs()).toISOString().replace(/\.\d+/, ''),
    detail: { name: nameOf(1), operation: 'Update' },
  });
  return { bench, run, changed, lines, measured };
}

test('changes that come together are one listing, and one that came during it is another', async () => {
  const { bench, run, changed } = rig();
  bench.put(1, [money(500)]);
  const first = changed();
  bench.clock.pass(3_000);
  bench.put(1, [money(600)]);
  const second = changed();
  await run(first);
  expect(bench.desk.limit(1, 'money-month')?.amount).toBe(600_000_000);
  await run(second);
  expect(bench.parameters.calls.page).toBe(1);
  const during = changed();
  await run(during);
  expect(bench.parameters.calls.page).toBe(2);
});

test('the schedule always lists', async () => {
  const { bench, run } = rig();
  await run({ source: 'aws.events' });
  await run({});
  expect(bench.parameters.calls.page).toBe(2);
});

test('the event alone is believed in nothing: a change it tells of is read, whatever it says', async () => {
  const { bench, run } = rig();
  bench.put(1, [money(500)]);
  await run({
    source: 'aws.ssm',
    time: 'soon',
    detail: { name: '/tollgate/test/limits/7', operation: 'Delete' },
  });
  expect(bench.desk.limit(1, 'money-month')?.amount).toBe(500_000_000);
});

test('a refused parameter is one error line with key and problem and one count, in every run until it is corrected', async () => {
  const { bench, run, lines, measured } = rig();
  bench.put(1, 'path: acme/another\nlimits: []');
  for (const runs of [1, 2]) {
    await run({});
    const told = lines.filter(({ level }) => level === 'error');
    expect(told).toHaveLength(runs);
    expect(told[0]?.fields).toEqual({
      parameter: nameOf(1),
      version: 1,
      problems: [expect.stringContaining('correct the path or the id')],
    });
    expect(measured).toHaveLength(runs);
  }
  expect(measured[0]).toEqual(['LimitsUnreadable', 1]);
  bench.put(1, [money(500)]);
  await run({});
  expect(measured).toHaveLength(2);
});

test('a run that fails counts and fails, so that it is seen', async () => {
  const { bench, run, lines, measured } = rig();
  bench.marksFault = () => 'lost-before';
  await expect(run({})).rejects.toThrow('marks_unavailable');
  expect(measured).toEqual([['LimitsUnreadable', 1]]);
  expect(lines).toMatchObject([{ level: 'error' }]);
});
