import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AttributeValue, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { ITEM_VERSION, VERSION_ATTRIBUTE } from '../../functions/names.ts';
import { ensureTable } from '../../scripts/local/dynamodb-local.ts';
import { localTable } from '../support/ledger/local-table.ts';
import { manualClock } from '../support/ledger/test-clock.ts';
import { refuseUnversionedWrites } from '../support/ledger/versioned-writes.ts';
import { frozenText, readFrozen } from './frozen.ts';
import { KINDS, type Place, writeEveryKind } from './kinds.ts';

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

const kindsOf = ({ pk, sk }: Item): readonly string[] =>
  Object.entries(KINDS).flatMap(([name, { is }]) => (is(pk?.S ?? '', sk?.S ?? '') ? [name] : []));

test('every item any program writes says its version, and a frozen one of its kind is kept', async () => {
  await writeEveryKind(placeOf('every-kind'));
  const items = await itemsOf('every-kind');
  expect(items.filter((item) => item[VERSION_ATTRIBUTE]?.N !== ITEM_VERSION)).toEqual([]);
  expect(items.filter((item) => kindsOf(item).length !== 1)).toEqual([]);
  expect([...new Set(items.flatMap(kindsOf))].sort()).toEqual(Object.keys(KINDS).sort());
  if (process.env.TOLLGATE_FREEZE === '1') await freeze(items);
  const frozen = readdirSync(new URL(`v${ITEM_VERSION}/`, here));
  expect(frozen.sort()).toEqual(
    Object.keys(KINDS)
      .map((kind) => `${kind}.json`)
      .sort(),
  );
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

test.each(
  folders.flatMap((folder) => [
    { folder, form: 'as they were written', without: [] as string[] },
    // As programs wrote them before items had versions.
    ...(folder === 'v1' ? [{ folder, form: 'without a version', without: [VERSION_ATTRIBUTE] }] : []),
  ]),
)('the frozen items of $folder, $form, are read as they were then', async ({ folder, without }) => {
  const tableName = `frozen-${folder}-${without.length}`;
  await ensureTable(local.client, tableName);
  const files = readdirSync(new URL(`${folder}/`, here));
  const frozen = files.map((file) => ({
    kind: file.replace(/\.json$/, ''),
    ...readFrozen(readFileSync(new URL(`${folder}/${file}`, here), 'utf8')),
  }));
  // Around the guard of other tests: this is how the table looks to begin with.
  local.client.middlewareStack.remove('refuseUnversionedWrites');
  for (const item of frozen.flatMap(({ items }) => items)) {
    const old = Object.fromEntries(Object.entries(item).filter(([name]) => !without.includes(name)));
    await local.client.send(new PutItemCommand({ TableName: tableName, Item: old }));
  }
  refuseUnversionedWrites(local.client);
  for (const { kind, reads } of frozen) {
    // A later reader may say more of an old item, never less or something else.
    const found = await KINDS[kind]?.read(placeOf(tableName));
    expect({ kind, reads: JSON.parse(frozenText({ items: [], reads: found })).reads }).toMatchObject({
      kind,
      reads,
    });
  }
});
