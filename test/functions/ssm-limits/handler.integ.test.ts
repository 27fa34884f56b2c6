import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { DynamoLimitTable } from '../../../functions/core/limits/limit-table.ts';
import { readLimitSet } from '../../../functions/core/limits/publish-limits.ts';
import { dynamoTable } from '../../../functions/core/store/sdk-table.ts';
import { ssmParameters } from '../../../functions/ssm-limits/parameters.ts';
import { packRules } from '../../../scripts/build/pack-rules.ts';
import { ensureTable } from '../../../scripts/local/dynamodb-local.ts';
import { importFor } from '../../support/import-for.ts';
import { patientClient } from '../../support/ledger/patient-client.ts';
import { sharedDynamoDb } from '../../support/ledger/shared-dynamodb.ts';
import { type ParameterStore, startParameterStore } from './parameter-store.ts';

const TABLE = 'ssm-limits';
const INSTANCE = 'gitlab.example.com';
const PATH = '/tollgate/prod/limits';
const WAIT = { timeoutMs: 300_000 };
const root = fileURLToPath(new URL('../../../', import.meta.url));

const endpoint = sharedDynamoDb();
let client: ReturnType<typeof patientClient>;
let store: ParameterStore;
let handler: (event: unknown) => Promise<void>;

beforeAll(async () => {
  client = patientClient(endpoint);
  await ensureTable(client, TABLE);
  store = await startParameterStore();
  const rulesFile = join(mkdtempSync(join(tmpdir(), 'tollgate-ssm-')), 'rules.json');
  writeFileSync(
    rulesFile,
    JSON.stringify(packRules({ folder: `${root}policies`, force: true, nowMs: Date.now() })),
  );
  vi.stubEnv('TOLLGATE_LEDGER_TABLE', TABLE);
  vi.stubEnv('TOLLGATE_GITLAB_INSTANCE', INSTANCE);
  vi.stubEnv('TOLLGATE_RULES_FILE', rulesFile);
  vi.stubEnv('TOLLGATE_LIMITS_PATH', PATH);
  vi.stubEnv('TOLLGATE_DYNAMODB_ENDPOINT', endpoint);
  vi.stubEnv('TOLLGATE_SSM_ENDPOINT', store.endpoint);
  ({ handler } = await importFor<typeof import('../../../functions/ssm-limits/handler.ts')>(
    import.meta.url,
    'functions/ssm-limits/handler.ts',
  ));
});

afterAll(async () => {
  vi.unstubAllEnvs();
  client?.destroy();
  await store?.stop();
});

const options = () => ({
  table: dynamoTable(client, TABLE),
  instance: INSTANCE,
  clock: systemClock,
  random: Math.random,
});

async function live(): Promise<{ change: unknown; limits: readonly Readonly<Record<string, unknown>>[] }> {
  const table = new DynamoLimitTable(options());
  const pointer = await table.getPointer(WAIT);
  if (pointer === undefined) throw new Error('no set is live');
  const { change, document } = await readLimitSet(pointer.set, table);
  return { change, limits: document.limits as readonly Readonly<Record<string, unknown>>[] };
}

const ofGroup = async (group: number) =>
  (await live()).limits.filter(({ on }) => JSON.stringify(on) === JSON.stringify({ group }));

const changed = (name: string) => ({ source: 'aws.ssm', detail: { name, operation: 'Update' } });
const minutes = (amount: number) => ({ minutes: amount, per: 'day' });
const saying = (...limits: object[]) => JSON.stringify({ path: 'acme/data', limits });

describe('the deployed function', () => {
  test('imports the newest version once, with its author, and leaves a deletion to two people', async () => {
    const before = JSON.parse(
      JSON.stringify(packRules({ folder: `${root}policies`, force: true, nowMs: Date.now() })),
    ).limits.document.limits as readonly object[];
    store.put(`${PATH}/104`, 'path: acme/nothing\nlimits: []\n');
    store.put(`${PATH}/103`, saying({ ...minutes(50), owner: 'data-leads' }));
    store.errors.push('ThrottlingException');
    await handler({});
    expect(await ofGroup(103)).toContainEqual({ on: { group: 103 }, ...minutes(50), owner: 'data-leads' });
    const { change, limits } = await live();
    expect(limits).toHaveLength(before.length + 1);
    expect(change).toMatchObject({
      actor: 'arn:aws:iam::111122223333:user/anna',
      why: `SSM parameter ${PATH}/103 version 1`,
      source: 'ssm',
    });

    for (const amount of [60, 65, 70])
      store.put(`${PATH}/103`, saying(minutes(amount)), {
        arn: `arn:aws:iam::111122223333:user/editor-${amount}`,
      });
    await handler(changed(`${PATH}/103`));
    await handler(changed(`${PATH}/103`));
    await handler({});
    expect(await ofGroup(103)).toContainEqual({ on: { group: 103 }, ...minutes(70) });
    expect((await live()).change).toMatchObject({
      actor: 'arn:aws:iam::111122223333:user/editor-70',
      why: `SSM parameter ${PATH}/103 version 4`,
    });

    store.parameters.delete(`${PATH}/103`);
    await handler(changed(`${PATH}/103`));
    // One person alone does not take a limit away: the group would have no end.
    const byText = (each: object) => JSON.stringify(each);
    const still = { on: { group: 103 }, ...minutes(70) };
    expect((await live()).limits.map(byText).sort()).toEqual([...before, still].map(byText).sort());
  });

  test('asks for no secret and writes nothing: nothing is decrypted, nothing below another path is listed', () => {
    expect(store.asked.length).toBeGreaterThan(5);
    for (const { target, body } of store.asked) {
      expect(['GetParametersByPath', 'GetParameterHistory']).toContain(target);
      expect(body.WithDecryption).toBe(false);
      if (target === 'GetParametersByPath') expect(body).toMatchObject({ Path: PATH, Recursive: false });
    }
  });
});

describe('Parameter Store', () => {
  const parameters = () => ssmParameters(store.endpoint);

  test('gives the newest version with its author, however many pages its history has', async () => {
    const name = '/elsewhere/1';
    for (const arn of ['a', 'b', 'c', 'd', 'e'])
      store.put(name, `by ${arn}`, { arn, atMs: 1_763_712_000_013 });
    expect(await parameters().read(name)).toEqual({
      name,
      type: 'String',
      value: 'by e',
      version: 5,
      modifiedAtMs: 1_763_712_000_013,
      editor: 'e',
    });
    expect(await parameters().read('/elsewhere/2')).toBeUndefined();
  });

  test('fails by name, and the error carries no signature', async () => {
    store.errors.push('AccessDeniedException');
    const failed = await parameters()
      .list('/many')
      .catch((each: unknown) => each);
    expect(String(failed)).toMatch(/could not list \/many \(AccessDeniedException: as told\)/);
    expect(JSON.stringify(failed) + String(failed)).not.toMatch(/authorization|signature|credential/i);
  });
});
