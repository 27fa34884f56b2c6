import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AttributeValue, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { createLedger } from '../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../functions/core/ledger/dynamo-store.ts';
import { dynamoTable } from '../../functions/core/store/sdk-table.ts';
import { ITEM_VERSION, VERSION_ATTRIBUTE } from '../../functions/names.ts';
import { ensureTable } from '../../scripts/local/dynamodb-local.ts';
import { localTable } from '../support/ledger/local-table.ts';
import { rollupBench, type StreamRecord } from '../support/ledger/rollup-bench.ts';
import { manualClock } from '../support/ledger/test-clock.ts';
import { refuseUnversionedWrites } from '../support/ledger/versioned-writes.ts';
import { frozenText, readFrozen } from './frozen.ts';
import { INSTANCE, KINDS, type Place, RETIRED, writeEveryKind } from './kinds.ts';

type Item = Record<string, AttributeValue>;

const local = localTable('every-kind');
const here = new URL('.', import.meta.url);
const folders = readdirSync(here).filter((name) => /^v\d+$/.test(name));

const placeOf = (tableName: string): Place => ({
  client: local.client,
  endpoint: local.endpoint,
  tableName,
  clock: manualClock(),
});

async function itemsOf(tableName: string): Promise<readonly Item[]> {
  const { Items = [] } = await local.client.send(new ScanCommand({ TableName: tableName }));
  return Items;
}

const kindsOf = ({ pk, sk }: Item): readonly string[] => [
  ...Object.entries(KINDS).flatMap(([name, { is }]) => (is(pk?.S ?? '', sk?.S ?? '') ? [name] : [])),
  ...Object.entries(RETIRED).flatMap(([name, is]) => (is(pk?.S ?? '', sk?.S ?? '') ? [name] : [])),
];

test('every item any program writes says its version, and a frozen one of its kind is kept', async () => {
  await writeEveryKind(placeOf('every-kind'));
  const items = await itemsOf('every-kind');
  expect(items.filter((item) => item[VERSION_ATTRIBUTE]?.N !== ITEM_VERSION)).toEqual([]);
  expect(items.filter((item) => kindsOf(item).length !== 1)).toEqual([]);
  expect([...new Set(items.flatMap(kindsOf))].sort()).toEqual(Object.keys(KINDS).sort());
  if (process.env.TOLLGATE_FREEZE === '1') await freeze(items);
  const frozen = readdirSync(new URL(`v${ITEM_VERSION}/`, here));
  const kinds = [...Object.keys(KINDS), ...Object.keys(RETIRED)];
  expect(frozen.sort()).toEqual(kinds.map((kind) => `${kind}.json`).sort());
});

/** What is there already stays as it is: only kinds that have no file yet get one. */
async function freeze(items: readonly Item[]): Promise<void> {
  mkdirSync(new URL(`v${ITEM_VERSION}/`, here), { recursive: true });
  for (const [kind, { read }] of Object.entries(KINDS)) {
    const file = new URL(`v${ITEM_VERSION}/${kind}.json`, here);
    if (existsSync(file)) continue;
    const ofKind = items.filter((item) => kindsOf(item).includes(kind));
    writeFileSync(file, frozenText({ items: ofKind, reads: await read(placeOf('every-kind')) }));
  }
}

const frozenOf = (folder: string) =>
  readdirSync(new URL(`${folder}/`, here)).map((file) => ({
    kind: file.replace(/\.json$/, ''),
    ...readFrozen(readFileSync(new URL(`${folder}/${file}`, here), 'utf8')),
  }));

/** A table with these items. Its writes go around the guard of other tests: items of old tables have no version. */
async function tableWith(tableName: string, items: readonly Item[]): Promise<Place> {
  await ensureTable(local.client, tableName);
  local.client.middlewareStack.remove('refuseUnversionedWrites');
  for (const item of items) await local.client.send(new PutItemCommand({ TableName: tableName, Item: item }));
  refuseUnversionedWrites(local.client);
  return placeOf(tableName);
}

test.each(
  folders.flatMap((folder) => [
    { folder, form: 'as they were written', without: [] as string[] },
    // As programs wrote them before items had versions.
    ...(folder === 'v1' ? [{ folder, form: 'without a version', without: [VERSION_ATTRIBUTE] }] : []),
  ]),
)('the frozen items of $folder, $form, are read as they were then', async ({ folder, without }) => {
  const frozen = frozenOf(folder);
  const old = frozen.flatMap(({ items }) =>
    items.map((item) => Object.fromEntries(Object.entries(item).filter(([name]) => !without.includes(name)))),
  );
  const place = await tableWith(`frozen-${folder}-${without.length}`, old);
  for (const { kind, reads } of frozen) {
    if (RETIRED[kind] !== undefined) continue;
    // A later reader may say more of an old item, never less or something else.
    const found = await KINDS[kind]?.read(place);
    expect({ kind, reads: JSON.parse(frozenText({ items: [], reads: found })).reads }).toMatchObject({
      kind,
      reads,
    });
  }
});

/** Everything that programs make of a table: the reads of each kind, and a recount. */
async function everyRead(place: Place): Promise<unknown> {
  const table = dynamoTable(place.client, place.tableName);
  const store = new DynamoStore({ table, instance: INSTANCE, clock: place.clock, random: () => 0.5 });
  const recount = await createLedger({ store, clock: place.clock }).rebuild({ repair: false });
  const reads: [string, unknown][] = [];
  for (const [kind, { read }] of Object.entries(KINDS)) reads.push([kind, await read(place)]);
  return JSON.parse(frozenText({ items: [], reads: { recount, reads } }));
}

test.each(folders)('retired items of %s change nothing that a program reads', async (folder) => {
  const frozen = frozenOf(folder);
  const living = frozen.filter(({ kind }) => RETIRED[kind] === undefined).flatMap(({ items }) => items);
  const all = frozen.flatMap(({ items }) => items);
  const without = await everyRead(await tableWith(`retired-${folder}-without`, living));
  expect(await everyRead(await tableWith(`retired-${folder}-with`, all))).toEqual(without);
  expect(without).toMatchObject({ reads: { recount: { passedOver: 0 } } });
});

test.each(folders)(
  'retired items of %s pass through the rollup, which neither fails nor leaves any out',
  async (folder) => {
    const measured: unknown[] = [];
    const metrics = { add: (...added: unknown[]) => void measured.push(added), flush: () => {} };
    const { deliver, store } = rollupBench({ metrics });
    const retired = frozenOf(folder).filter(({ kind }) => RETIRED[kind] !== undefined);
    const stream = retired
      .flatMap(({ items }) => items)
      .map(
        (item, at): StreamRecord => ({
          eventName: 'INSERT',
          dynamodb: { SequenceNumber: String(at), NewImage: item },
        }),
      );
    expect(await deliver(stream)).toEqual({ batchItemFailures: [] });
    expect([measured, store.usage()]).toEqual([[], new Map()]);
  },
);
