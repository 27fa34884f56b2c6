import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../functions/core/environment/machine.ts';
import { DynamoLimitTable } from '../../../functions/core/limits/dynamo-limit-table.ts';
import { readLimitSet } from '../../../functions/core/limits/publish-limits.ts';
import { dynamoTable } from '../../../functions/core/store/dynamo-table.ts';
import { dynamoParameterMarks } from '../../../functions/ssm-limits/dynamo-marks.ts';
import { ssmParameters } from '../../../functions/ssm-limits/ssm-parameters.ts';
import { packRules } from '../../../scripts/build/pack-rules.ts';
import { ensureTable } from '../../../scripts/local/dynamodb-local.ts';
import { importFor } from '../../support/import-for.ts';
import { patientClient } from '../../support/ledger/patient-client.ts';
import { sharedDynamoDb } from '../../support/ledger/shared-dynamodb.ts';
import { marksContract } from './marks-contract.ts';
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
  writeFileSync(rulesFile, JSON.stringify(packRules({ root, force: true, nowMs: Date.now() })));
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

const options = (instance: string) => ({
  table: dynamoTable(client, TABLE),
  instance,
  clock: systemClock,
  random: Math.random,
});

marksContract((instance) => dynamoParameterMarks(options(instance)));

async function live(): Promise<{ change: unknown; limits: readonly Readonly<Record<string, unknown>>[] }> {
  const table = new DynamoLimitTable(options(INSTANCE));
  const pointer = await table.getPointer(WAIT);
  if (pointer === undefined) throw new Error('no set is live');
  const { change, document } = await readLimitSet(pointer.set, table);
  return { change, limits: document.limits as readonly Readonly<Record<string, unknown>>[] };
}

const ofGroup = async (group: number) =>
  (await live()).limits.filter(({ on }) => JSON.stringify(on) === JSON.stringify({ group }));

describe('the deployed function', () => {
  test('edits what is packed, follows a change, leaves a deletion to two people and the limits of others alone', async () => {
    const before = JSON.parse(JSON.stringify(packRules({ root, force: true, nowMs: Date.now() }))).limits
      .document.limits as readonly object[];
    store.put(`${PATH}/104`, 'path: acme/nothing\nlimits: []\n');
    store.put(`${PATH}/103`, `path: acme/data\nlimits:\n  - { minutes: 50, per: day, owner: data-leads }\n`);
    store.errors.push('ThrottlingException');
    await handler({});
    expect(await ofGroup(103)).toContainEqual({
      on: { group: 103 },
      minutes: 50,
      per: 'day',
      owner: 'data-leads',
    });
    const { change, limits } = await live();
    expect(limits).toHaveLength(before.length + 1);
    expect(change).toMatchObject({
      actor: 'arn:aws:iam::111122223333:user/anna',
      why: `SSM parameter ${PATH}/103 version 1`,
      source: 'ssm',
    });

    for (const minutes of [60, 65, 70])
      store.put(`${PATH}/103`, JSON.stringify({ path: 'acme/data', limits: [{ minutes, per: 'day' }] }), {
        arn: `arn:aws:iam::111122223333:user/editor-${minutes}`,
      });
    await handler({});
    expect(await ofGroup(103)).toContainEqual({ on: { group: 103 }, minutes: 70, per: 'day' });
    expect((await live()).change).toMatchObject({ actor: 'arn:aws:iam::111122223333:user/editor-70' });

    store.parameters.delete(`${PATH}/103`);
    await handler({});
    // One person alone does not take a limit away: the group would have no end.
    const byText = (each: object) => JSON.stringify(each);
    const still = { on: { group: 103 }, minutes: 70, per: 'day' };
    expect((await live()).limits.map(byText).sort()).toEqual([...before, still].map(byText).sort());
  });

  test('asks for no secret: nothing is decrypted, nothing below another path is listed', () => {
    expect(store.asked.length).toBeGreaterThan(5);
    for (const { body } of store.asked) expect(body.WithDecryption).toBe(false);
    for (const { target, body } of store.asked)
      if (target === 'GetParametersByPath') expect(body).toMatchObject({ Path: PATH, Recursive: false });
  });
});

describe('Parameter Store', () => {
  const parameters = () => ssmParameters({ endpoint: store.endpoint });

  test('tells the editor of a version wherever in the history it is, and who is not known', async () => {
    const name = '/elsewhere/1';
    for (const arn of ['a', 'b', 'c', 'd', 'e']) store.put(name, '', { arn });
    expect(await parameters().editorOf(name, 5)).toEqual({ found: 'editor', arn: 'e' });
    expect(await parameters().editorOf(name, 6)).toEqual({ found: 'nobody' });
    expect(await parameters().editorOf('/elsewhere/2', 1)).toEqual({ found: 'no_parameter' });
  });

  test('is read page by page, with type, version and time', async () => {
    for (let group = 10; group < 35; group += 1)
      store.put(`/many/${group}`, 'text', { atMs: 1_763_712_000_000 + group, type: 'StringList' });
    const found = [];
    let next: string | undefined;
    do {
      const page = await parameters().page('/many', next);
      found.push(...page.parameters);
      next = page.next;
    } while (next !== undefined);
    expect(found).toHaveLength(25);
    expect(found[3]).toEqual({
      name: '/many/13',
      type: 'StringList',
      value: 'text',
      version: 1,
      modifiedAtMs: 1_763_712_000_013,
    });
  });

  test.each([
    ['ThrottlingException', 'parameters_throttled'],
    ['InvalidNextToken', 'parameters_misread'],
    ['InternalServerError', 'parameters_unavailable'],
    ['AccessDeniedException', 'parameters_unavailable'],
  ])('fails by name: %s is %s, and the error carries no signature', async (error, code) => {
    store.errors.push(error);
    const failed = await parameters()
      .page('/many')
      .catch((each: unknown) => each);
    expect(failed).toMatchObject({ code });
    expect(JSON.stringify(failed) + String(failed)).not.toMatch(/authorization|signature|credential/i);
  });
});
