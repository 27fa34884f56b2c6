import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { parseSchema } from '../../../../relay/wire/schema.ts';
import type { RouterOptions } from '../../../../scripts/cli/doctor/doctor-command.ts';
import { type DoctorFinding, examine } from '../../../../scripts/cli/doctor/examine.ts';
import type { LocalRouterOptions } from '../../../../scripts/local/router/local-router.ts';
import { renumbered } from '../../../../scripts/local/router/schemas.ts';
import { cert, key } from '../../../../scripts/proof/bench/self-signed.ts';
import { patientRouter } from '../../../support/flow/patient-router.ts';
import { extended } from '../../../support/relay/schema-variants.ts';
import { aProject, runDesk } from '../desk-run.ts';

const dir = mkdtempSync(join(tmpdir(), 'doctor-'));
afterAll(() => rmSync(dir, { recursive: true }));
const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(dir, name), content);
  return join(dir, name);
};
const tokenFile = file('token', 'glrct-doctor');
const job = {
  id: 4_711,
  job_info: { id: 4_711, name: 'unit', project_id: 12, project_full_path: 'acme/app' },
  runner_info: { timeout: 3_600 },
  image: { name: 'registry.example.com/node:24' },
  variables: [{ key: 'SECRET_TOKEN', value: 'glpat-very-secret' }],
};

async function aRouter(options: Partial<LocalRouterOptions> = {}) {
  const router = await patientRouter({
    controllers: [{ id: 1, tokens: ['glrct-doctor'], state: 'dry_run' }],
    ...options,
  });
  onTestFinished(() => router.close());
  return router;
}

const doctor = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runDesk(['doctor', ...args], aProject(), { env });

const withOptions = (router: string, more: Partial<RouterOptions> = {}): RouterOptions => ({
  ...{ router, 'token-file': tokenFile, wait: 30_000, 'allow-plaintext': false },
  ...{ proto: undefined, 'cert-file': undefined, 'key-file': undefined },
  ...more,
});

const outcomes = (findings: readonly DoctorFinding[]) =>
  Object.fromEntries(findings.map(({ check, outcome }) => [check, outcome]));

async function examinedBy(options: RouterOptions) {
  const findings: DoctorFinding[] = [];
  const shape = await examine(options, (finding) => void findings.push(finding));
  return { findings, shape };
}

/** Lets the router ask about a job, and examines what arrives. */
async function examined(asked: object, options: Partial<LocalRouterOptions> = {}, ws = false) {
  const router = await aRouter(options);
  const answer = router.admit(asked as never);
  const found = await examinedBy(withOptions((ws ? router.wsUrl : router.grpcUrl) ?? ''));
  return { ...found, answer: await answer };
}

test.each([false, true])(
  'a good installation (WebSocket: %s) gets a clean bill, its one request is admitted, and no value is shown',
  async (ws) => {
    const controllers = [{ id: 1, tokens: ['glrct-doctor'], state: 'enabled' }] as const;
    const { findings, shape, answer } = await examined(job, { controllers }, ws);
    expect(findings.filter(({ outcome }) => outcome === 'problem')).toEqual([]);
    const ok = Object.fromEntries(
      ['token', 'register', 'admit job', 'request', 'explained', 'job id', 'timeout', 'answer'].map(
        (check) => [check, 'ok'],
      ),
    );
    expect(outcomes(findings)).toMatchObject(ok);
    expect(answer).toEqual({ result: 'admitted' });
    expect(shape).toContain('7 message');
    const printed = `${JSON.stringify(findings)}\n${shape}`;
    expect(printed).not.toMatch(/glpat|glrct-doctor|SECRET_TOKEN|4711|node:24|acme/);
  },
);

test('a newer router is noted with the fields the schema does not know, one with other numbers is a problem', async () => {
  const newer = await examined(
    { ...job, admission_nonce: 'n' },
    { schema: parseSchema(extended(), 'newer') },
  );
  expect(newer.findings.find(({ check }) => check === 'explained')).toMatchObject({
    outcome: 'note',
    detail: expect.stringContaining('900:bytes'),
  });
  const { findings } = await examined(job, { schema: parseSchema(renumbered(), 'renumbered') });
  expect(findings.find(({ outcome }) => outcome === 'problem')?.remedy).toContain('gitlab descriptors');
});

test('a refused token is found at registration and at the stream; no request in time is a note', async () => {
  const router = await aRouter({ controllers: [{ id: 1, tokens: ['glrct-other'], state: 'enabled' }] });
  const { findings } = await examinedBy(withOptions(router.grpcUrl ?? ''));
  expect(outcomes(findings)).toMatchObject({ register: 'problem', 'admit job': 'problem' });
  const idle = await aRouter();
  const waited = await examinedBy(withOptions(idle.grpcUrl ?? '', { wait: 1_000 }));
  expect(outcomes(waited.findings)).toMatchObject({ 'admit job': 'ok', request: 'note' });
});

test('a private authority is named, and trusted by TOLLGATE_CA_FILE', async () => {
  const router = await aRouter({ tls: { key, cert } });
  const args = ['--router', router.wsUrl ?? '', '--token-file', tokenFile, '--wait', '0s', '--json'];
  const without = await doctor(args);
  expect(without.code).toBe(2);
  expect(JSON.parse(without.out).findings.at(-1)).toMatchObject({
    ...{ check: 'register', outcome: 'problem', remedy: expect.stringContaining('TOLLGATE_CA_FILE') },
  });
  const withIt = await doctor(args, { TOLLGATE_CA_FILE: file('ca.pem', cert) });
  expect(withIt.code).toBe(0);
  expect(outcomes(JSON.parse(withIt.out).findings)).toMatchObject({
    ...{ register: 'ok', 'admit job': 'ok', request: 'skipped' },
  });
});

test('mistakes that need no network are all named before the first connection', async () => {
  const absent = join(dir, 'absent');
  const wrong = { 'token-file': absent, proto: absent, 'cert-file': 'x' };
  const { findings } = await examinedBy(withOptions('https://kas', wrong));
  expect(outcomes(findings)).toEqual(
    Object.fromEntries(['router', 'token', 'schema', 'tls files'].map((check) => [check, 'problem'])),
  );
});

test.each([
  [['--router', 'x'], '--token-file is missing'],
  [['--router', 'x', '--token-file', 'y', '--wait', 'soon'], '--wait soon is no time'],
  [['--router', 'x', '--ledger', 'y'], '--ledger: belongs to a check without --router'],
  [['--proto', 'x'], '--proto: belongs to a check with --router'],
])('wrong usage %j says what is wrong', async (args, problem) => {
  const { code, err } = await doctor(args);
  expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining(problem) });
});
