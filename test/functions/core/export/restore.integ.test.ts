import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../../../functions/core/environment/machine.ts';
import { exportImages } from '../../../../functions/core/export/export-images.ts';
import { exportedKind } from '../../../../functions/core/export/exported-image.ts';
import { s3Objects } from '../../../../functions/core/export/s3-objects.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import { DynamoLimitTable } from '../../../../functions/core/limits/dynamo-limit-table.ts';
import { dynamoTable } from '../../../../functions/core/store/dynamo-table.ts';
import { restoreCommandOn } from '../../../../scripts/cli/restore/restore-command.ts';
import type { TerminalIo } from '../../../../scripts/terminal/command.ts';
import { anAsk, blocked, claim, counter, someFacts } from '../../../support/ledger/asks.ts';
import { localTable } from '../../../support/ledger/local-table.ts';
import { manualClock, NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';

const INSTANCE = 'gitlab.example.com';
const WAIT = { timeoutMs: 300_000 };
const damaged = localTable('export-damaged');
const older = localTable('export-older');

interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

let server: Server;
let endpoint: string;
let received: Received[];
let folder: string;
beforeEach(async () => {
  received = [];
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(parts) });
    response.end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = mkdtempSync(join(tmpdir(), 'tollgate-export-'));
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
});

const clock = manualClock();
const tables = { 'export-damaged': damaged, 'export-older': older };
const place = (table: keyof typeof tables) => ({
  table: dynamoTable(tables[table].client, table),
  instance: INSTANCE,
  clock,
  random: () => 0.5,
});
const ledgerOf = (table: Parameters<typeof place>[0]) =>
  createLedger({ store: new DynamoStore(place(table)), clock });
const asks = (jobId: number, over: Parameters<typeof anAsk>[2] = {}) => [
  anAsk(jobId, [claim('group/1', 600, 10_000)], { facts: someFacts({ userId: 12 }), ...over }),
];

/** What both tables have: the backup was made after it. */
async function untilTheBackup(table: Parameters<typeof place>[0]): Promise<void> {
  const limits = new DynamoLimitTable(place(table));
  await ledgerOf(table).hold(asks(1, { decidedAtMs: NOVEMBER_21_MS }), clock.monotonicMs() + 300_000);
  await limits.flip({ set: 'set-1', edit: 1, atMs: 1 }, undefined, WAIT, {
    edit: 1,
    bytes: Buffer.from('one'),
  });
}

/** What only the damaged table has. */
async function sinceTheBackup(): Promise<void> {
  const ledger = ledgerOf('export-damaged');
  const limits = new DynamoLimitTable(place('export-damaged'));
  const end = { durationSeconds: 60, endedAtMs: clock.nowMs() };
  await ledger.settle([{ jobId: 1, ...end }]);
  await ledger.settle([{ jobId: 1, ...end, durationSeconds: 90 }]);
  const facts = someFacts({ asked: { image: 'alpine', variables: 'some' as const } });
  await ledger.hold(asks(2, { facts, violations: [blocked] }), clock.monotonicMs() + 300_000);
  const bytes = Buffer.from('two');
  await limits.putChunk('set-2', { name: 'root/1', bytes }, WAIT);
  await limits.flip({ set: 'set-2', edit: 2, atMs: 2 }, 'set-1', WAIT, { edit: 2, bytes });
  await limits.putRequest({ id: 'r-1', rev: 1, bytes, expiresAtSeconds: 4_102_444_800 }, WAIT);
}

async function scanned(table: Parameters<typeof place>[0]) {
  const { Items = [] } = await tables[table].client.send(new ScanCommand({ TableName: table }));
  return Items;
}

/** As the table's stream tells it. */
async function exportAll(): Promise<void> {
  const objects = s3Objects({
    bucket: 'decisions',
    region: 'eu-central-1',
    endpoint,
    credentials: async () => ({ accessKeyId: 'AKID', secretAccessKey: 'secret' }),
  });
  const Records = (await scanned('export-damaged')).map((NewImage, index) => ({
    eventName: 'INSERT',
    dynamodb: {
      NewImage,
      SequenceNumber: String(100 + index),
      ApproximateCreationDateTime: NOVEMBER_21_MS / 1000,
    },
  }));
  const deps = { instance: INSTANCE, objects, clock, log: silentLog };
  expect(await exportImages({ Records }, deps)).toEqual({ again: [], lost: 0 });
}

function copyBucket(): void {
  for (const { path, body } of received) {
    const file = join(folder, path.replace('/decisions/', ''));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, body);
  }
}

async function restored(...args: readonly string[]) {
  const told: string[] = [];
  const io = {
    out: (text: string) => void told.push(text),
    err: () => {},
    env: {},
    nowMs: () => NOVEMBER_21_MS + 3_600_000,
  } as unknown as TerminalIo;
  const open = async () => ({ ...place('export-older'), description: 'the table', close: async () => {} });
  const command = restoreCommandOn({ open, confirm: async () => undefined });
  const exit = await command.run([folder, '--yes', '--json', ...args], io);
  return { exit, ...(JSON.parse(told.join('')) as object) };
}

test('an older backup and the export make the table again: reasons, limits with their log, requests', async () => {
  await untilTheBackup('export-damaged');
  await untilTheBackup('export-older');
  await sinceTheBackup();
  await exportAll();

  const [object] = received;
  expect(object?.path).toBe('/decisions/v1/2026/11/21/12/'.concat(object?.path.split('/').at(-1) ?? ''));
  expect(object?.headers['x-amz-content-sha256']).toBe(
    createHash('sha256')
      .update(object?.body ?? '')
      .digest('hex'),
  );
  expect(object?.headers.authorization).toMatch(/Credential=AKID\/\d{8}\/eu-central-1\/s3\/aws4_request/);

  copyBucket();
  // What was written after it is left out.
  expect(await restored('--until', '2026-11-20')).toMatchObject({ exit: 0, kept: 0, leftOut: 8 });
  const read = { record: 2, entry: 1, closing: 0, limits: 4 };
  expect(await restored()).toMatchObject({ exit: 0, restored: read, passedOver: 0 });
  expect(await restored()).toMatchObject({ exit: 0, restored: { record: 0, limits: 0 }, passedOver: 0 });

  const ledger = ledgerOf('export-older');
  const { drift, repaired } = await ledger.rebuild({ repair: true });
  expect([drift.length, repaired]).toEqual([1, 1]);
  expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);
  const amounts = async (table: Parameters<typeof place>[0]) =>
    (await ledgerOf(table).readCounters([counter('group/1')])).map((each) => ({ ...each, rev: 0 }));
  expect(await amounts('export-older')).toEqual(await amounts('export-damaged'));
  const [rejected] = await ledger.readRecords([2]);
  expect(rejected).toMatchObject({ state: 'REJECTED', violations: [blocked] });
  expect(rejected?.facts.asked).toBeUndefined();

  const kept = async (table: Parameters<typeof place>[0]) =>
    (await scanned(table))
      .filter((item) => exportedKind(item, INSTANCE) !== undefined)
      .map(({ rq: _asked, ...item }) => JSON.stringify(Object.entries(item).sort()))
      .sort();
  expect(await kept('export-older')).toEqual(await kept('export-damaged'));
});
