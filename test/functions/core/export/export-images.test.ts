import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { type ExportDeps, exportImages } from '../../../../functions/core/export-images.ts';
import type { TableStreamEvent } from '../../../../functions/core/store/operation.ts';
import { FUNCTION_METRIC } from '../../../../functions/names.ts';
import { aRecord, Feed, INSTANCE, rollupBench } from '../../../support/ledger/rollup-bench.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';

function aBucket(over: Partial<ExportDeps> = {}) {
  const objects = new Map<string, string>();
  const deps: ExportDeps = {
    instance: INSTANCE,
    objects: {
      put: async (name, bytes) => {
        objects.set(name, gunzipSync(bytes).toString('utf8'));
      },
    },
    clock: { nowMs: () => NOVEMBER_21_MS },
    log: silentLog,
    ...over,
  };
  return { objects, exported: (event: TableStreamEvent) => exportImages(event, deps) };
}

const image = (pk: string, sk: string, sequence = '1', more: object = {}) => ({
  eventName: 'INSERT',
  dynamodb: {
    SequenceNumber: sequence,
    ApproximateCreationDateTime: NOVEMBER_21_MS / 1000,
    NewImage: { pk: { S: pk }, sk: { S: sk }, ...more },
  },
});

test('decisions, corrections, closings and limits go out, one line each, by the hour they were written', async () => {
  const { exported, objects } = aBucket();
  const Records = [
    image(`${INSTANCE}#job#1`, 'record', '11'),
    image(`${INSTANCE}#job#1`, 'entry#000001', '12'),
    image(`${INSTANCE}#counter#group/1|money|2026-10`, 'closing', '14'),
    image(`${INSTANCE}@limits`, 'pointer', '15'),
    image(`${INSTANCE}@limits#log`, '0000000017', '16'),
  ];
  expect(await exported({ Records })).toEqual({ again: [], lost: 0 });
  expect([...objects.keys()]).toEqual(['v1/2026/11/21/12/11-16.jsonl.gz']);
  const lines = [...objects.values()][0]
    ?.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toEqual(Records.map(({ dynamodb }) => ({ at: NOVEMBER_21_MS, item: dynamodb.NewImage })));
});

test.each([
  [`${INSTANCE}#counter#group/1|money|2026-11`, 'counter'],
  [`${INSTANCE}#counter#group/1|money|2026-11`, 'adjustment#FIN-1'],
  [`${INSTANCE}#job#1`, 'rollup'],
  [`${INSTANCE}#inbox#x`, 'inbox'],
  [`${INSTANCE}#announced#x`, 'announced'],
  [`${INSTANCE}@sessions#hash`, 'session'],
  [`${INSTANCE}@sessions#hash`, 'pending'],
  [`${INSTANCE}@limitsother`, 'pointer'],
  ['other.example.com#job#1', 'record'],
])('%s, %s stays in the table', async (pk, sk) => {
  const { exported, objects } = aBucket();
  await exported({ Records: [image(pk, sk)] });
  expect(objects.size).toBe(0);
});

test('what rules looked at in a question, where values of variables may stand, never goes out', async () => {
  const { exported, objects } = aBucket();
  const asked = { rq: { S: '{"i":"registry.example.com/a value of a variable"}' }, st: { S: 'REJECTED' } };
  await exported({ Records: [image(`${INSTANCE}#job#1`, 'record', '1', asked)] });
  expect([...objects.values()].join('')).toContain('REJECTED');
  expect([...objects.values()].join('')).not.toMatch(/rq|a value/);
});

test('a bucket that does not answer holds the stream up for ten minutes, then what is missing is counted', async () => {
  let nowMs = NOVEMBER_21_MS;
  const { exported } = aBucket({
    clock: { nowMs: () => nowMs },
    objects: {
      put: async () => {
        throw new Error('bucket answered 503');
      },
    },
  });
  const added: [string, number][] = [];
  const { deliver, store } = rollupBench({
    exportImages: exported,
    metrics: { add: ({ name }, value) => added.push([name, value]), flush: () => {} },
  });
  const feed = new Feed();
  feed.push(aRecord());
  const records = feed.records.map(({ eventName, dynamodb }) => ({
    eventName,
    dynamodb: { ...dynamodb, ApproximateCreationDateTime: NOVEMBER_21_MS / 1000 },
  }));
  expect(await deliver(records)).toEqual({ batchItemFailures: [{ itemIdentifier: '1' }] });
  // Usage does not wait for it, and is counted once.
  const counted = store.usage();
  expect(counted.size).toBeGreaterThan(0);
  nowMs += 10 * 60_000;
  expect(await deliver(records)).toEqual({ batchItemFailures: [] });
  expect(store.usage()).toEqual(counted);
  expect(added).toEqual([[FUNCTION_METRIC.rollupLeftOut.name, 1]]);
});
