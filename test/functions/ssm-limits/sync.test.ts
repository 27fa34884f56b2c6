import { describe, expect, test } from 'vitest';
import { NO_LIMITS } from '../../../functions/core/limits/changes/change-rows.ts';
import { aDesk, FINANCE } from '../core/limits/desk/desk.ts';
import { ANNA, BEN, money, nameOf, pathOf, SsmBench } from './ssm-bench.ts';

const amountOf = (bench: SsmBench, group: number, id = 'money-month') => bench.desk.limit(group, id)?.amount;
const EURO = 1_000_000;

describe('a parameter', () => {
  test('gives its group limits with all their fields, and is told by whom, why and from where', async () => {
    const bench = new SsmBench();
    bench.put(1, [
      money(500, { zone: 'Europe/Berlin', soft: '80%', carry: { max: '20%' } }),
      { jobs: 20, mode: 'warn' },
    ]);
    bench.put(
      1,
      [money(600, { zone: 'Europe/Berlin', soft: '80%', carry: { max: '20%' } }), { jobs: 20, mode: 'warn' }],
      {
        arn: BEN,
      },
    );
    const report = await bench.sync();
    expect(report).toMatchObject({ applied: [nameOf(1)], refused: [], kept: [], left: 0, complete: true });
    expect(bench.desk.limit(1, 'money-month')).toMatchObject({
      amount: 600 * EURO,
      softAmount: 480 * EURO,
      carryMax: 120 * EURO,
      zone: 'Europe/Berlin',
    });
    expect(bench.desk.limit(1, 'jobs-now')).toMatchObject({ amount: 20, mode: 'warn' });
    expect(bench.desk.entries).toMatchObject([
      { actor: BEN, why: `SSM parameter ${nameOf(1)} version 2`, source: 'ssm' },
    ]);
  });

  test('that is written as YAML says the same', async () => {
    const bench = new SsmBench();
    bench.put(
      1,
      `# budget of the team\npath: ${pathOf(1)}\nlimits:\n  - { money: 7.50, per: month, until: 2026-12-31 }\n`,
    );
    await bench.sync();
    expect(bench.desk.limit(1, 'money-month')).toMatchObject({
      amount: 7.5 * EURO,
      untilMs: Date.parse('2027-01-01T00:00:00Z'),
    });
  });

  test('takes out the fields and limits it no longer names', async () => {
    const bench = new SsmBench();
    bench.put(1, [money(500, { soft: '80%', owner: 'leads' }), { jobs: 20 }]);
    await bench.sync();
    bench.put(1, [money(500)]);
    await bench.sync();
    const limit = bench.desk.limit(1, 'money-month');
    expect(limit).toMatchObject({ amount: 500 * EURO });
    expect(limit?.softAmount ?? limit?.owner).toBeUndefined();
    expect(bench.desk.limit(1, 'jobs-now')).toBeUndefined();
  });

  test('may change what a limit of the same id counts', async () => {
    const bench = new SsmBench();
    bench.put(1, [{ id: 'brake', jobs: 5 }]);
    await bench.sync();
    bench.put(1, [{ id: 'brake', minutes: 60, per: 'day' }]);
    await bench.sync();
    expect(bench.desk.limit(1, 'brake')).toMatchObject({ kind: 'minutes', amount: 3_600 });
  });

  test('that did not change edits nothing again and is asked nothing about', async () => {
    const bench = new SsmBench();
    bench.put(1, [money(500)]);
    await bench.sync();
    const asked = bench.parameters.calls.editorOf;
    expect(await bench.sync()).toMatchObject({ applied: [], refused: [] });
    expect(bench.desk.entries).toHaveLength(1);
    expect(bench.parameters.calls.editorOf).toBe(asked);
  });

  test('made again after it was deleted counts, although its version is 1 once more', async () => {
    const bench = new SsmBench();
    bench.put(1, [money(500)]);
    await bench.sync();
    bench.delete(1);
    bench.put(1, [money(300)]);
    await bench.sync();
    expect(amountOf(bench, 1)).toBe(300 * EURO);
  });
});

describe('several parameters', () => {
  test('of one editor are one edit, those of another are another', async () => {
    const bench = new SsmBench();
    for (const group of [1, 2, 3]) bench.put(group, [money(100 * group)]);
    bench.put(4, [money(400)], { arn: BEN });
    await bench.sync();
    expect(bench.desk.entries.map(({ actor, count }) => [actor, count])).toEqual([
      [BEN, 1],
      [ANNA, 3],
    ]);
  });

  test('take effect but for the one that is invalid, which is named with its problem until it is corrected', async () => {
    const bench = new SsmBench();
    for (const group of [1, 2, 3]) bench.put(group, [money(100)]);
    await bench.sync();
    for (const group of [1, 3]) bench.put(group, [money(200)]);
    bench.put(2, [money(200), { moneys: 3 }]);
    for (const _ of ['now', 'and again'])
      expect((await bench.sync()).refused).toEqual([
        {
          name: nameOf(2),
          version: 2,
          problems: expect.arrayContaining([
            expect.stringContaining('limits[1].moneys: unknown key; did you mean money?'),
          ]),
        },
      ]);
    expect([1, 2, 3].map((group) => amountOf(bench, group))).toEqual([200 * EURO, 100 * EURO, 200 * EURO]);
    bench.put(2, [money(250)]);
    expect((await bench.sync()).refused).toEqual([]);
    expect(amountOf(bench, 2)).toBe(250 * EURO);
  });

  test('give no more than half as much again by themselves: one person writes a parameter', async () => {
    const bench = new SsmBench();
    const { desk } = aDesk({ clock: bench.clock });
    const realDesk = { desk, packed: { document: {}, limits: NO_LIMITS } };
    for (const group of [1, 2]) bench.put(group, [money(100)]);
    await bench.sync(realDesk);
    bench.put(1, JSON.stringify({ path: pathOf(1), limits: [money(100_000)], confirm: true }));
    bench.put(2, [money(150)]);
    const { refused, applied } = await bench.sync(realDesk);
    expect(applied).toHaveLength(1);
    expect(refused).toMatchObject([
      { name: nameOf(1), problems: [expect.stringContaining('somebody else must approve it')] },
    ]);
    const bySubject = (await desk.live())?.limits.bySubject;
    expect([1, 2].map((group) => bySubject?.get(`group/${group}`)?.[0]?.amount)).toEqual([100e6, 150e6]);
    expect(await desk.requests({ actor: 'zoe', rights: FINANCE })).toEqual([]);
  });

  test('take effect but for the one that only the desk refuses', async () => {
    const bench = new SsmBench();
    for (const group of [1, 2, 3, 4, 5]) bench.put(group, [money(100)]);
    bench.desk.onApply = (edits) =>
      edits.some((edit) => 'subject' in edit && edit.subject === 'group/3')
        ? 'needs_confirmation'
        : undefined;
    const { refused, applied } = await bench.sync();
    expect(applied).toHaveLength(4);
    expect(refused).toMatchObject([
      { name: nameOf(3), problems: [expect.stringContaining('confirm: true')] },
    ]);
    bench.put(3, JSON.stringify({ path: pathOf(3), limits: [money(100)], confirm: true }));
    expect((await bench.sync()).refused).toEqual([]);
    expect(amountOf(bench, 3)).toBe(100 * EURO);
  });
});

describe('a parameter that is gone', () => {
  test('takes its limits with it, and none that others made', async () => {
    const bench = new SsmBench({ limits: [{ on: { group: 1 }, jobs: 9 }] });
    bench.put(1, [money(500)]);
    await bench.sync();
    bench.delete(1);
    await bench.sync();
    expect(bench.desk.limit(1, 'money-month')).toBeUndefined();
    expect(bench.desk.limit(1, 'jobs-now')?.amount).toBe(9);
    expect(bench.desk.entries[0]).toMatchObject({ why: `SSM parameter ${nameOf(1)} deleted` });
    expect((await bench.marks.readAll()).size).toBe(0);
  });

  test('leaves a limit that was there before it, and says so', async () => {
    const bench = new SsmBench({ limits: [{ on: { group: 1 }, money: 900, per: 'month' }] });
    bench.put(1, [money(500)]);
    await bench.sync();
    bench.delete(1);
    expect((await bench.sync()).kept).toMatchObject([{ name: nameOf(1), limit: 'money-month' }]);
    expect(amountOf(bench, 1)).toBe(500 * EURO);
  });

  test('leaves a limit that was changed on the page since', async () => {
    const bench = new SsmBench();
    bench.put(1, [money(500)]);
    await bench.sync();
    bench.desk.onPage({ kind: 'set', subject: 'group/1', limit: 'money-month', amount: 450 });
    bench.delete(1);
    expect((await bench.sync()).kept).toHaveLength(1);
    expect(amountOf(bench, 1)).toBe(450 * EURO);
  });

  test('is not believed gone while its history is there', async () => {
    const bench = new SsmBench();
    bench.put(1, [money(500)]);
    await bench.sync();
    const { parameters } = bench;
    const blind = {
      page: async () => ({ parameters: [] }),
      editorOf: parameters.editorOf.bind(parameters),
    };
    expect(await bench.sync({ parameters: blind })).toMatchObject({ applied: [], left: 1 });
    expect(amountOf(bench, 1)).toBe(500 * EURO);
  });
});

describe('the last edit wins', () => {
  test('on the page after the parameter was written: the page stays, and the log says why', async () => {
    const bench = new SsmBench();
    bench.put(1, [money(500)]);
    await bench.sync();
    bench.put(1, [money(600), { jobs: 3 }]);
    bench.clock.pass(5_000);
    bench.desk.onPage({ kind: 'set', subject: 'group/1', limit: 'money-month', amount: 450 });
    expect((await bench.sync()).kept).toEqual([
      { name: nameOf(1), limit: 'money-month', why: 'finance changed it after the parameter was written' },
    ]);
    expect(amountOf(bench, 1)).toBe(450 * EURO);
    expect(amountOf(bench, 1, 'jobs-now')).toBe(3);
  });

  test('in the parameter after the page: the parameter counts, also for what the page took out', async () => {
    const bench = new SsmBench();
    bench.put(1, [money(500), { jobs: 3 }]);
    await bench.sync();
    bench.desk.onPage(
      { kind: 'set', subject: 'group/1', limit: 'money-month', amount: 450 },
      { kind: 'remove', subject: 'group/1', limit: 'jobs-now' },
    );
    bench.clock.pass(5_000);
    bench.put(1, [money(600), { jobs: 4 }]);
    await bench.sync();
    expect(amountOf(bench, 1)).toBe(600 * EURO);
    expect(amountOf(bench, 1, 'jobs-now')).toBe(4);
  });

  test('also where the page took out what no run had seen', async () => {
    const bench = new SsmBench();
    bench.put(1, [money(500)]);
    bench.clock.pass(5_000);
    bench.desk.onPage({ kind: 'set', subject: 'group/1', unit: 'money', per: 'month', amount: 450 });
    bench.desk.onPage({ kind: 'remove', subject: 'group/1', limit: 'money-month' });
    expect((await bench.sync()).kept).toHaveLength(1);
    expect(bench.desk.limit(1, 'money-month')).toBeUndefined();
  });

  test('and our own edits count as none: a version written while the one before was made live is the last', async () => {
    const bench = new SsmBench();
    bench.put(1, [money(500)]);
    await bench.sync();
    bench.put(1, []);
    bench.desk.onApply = () => {
      bench.put(1, [money(700)]);
      bench.clock.pass(5_000);
      return undefined;
    };
    await bench.sync();
    bench.desk.onApply = () => undefined;
    expect(bench.desk.limit(1, 'money-month')).toBeUndefined();
    expect(await bench.sync()).toMatchObject({ applied: [nameOf(1)], kept: [] });
    expect(amountOf(bench, 1)).toBe(700 * EURO);
  });

  test('of another limit on the page does not count, nor does an unchanged parameter after an edit', async () => {
    const bench = new SsmBench();
    bench.put(1, [money(500)]);
    await bench.sync();
    bench.desk.onPage({ kind: 'set', subject: 'group/1', limit: 'money-month', amount: 450 });
    await bench.sync();
    expect(amountOf(bench, 1)).toBe(450 * EURO);
    bench.put(1, [money(600)]);
    bench.clock.pass(5_000);
    bench.desk.onPage({ kind: 'set', subject: 'group/1', unit: 'jobs', amount: 7 });
    await bench.sync();
    expect(amountOf(bench, 1)).toBe(600 * EURO);
  });
});

describe('an edit that meets another', () => {
  test('is made again on top of it', async () => {
    const bench = new SsmBench();
    bench.put(1, [money(500)]);
    let others = 3;
    bench.desk.onApply = () => {
      others -= 1;
      if (others > 0) bench.desk.onPage({ kind: 'set', subject: 'group/9', unit: 'jobs', amount: others });
      return undefined;
    };
    expect((await bench.sync()).applied).toEqual([nameOf(1)]);
    expect(amountOf(bench, 9, 'jobs-now')).toBe(1);
  });

  test('again and again is left for the next run', async () => {
    const bench = new SsmBench();
    bench.put(1, [money(500)]);
    let tries = 0;
    bench.desk.onApply = () => {
      tries += 1;
      bench.desk.onPage({ kind: 'set', subject: 'group/9', unit: 'jobs', amount: tries });
      return undefined;
    };
    expect(await bench.sync()).toMatchObject({ applied: [], left: 1 });
    expect(tries).toBe(5);
    bench.desk.onApply = () => undefined;
    expect((await bench.sync()).applied).toEqual([nameOf(1)]);
  });

  test.each(['lost-before', 'lost-after'] as const)(
    'whose answer is %s is finished by the next run, as its own',
    async (fault) => {
      const bench = new SsmBench();
      bench.put(1, [money(500)]);
      bench.desk.onApply = () => fault;
      await expect(bench.sync()).rejects.toThrow('limits_unavailable');
      bench.desk.onApply = () => undefined;
      await bench.sync();
      expect(amountOf(bench, 1)).toBe(500 * EURO);
      expect(bench.desk.entries).toHaveLength(1);
      bench.delete(1);
      await bench.sync();
      expect(bench.desk.limit(1, 'money-month')).toBeUndefined();
    },
  );

  test.each(['lost-before', 'lost-after'] as const)(
    'whose answer is %s, and whose parameter is gone then, leaves nothing behind',
    async (fault) => {
      const bench = new SsmBench();
      bench.put(1, [money(500)]);
      await bench.sync();
      bench.put(1, [money(600), { jobs: 3 }]);
      bench.desk.onApply = () => fault;
      await expect(bench.sync()).rejects.toThrow('limits_unavailable');
      bench.desk.onApply = () => undefined;
      bench.delete(1);
      expect((await bench.sync()).kept).toEqual([]);
      expect(bench.desk.document.limits ?? []).toEqual([]);
    },
  );
});

describe('10 000 parameters', () => {
  test('are listed at twenty pages a second, taken over a thousand a run, and left alone after that', async () => {
    const bench = new SsmBench({}, 10_000);
    for (let group = 1; group <= 10_000; group += 1) bench.put(group, [money(group)]);
    const startedMs = bench.clock.nowMs();
    expect(await bench.sync()).toMatchObject({ listed: 10_000, left: 9_000, complete: true });
    expect(bench.parameters.calls.page).toBe(1_000);
    expect(bench.clock.nowMs() - startedMs).toBeGreaterThan(2_000 * 50);
    expect(bench.clock.nowMs() - startedMs).toBeLessThan(200_000);
    expect(bench.desk.entries).toHaveLength(1);
  });

  test('whose listing is throttled for minutes are listed by the next run from where it stopped', async () => {
    const bench = new SsmBench({}, 500);
    for (let group = 1; group <= 500; group += 1) bench.put(group, [money(group)]);
    await bench.sync();
    bench.delete(7);
    bench.put(9, [money(1)]);
    bench.put(99, [money(1)]);
    bench.parameters.calls.page = 0;
    // Each page takes as long as tries again and again do.
    bench.parametersFault = (call) => {
      bench.clock.pass(call === 'page' ? 4_000 : 0);
      return undefined;
    };
    const first = await bench.sync();
    expect(first).toMatchObject({ complete: false });
    const seen = bench.parameters.calls.page;
    expect(seen).toBeLessThan(50);
    expect(amountOf(bench, 7)).toBe(7 * EURO);
    expect(await bench.sync()).toMatchObject({ complete: true, left: 0 });
    expect(bench.parameters.calls.page).toBe(50);
    expect(amountOf(bench, 7)).toBeUndefined();
    expect([9, 99].map((group) => amountOf(bench, group))).toEqual([EURO, EURO]);
  });

  test('throttles are waited out, and given up in the end', async () => {
    const bench = new SsmBench();
    bench.put(1, [money(500)]);
    let throttles = 5;
    bench.parametersFault = () => {
      throttles -= 1;
      return throttles > 0 ? 'parameters_throttled' : undefined;
    };
    expect((await bench.sync()).applied).toEqual([nameOf(1)]);
    bench.parametersFault = () => 'parameters_throttled';
    bench.parameters.calls.page = 0;
    await expect(bench.sync()).rejects.toThrow('parameters_throttled');
    expect(bench.parameters.calls.page).toBe(8);
  });

  test('a page token that is too old begins the listing anew', async () => {
    const bench = new SsmBench();
    bench.put(1, [money(500)]);
    await bench.marks.writePass({ unfinished: { fromMs: 1, token: 'old', seen: [1, 2] } });
    let first = true;
    bench.parametersFault = () => {
      const is = first;
      first = false;
      return is ? 'parameters_misread' : undefined;
    };
    expect(await bench.sync()).toMatchObject({ complete: true, applied: [nameOf(1)] });
  });
});

test('nothing is taken while no directory is known: a path could not be compared with anything', async () => {
  const bench = new SsmBench();
  bench.put(1, [money(500)]);
  expect(await bench.sync({ directory: async () => undefined })).toMatchObject({
    outcome: 'no_directory',
    left: 1,
  });
  expect(bench.desk.entries).toEqual([]);
});
