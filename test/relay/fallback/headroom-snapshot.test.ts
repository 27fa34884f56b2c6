import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Item } from '../../../functions/core/store/operation.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { Headroom, type HeadroomSnapshot, type LimitHeadroom } from '../../../relay/fallback/headroom.ts';
import { createHeadroomSnapshots, headroomTable } from '../../../relay/fallback/headroom-snapshot.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { aPolicy } from '../../policies/documents.ts';
import { turn } from '../../support/relay/commit-bench.ts';
import { budgetRoom } from '../../support/relay/decisions.ts';

const NOW_MS = handClock().nowMs();
const HOUR_MS = 3_600_000;

const aJob = (jobId: number, root = 100): AdmissionRequest => ({
  ...{ jobId, projectId: 1_000, namespaceId: root, rootNamespaceId: root, timeoutSeconds: 3_600 },
});

/** A relay, and the table's part of what it knows. */
function aRelay(left: readonly HeadroomSnapshot[] = []) {
  const clock = handClock();
  const writes: HeadroomSnapshot[] = [];
  const failures: unknown[] = [];
  const table = { isGone: false };
  const room = new Headroom({
    ...{ clock, isDelivered: () => true, policy: () => aPolicy(), relays: 1, directory: () => undefined },
    taken: () => snapshots.taken(),
  });
  const write = async (kept: HeadroomSnapshot): Promise<void> => {
    if (table.isGone) throw new Error('gone');
    writes.push(kept);
  };
  const snapshots = createHeadroomSnapshots({
    left,
    write,
    clock,
    headroom: room,
    failed: (error) => failures.push(error),
  });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await turn();
  };
  return {
    ...{ clock, snapshots, room, writes, failures, table, pass },
    told: (leftEur: number) => room.report([budgetRoom(leftEur)]),
    admits: (...jobIds: readonly number[]) => jobIds.filter((jobId) => room.take(aJob(jobId)) === undefined),
  };
}

test('a table that takes nothing is tried every ten seconds, and gets what is known then', async () => {
  const { told, admits, pass, writes, failures, table } = aRelay();
  told(5);
  table.isGone = true;
  admits(1);
  await pass(1_000);
  await pass(9_999);
  expect(failures).toHaveLength(1);
  admits(2);
  await pass(1);
  expect(failures).toHaveLength(2);
  table.isGone = false;
  await pass(10_000);
  expect(writes.map(({ given }) => given)).toEqual([[1, 2]]);
});

const kept = (
  leftEur: number,
  part: Partial<LimitHeadroom> = {},
  given: readonly number[] = [],
): HeadroomSnapshot => ({
  rooms: [
    { room: budgetRoom(leftEur), left: leftEur * 1_000_000, toldAtMs: NOW_MS - 1_000, spent: 0, ...part },
  ],
  given,
});

test('of what others wrote the newest counts, less the most that any of them gave', () => {
  const relay = aRelay([
    kept(9, { toldAtMs: NOW_MS - 5_000, spent: 3_000_000 }, [1]),
    kept(5, { spent: 1_000_000 }, [2]),
    kept(8, { toldAtMs: NOW_MS - 9_000 }, [3]),
  ]);
  relay.snapshots.restore();
  // 5 are left and 3 given; whoever was admitted once spends nothing more.
  expect(relay.admits(1, 2, 3, 11, 12, 13)).toEqual([1, 2, 3, 11, 12]);
});

const AT_MS = Date.UTC(2026, 10, 21, 12);
const DAY_MS = 24 * HOUR_MS;

const aRoom = (subject: string, toldAtMs = AT_MS): LimitHeadroom => ({
  ...{ room: budgetRoom(8, subject), toldAtMs, left: 8, spent: 1 },
});

interface Call {
  readonly target: string;
  readonly input: { readonly Item: Item } & Readonly<Record<string, unknown>>;
}

/** What is sent to the table, which answers with these items. */
function aTable(items: readonly object[] = []) {
  const calls: Call[] = [];
  const table = headroomTable({
    ...{ endpoint: 'https://dynamodb.example.com', table: 'tollgate-prod', instance: 'gitlab.example.com' },
    ...{ relayId: 'r-1', nowMs: () => AT_MS },
    fetch: async (_url, init) => {
      const target = String((init.headers as Record<string, string>)['x-amz-target']);
      calls.push({ target, input: JSON.parse(String(init.body)) });
      return new Response(JSON.stringify({ Items: items }), { status: 200 });
    },
  });
  return { table, calls };
}

const packed = (kept: unknown): string => gzipSync(JSON.stringify(kept)).toString('base64');
const item = (text: string, version = '1') => ({ v: { N: version }, kr: { B: text } });

test('what is read is what was written, of the relays started last, and not of a day ago', async () => {
  const kept: HeadroomSnapshot = { rooms: [aRoom('group/1')], given: [7] };
  const old = { rooms: [aRoom('group/2', AT_MS - DAY_MS - 1)], given: [8] };
  const { table, calls } = aTable([
    item(packed({ version: 1, ...kept })),
    item(packed({ version: 1, ...old })),
  ]);
  expect(await table.read()).toEqual([kept, { rooms: [], given: [8] }]);
  expect(calls[0]).toMatchObject({
    target: 'DynamoDB_20120810.Query',
    input: { ConsistentRead: true, ScanIndexForward: false, Limit: 16 },
  });
});

test.each([
  ['nothing', {}],
  ['no item at all', 'text' as unknown as object],
  ['a newer form', item(packed({ version: 1, rooms: [aRoom('group/1')], given: [1] }), '2')],
  ['another version of the rooms', item(packed({ version: 2, rooms: [aRoom('group/1')], given: [1] }))],
  ['what is not packed', item('bm90IHBhY2tlZA==')],
  ['a body that is not JSON', item(gzipSync('{').toString('base64'))],
  [
    'what unpacks to more than there can be',
    item(gzipSync(Buffer.alloc(9 * 1024 * 1024)).toString('base64')),
  ],
])('%s is nothing, and the others count', async (_, foreign) => {
  const kept: HeadroomSnapshot = { rooms: [aRoom('group/1')], given: [7] };
  const { table } = aTable([foreign, item(packed({ version: 1, ...kept }))]);
  expect(await table.read()).toEqual([{ rooms: [], given: [] }, kept]);
});
