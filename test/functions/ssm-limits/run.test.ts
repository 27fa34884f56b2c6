import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LogFields } from '../../../functions/core/environment/environment.ts';
import type { LimitEdits } from '../../../functions/core/limits/create-limit-edits.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { runOn } from '../../../functions/ssm-limits/import-parameter.ts';
import {
  dynamoImportedVersions,
  type ImportedVersions,
} from '../../../functions/ssm-limits/imported-versions.ts';
import type { Parameters, StoredParameter } from '../../../functions/ssm-limits/parameters.ts';
import type { Directory } from '../../../policies/directory.ts';
import { aDirectory, aPolicy, NOW_MS, someLimits } from '../../policies/documents.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { aLiveDesk } from '../core/limits/desk.ts';

const PATH = '/tollgate/test/limits';
const ANNA = 'arn:aws:iam::111122223333:user/anna';
const BEN = 'arn:aws:sts::111122223333:assumed-role/Finance/ben';

/** Shadow limits: one person alone may remove them. */
const minutes = (amount: number) => ({ minutes: amount, per: 'month', mode: 'shadow' });
const jobs = (amount: number) => ({ jobs: amount, mode: 'shadow' });

/** A desk with 900 a month on acme, 500 on acme/payments (group 101) and 10 concurrent jobs on group 104. */
async function aStore() {
  const { limitEdits, by } = await aLiveDesk();
  const stored = new Map<string, StoredParameter>();
  const store: Parameters = {
    list: async (path) => [...stored.values()].filter(({ name }) => name.startsWith(`${path}/`)),
    read: async (name) => stored.get(name),
  };
  const write = (name: string, value: string, editor?: string, type = 'String'): void => {
    const version = (stored.get(name)?.version ?? 0) + 1;
    stored.set(name, { name, value, type, version, modifiedAtMs: nowMs, editor });
  };
  const lines: { level: string; message: string; fields: LogFields | undefined }[] = [];
  const counted: [string, number][] = [];
  const to = (level: string) => (message: string, fields?: LogFields) => {
    lines.push({ level, message, fields });
  };
  let nowMs = NOW_MS;
  const clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: async (ms: number) => {
      nowMs += ms;
    },
  };
  const imported = dynamoImportedVersions({
    table: new MemoryTable(),
    instance: 'gitlab.example.com',
    clock,
  });
  const deps = {
    path: PATH,
    parameters: store,
    imported: imported as ImportedVersions,
    limitEdits: limitEdits as Pick<LimitEdits, 'live' | 'apply'>,
    packed: { document: {}, limits: someLimits({}) },
    policy: aPolicy(),
    directory: async (): Promise<Directory | undefined> => aDirectory,
    clock,
    random: () => 0.5,
    log: { info: to('info'), warn: to('warn'), error: to('error') },
    metrics: {
      add: ({ name }: { name: string }, value: number) => counted.push([name, value]),
      flush: () => {},
    },
  };
  return {
    ...{ limitEdits, by, write, deps, lines, counted },
    put: (group: number | string, value: readonly object[] | string, arn: string | undefined = ANNA) => {
      nowMs += 1_000;
      const text =
        typeof value === 'string' ? value : JSON.stringify({ path: 'acme/payments', limits: value });
      write(`${PATH}/${group}`, text, arn);
    },
    remove: (group: number) => stored.delete(`${PATH}/${group}`),
    schedule: () => runOn({ source: 'aws.events' }, deps),
    event: (name: number | string = 101, operation = 'Update') =>
      runOn({ source: 'aws.ssm', detail: { name: `${PATH}/${name}`, operation } }, deps),
    limits: async () => {
      const { limits = [] } = ((await limitEdits.live())?.document ?? {}) as {
        limits?: readonly { on: unknown }[];
      };
      return limits
        .filter(({ on }) => JSON.stringify(on) === '{"group":101}')
        .map(({ on: _on, ...limit }) => limit);
    },
    edits: async () =>
      (await limitEdits.history({ max: 100 })).entries
        .filter(({ source }) => source === 'ssm')
        .map(({ actor, why }) => `${actor}: ${why}`)
        .reverse(),
  };
}

const MONEY = { money: 500, per: 'month', owner: 'payments-leads' };

test('a changed parameter is one edit with its author, and an event that arrives twice makes no second one', async () => {
  const { put, event, limits, edits } = await aStore();
  put(101, [minutes(50), jobs(20)]);
  await event();
  await event();
  put(101, [minutes(60), jobs(20)], BEN);
  await event();
  await event();
  expect(await limits()).toEqual([MONEY, minutes(60), jobs(20)]);
  expect(await edits()).toEqual([
    `${ANNA}: SSM parameter ${PATH}/101 version 1`,
    `${BEN}: SSM parameter ${PATH}/101 version 2`,
  ]);
});

test.each([
  ['no YAML', 'path: [', /is no YAML/],
  ['a text that unfolds', 'path: acme/payments\nlimits: [&a { jobs: 5 }, *a]', /is no YAML/],
  ['more than four kilobytes', `# ${'x'.repeat(4_096)}\n`, /has 4099 bytes; expected at most 4096/],
  ['no path', 'limits: []', /path: missing/],
  [
    'the path of another group',
    'path: acme/other\nlimits: []',
    /path.*expected acme\/payments.*correct the path or the id/,
  ],
  ['a subject of its own', 'path: acme/payments\nlimits: [{ on: { group: 7 }, jobs: 3 }]', /limits\[0\]\.on/],
  ['no limits', 'path: acme/payments', /limits.*\[\] removes them all/],
  [
    'ten times the amount',
    '{ path: acme/payments, limits: [{ money: 50, per: month }] }',
    /confirm: true.*money-month/,
  ],
])(
  'a parameter with %s changes nothing and is reported with its name, place and remedy until it is corrected',
  async (_, value, problem) => {
    const { put, event, schedule, limits, lines, counted, edits } = await aStore();
    put(101, value);
    await event();
    await schedule();
    const errors = lines.filter(({ level }) => level === 'error');
    expect(errors.map(({ fields }) => [fields?.parameter, fields?.version])).toEqual([
      [`${PATH}/101`, 1],
      [`${PATH}/101`, 1],
    ]);
    expect(String(errors[0]?.fields?.problems)).toMatch(problem);
    expect(counted).toEqual([
      ['LimitsUnreadable', 1],
      ['LimitsUnreadable', 1],
    ]);
    expect([await limits(), await edits()]).toEqual([[MONEY], []]);
    put(101, [MONEY, jobs(20)]);
    await schedule();
    await schedule();
    expect(counted).toHaveLength(2);
    expect(await limits()).toEqual([MONEY, jobs(20)]);
  },
);

test('a parameter confirms a large change, and cannot make one that needs a second person', async () => {
  const { put, event, limits, lines, edits } = await aStore();
  put(101, JSON.stringify({ path: 'acme/payments', confirm: true, limits: [{ ...MONEY, money: 50 }] }));
  await event();
  expect(await limits()).toEqual([{ ...MONEY, money: 50 }]);
  put(101, JSON.stringify({ path: 'acme/payments', confirm: true, limits: [{ ...MONEY, money: 800 }] }));
  await event();
  expect(lines.at(-2)?.fields?.problems).toEqual([
    expect.stringMatching(/another user must approve it.*console/),
  ]);
  expect(await edits()).toHaveLength(1);
});

test('an invalid parameter does not keep others from being imported', async () => {
  const { write, put, schedule, limits, counted, lines } = await aStore();
  write(`${PATH}/payments`, '');
  write(`${PATH}/100`, 'secret', undefined, 'SecureString');
  write(`${PATH}/999`, 'path: acme/payments\nlimits: []');
  put(101, [jobs(20)]);
  await schedule();
  expect(await limits()).toEqual([MONEY, jobs(20)]);
  expect(counted).toEqual([['LimitsUnreadable', 3]]);
  const problems = lines.map(({ fields }) => String(fields?.problems));
  expect(problems).toContainEqual(expect.stringMatching(/SecureString; expected a String/));
  expect(problems).toContainEqual(expect.stringMatching(/group 999 is not in the directory/));
});

test('a run whose last write is lost fails, and the next run makes no second edit', async () => {
  const { put, event, limits, edits, deps, counted, lines } = await aStore();
  const { imported } = deps;
  put(101, [jobs(20)]);
  deps.imported = { ...imported, write: () => Promise.reject(new Error('no answer')) };
  await expect(event()).rejects.toThrow('no answer');
  expect(counted).toEqual([['LimitsUnreadable', 1]]);
  expect(lines.at(-1)).toMatchObject({ level: 'error', fields: { cause: 'no answer' } });
  deps.imported = imported;
  await event();
  expect(await limits()).toEqual([MONEY, jobs(20)]);
  expect(await edits()).toHaveLength(1);
});

test('events that are lost, repeated and out of order end with the newest version, one edit a version at most', async () => {
  const step = fc.oneof(
    fc.record({ put: fc.integer({ min: 10, max: 14 }) }),
    fc.record({ remove: fc.constant(true) }),
    fc.record({ event: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ schedule: fc.constant(true) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const { put, remove, event, schedule, limits, edits } = await aStore();
      let newest: number | undefined;
      let changes = 0;
      for (const each of steps) {
        if ('put' in each || 'remove' in each) changes += 1;
        if ('put' in each) {
          newest = each.put;
          put(101, [jobs(each.put)]);
        } else if ('remove' in each) {
          newest = undefined;
          remove(101);
        } else if ('event' in each) for (let times = 0; times < each.event; times += 1) await event();
        else await schedule();
      }
      await schedule();
      expect(await limits()).toEqual(newest === undefined ? [MONEY] : [MONEY, jobs(newest)]);
      expect((await edits()).length).toBeLessThanOrEqual(changes);
    }),
    { numRuns: propertyRuns(50) },
  );
});
