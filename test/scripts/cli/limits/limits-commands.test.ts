import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chunkOfRoot } from '../../../../functions/core/limits/limit-set.ts';
import { publishLimits } from '../../../../functions/core/limits/publish-limits.ts';
import { osUserName } from '../../../../scripts/cli/budget/arguments.ts';
import { openToEdit } from '../../../../scripts/cli/open-ledger.ts';
import { readPolicy } from '../../../../scripts/policy/read-documents.ts';
import { policyDocument } from '../../../policies/documents.ts';
import { syncBench } from '../../../support/sync-bench.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';
import { aProject, type DeskRun, runDesk } from '../desk-run.ts';

const WAIT = { timeoutMs: 1_000 };
const LIMITS = `
limits:
  - { on: { group: 100 }, money: 7.50, per: month, owner: finance }   # a float could not say 7.50
  - { on: { runner_class: large }, jobs: 2 }
grants:
  - { on: { group: 100 }, limit: money-month, amount: +0.10, from: 2026-11-01, until: 2026-11-30, reason: launch }
`;

function limitEdits() {
  const table = memoryLimitTable();
  const groups = syncBench();
  let open = 0;
  const opening = async () => {
    open += 1;
    const close = async (): Promise<void> => {
      open -= 1;
    };
    return { limits: table, directory: groups.table, description: 'the test table', close };
  };
  const root = aProject({
    'policies/policy.yaml': JSON.stringify(policyDocument()),
    'policies/directory.yaml': JSON.stringify({ groups: [{ id: 100, path: 'acme' }] }),
    'limits.yaml': LIMITS,
  });
  const run = async (...args: readonly string[]): Promise<DeskRun> => {
    const standIns = new Map<unknown, unknown>([
      [openToEdit, opening],
      [osUserName, () => 'jane'],
    ]);
    const result = await runDesk(['limits', ...args], root, { standIns });
    expect(open).toBe(0);
    return result;
  };
  const live = async (): Promise<string | undefined> => (await table.getPointer(WAIT))?.set;
  const publish = (...more: readonly string[]) => run('publish', 'limits.yaml', '--why', 'new year', ...more);
  return { table, root, run, live, publish, groups };
}

test('a document that was published is shown with who, why and where from', async () => {
  const { run, publish, live } = limitEdits();
  expect(await publish()).toMatchObject({ code: 0, err: '' });
  const set = await live();
  expect((await run('show')).out).toBe(
    `set    ${set}, edit 1\nsince  21 Nov 2026 12:00 UTC\nby     jane, from file limits.yaml: new year\n`,
  );
  expect(JSON.parse((await run('show', '--json')).out)).toMatchObject({
    live: { set, edit: 1, actor: 'jane', why: 'new year', source: 'file limits.yaml' },
  });
});

test('what --document prints can be edited and published again, to the last digit', async () => {
  const { run, publish, root, live } = limitEdits();
  await publish();
  const { out } = await run('show', '--document');
  expect(out).toContain(`--base ${await live()}`);
  expect(out).toContain('money: 7.50\n');
  writeFileSync(join(root, 'again.yaml'), out);
  const again = await run('publish', 'again.yaml', '--why', 'nothing', '--dry-run');
  expect(again).toMatchObject({
    code: 0,
    out: 'No limit differs from the live set.\nNothing was written.\n',
  });
});

test('limits are placed by the groups GitLab told last, by a file that is named, and by the packed one before', async () => {
  const { publish, table, groups } = limitEdits();
  const chunksOf = async (...more: readonly string[]): Promise<readonly boolean[]> => {
    const { code, err } = await publish(...more);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { set = '' } = (await table.getPointer(WAIT)) ?? {};
    const chunks = await table.readChunks(set, [1, 100].map(chunkOfRoot), WAIT);
    return chunks.map((chunk) => chunk !== undefined);
  };
  expect(await chunksOf()).toEqual([false, true]);
  groups.places.groups.set(1, { id: 1, path: 'holding' });
  groups.places.groups.set(100, { id: 100, parentId: 1, path: 'acme' });
  await groups.run();
  expect(await chunksOf()).toEqual([true, false]);
  expect(await chunksOf('--directory', 'policies/directory.yaml')).toEqual([false, true]);
});

test('a document that was shown is published only while its set is live, unless told otherwise', async () => {
  const { run, publish, live, root } = limitEdits();
  await publish();
  const first = await live();
  const { out } = await run('show', '--document');
  writeFileSync(join(root, 'mine.yaml'), out.replace('7.50', '9'));
  await publish('--actor', 'finance bot');
  const second = await live();
  for (const more of [[], ['--dry-run']]) {
    const late = await run('publish', 'mine.yaml', '--why', 'mine', ...more);
    expect(late.code).toBe(2);
    expect(late.err).toContain(`this is an edit of set ${first}, and another one is live`);
    expect(late.err).toContain('by     finance bot');
  }
  expect(await live()).toBe(second);
  expect(await run('publish', 'mine.yaml', '--why', 'mine', '--base', second ?? '')).toMatchObject({
    code: 0,
  });
});

test('an edit is undone with the document of the set before it', async () => {
  const { run, publish, live, root } = limitEdits();
  await publish();
  const first = await live();
  const before = (await run('show', '--document')).out.split('\n').slice(1);
  writeFileSync(join(root, 'limits.yaml'), LIMITS.replace('7.50', '9'));
  await publish();
  const shown = await run('show', '--document', '--set', `${first}`);
  expect(shown.out.split('\n').slice(1)).toEqual(before);
  expect(shown.out).toMatch(/^# Set \w+ of 21 Nov 2026 12:00 UTC\. Publish it to undo all later edits\n/);
  expect(JSON.parse((await run('show', '--json', '--set', `${first}`)).out).kept).toMatchObject({
    set: first,
    actor: 'jane',
    document: { limits: expect.arrayContaining([expect.objectContaining({ money: '7.50' })]) },
  });
  writeFileSync(join(root, 'limits.yaml'), shown.out);
  expect(await publish()).toMatchObject({ code: 0, err: '' });
  expect((await run('show', '--document')).out.split('\n').slice(1)).toEqual(before);
  expect(await run('show', '--document', '--set', 'gone')).toMatchObject({
    code: 1,
    err: expect.stringContaining('there is no set "gone": replaced sets are kept for 90 days'),
  });
  expect(await run('show', '--set', `${first}`)).toMatchObject({ code: 3 });
});

test('live limits that a new policy no longer knows fail the check with every problem', async () => {
  const { run, publish, root } = limitEdits();
  expect(await run('check')).toMatchObject({ code: 0 });
  await publish();
  expect(await run('check')).toMatchObject({ code: 0, err: '' });
  const policy = join(root, 'policies/policy.yaml');
  writeFileSync(policy, readFileSync(policy, 'utf8').replaceAll('"large"', '"huge"'));
  const { code, err } = await run('check');
  expect(code).toBe(3);
  expect(err).toMatch(/^set [0-9a-f]{24}: limits\[\d\]\.on\.runner_class/);
});

test('limits that would reject the jobs of those who deploy are published with --force only', async () => {
  const { run, root, live, table } = limitEdits();
  const policy = join(root, 'policies/policy.yaml');
  const platform = { groups: [100] };
  const rules = [{ id: 'budgets', kind: 'budget', mode: 'enforce', binds_platform: true }];
  writeFileSync(policy, JSON.stringify(policyDocument({ platform, rules })));
  writeFileSync(join(root, 'zero.yaml'), 'limits:\n  - { on: { group: 100 }, money: 0, per: month }\n');
  const refused = await run('publish', 'zero.yaml', '--why', 'x');
  expect([refused.code, await live()]).toEqual([3, undefined]);
  expect(refused.err).toContain('say --force');
  expect((await run('publish', 'zero.yaml', '--why', 'x', '--force')).code).toBe(0);
  expect((await run('check')).code).toBe(3);
  // Whoever writes to the table by other means is not asked.
  const deps = { table, policy: readPolicy(policy) };
  const base = (await live()) ?? '';
  const change = { actor: 'a', why: 'w', source: 's', atMs: 1, base };
  expect((await publishLimits({ limits: [] }, change, deps)).outcome).toBe('live');
  expect((await run('check')).code).toBe(0);
});
