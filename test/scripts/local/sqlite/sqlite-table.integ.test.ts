/** The ledger's file, in this program and in several at once. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import { versioned } from '../../../../functions/core/store/operation.ts';
import { openOwnTable, openStoredTable } from '../../../../scripts/local/ledger-folder.ts';
import { SqliteTable } from '../../../../scripts/local/sqlite-table.ts';
import { ledgerContract } from '../../../functions/core/ledger/contract.ts';
import { counter } from '../../../support/ledger/asks.ts';

const COUNTER = { pk: 'a', sk: 'counter' };
const add = (n: number) => ({ kind: 'update', key: COUNTER, setIfAbsent: versioned, add: { n } }) as const;
const module = (path: string): string =>
  JSON.stringify(fileURLToPath(new URL(`../../../../${path}`, import.meta.url)));

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-sqlite-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function aTable(nowMs: () => number = Date.now): { readonly file: string; readonly table: SqliteTable } {
  const file = join(mkdtempSync(join(folder, 'table-')), 'ledger.sqlite');
  const table = new SqliteTable({ file, makes: true, nowMs });
  onTestFinished(() => table.close());
  return { file, table };
}

async function counted(table: SqliteTable): Promise<number> {
  return Number((await table.send('GetItem', { key: COUNTER, consistent: true }))?.n?.N ?? 0);
}

/** A program of its own that prints lines; gone at the end of the test, whatever becomes of it. */
function program(text: string): {
  readonly child: ChildProcess;
  readonly lines: AsyncIterator<string>;
  readonly said: () => string;
} {
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
    stdio: 'pipe',
  });
  let said = '';
  child.stderr.on('data', (text) => {
    said += String(text);
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator](), said: () => said };
}

const contracted = new Map<string, SqliteTable>();
afterAll(() => {
  for (const table of contracted.values()) table.close();
});
ledgerContract((instance, clock) => {
  const file = join(folder, 'contract.sqlite');
  const table = contracted.get(file) ?? new SqliteTable({ file, makes: true, nowMs: Date.now });
  contracted.set(file, table);
  return new DynamoStore({ table, instance, clock, random: Math.random });
});

test('two programs that ask for the same limit at once admit exactly as many jobs as it has', async () => {
  const { file, table } = aTable();
  const asking = (first: number): string => `
    const { SqliteTable } = await import(${module('scripts/local/sqlite-table.ts')});
    const { DynamoStore } = await import(${module('functions/core/ledger/dynamo-store.ts')});
    const { createLedger } = await import(${module('functions/core/ledger/create-ledger.ts')});
    const { systemClock } = await import(${module('functions/core/environment/environment.ts')});
    const { anAsk, claim, wordOf } = await import(${module('test/support/ledger/asks.ts')});
    const table = new SqliteTable({ file: ${JSON.stringify(file)}, makes: false, nowMs: Date.now });
    const store = new DynamoStore({ table, instance: 'gitlab.example.com', clock: systemClock, random: Math.random });
    const ledger = createLedger({ store });
    console.log('ready');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    let admitted = 0;
    for (let jobId = ${first}; jobId < ${first} + 120; jobId += 1) {
      const [outcome] = await ledger.hold([anAsk(jobId, [claim('group/1', 1, 150)])], systemClock.monotonicMs() + 300_000);
      if (wordOf(outcome) === 'admitted') admitted += 1;
    }
    console.log(admitted);
    process.exit(0);
  `;
  const programs = [1, 1001].map((first) => program(asking(first)));
  for (const { lines } of programs) expect((await lines.next()).value).toBe('ready');
  for (const { child } of programs) child.stdin?.write('go\n');
  const admitted = await Promise.all(programs.map(async ({ lines }) => Number((await lines.next()).value)));
  expect(Math.min(...admitted)).toBeGreaterThan(0);
  expect(admitted.reduce((sum, each) => sum + each, 0)).toBe(150);
  const store = new DynamoStore({
    table,
    instance: 'gitlab.example.com',
    clock: systemClock,
    random: Math.random,
  });
  expect(await store.readCounters([counter('group/1')], { timeoutMs: 300_000 })).toMatchObject([
    { committed: 150 },
  ]);
});

test('whenever the program is killed, what it was told is written is there, and the next one may begin', async () => {
  const dataDir = join(folder, 'killed', 'ledger');
  const { child, lines } = program(`
    const { openOwnTable } = await import(${module('scripts/local/ledger-folder.ts')});
    const { table } = openOwnTable(${JSON.stringify(dataDir)}, false);
    for (;;) {
      await table.send('TransactWriteItems', { writes: [${JSON.stringify(add(1))}] });
      const { n } = await table.send('GetItem', { key: ${JSON.stringify(COUNTER)}, consistent: true });
      process.stdout.write(n.N + '\\n');
      if (n.N % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  `);
  let told = 0;
  while (told < 300) told = Number((await lines.next()).value);
  expect(() => openOwnTable(dataDir, true)).toThrow(/is in use: another npm start runs here/);
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
  for (let line = await lines.next(); line.done !== true; line = await lines.next())
    told = Number(line.value);
  const next = openOwnTable(dataDir, false);
  const left = await counted(next.table);
  expect(left).toBeGreaterThanOrEqual(told);
  await next.table.send('UpdateItem', add(1));
  expect(await counted(next.table)).toBe(left + 1);
  next.close();
});

test('the stream tells what another program writes, and our own writes at once', async () => {
  const { file, table } = aTable();
  await table.send('UpdateItem', add(1));
  const done = new AbortController();
  const own = table.stream(done.signal, () => new Promise(() => {}))[Symbol.asyncIterator]();
  const both = table
    .stream(done.signal, () => new Promise((resolve) => setImmediate(resolve)))
    [Symbol.asyncIterator]();
  const first = own.next();
  await table.send('UpdateItem', add(1));
  const change = {
    eventName: 'MODIFY',
    dynamodb: { OldImage: { n: { N: '1' } }, NewImage: { n: { N: '2' } } },
  };
  expect((await first).value).toMatchObject([change]);
  expect((await both.next()).value).toMatchObject([change]);

  const { child, said } = program(`
    const { SqliteTable } = await import(${module('scripts/local/sqlite-table.ts')});
    const table = new SqliteTable({ file: ${JSON.stringify(file)}, makes: false, nowMs: Date.now });
    await table.send('DeleteItem', { key: ${JSON.stringify(COUNTER)} });
  `);
  const told = both.next();
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(said()).toBe('');
  expect((await told).value).toMatchObject([
    { eventName: 'REMOVE', dynamodb: { OldImage: { n: { N: '2' } } } },
  ]);
  done.abort();
  expect(await both.next()).toMatchObject({ done: true });
});

test('a file that another program keeps busy is a throttle to who writes, and nothing to who reads', async () => {
  const { file, table } = aTable();
  await table.send('UpdateItem', add(1));
  const other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  const written = { writes: [add(1)] };
  expect(await table.send('TransactWriteItems', written)).toEqual({ outcome: 'throttled' });
  await expect(table.send('UpdateItem', add(1))).rejects.toMatchObject({ name: 'ThrottlingException' });
  expect(await counted(table)).toBe(1);
  other.close();
  expect(await table.send('TransactWriteItems', written)).toEqual({ outcome: 'written' });
  expect(await counted(table)).toBe(2);
});

test('a transaction is written once under its token by all programs, for ten minutes', async () => {
  let nowMs = 0;
  const { file, table } = aTable(() => nowMs);
  const other = new SqliteTable({ file, makes: false, nowMs: () => nowMs });
  const write = { writes: [add(1)], token: 'once' };
  for (const each of [table, other, table]) await each.send('TransactWriteItems', write);
  expect(await counted(table)).toBe(1);
  nowMs = 10 * 60_000;
  await other.send('TransactWriteItems', write);
  expect(await counted(table)).toBe(2);
  other.close();
});

test('a file that is none of ours is refused with the remedy, and --fresh is the remedy', () => {
  const dataDir = join(folder, 'foreign');
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'ledger.sqlite'), 'no database '.repeat(1_000));
  expect(() => openOwnTable(dataDir, false)).toThrow(
    /ledger\.sqlite cannot be opened .* --fresh starts over/,
  );
  openOwnTable(dataDir, true).close();
  openOwnTable(dataDir, false).close();
});

test('a command that has the file open sees it emptied, and goes on with it', async () => {
  const dataDir = join(folder, 'emptied');
  const first = openOwnTable(dataDir, false);
  await first.table.send('UpdateItem', add(1));
  first.close();
  writeFileSync(join(dataDir, 'clock.json'), '{}');
  const command = openStoredTable(dataDir);
  if (command === undefined) throw new Error('the first one left a file');
  const fresh = openOwnTable(dataDir, true);
  expect(await counted(command)).toBe(0);
  await command.send('UpdateItem', add(5));
  expect(await counted(fresh.table)).toBe(5);
  command.close();
  fresh.close();
});
