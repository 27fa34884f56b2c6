import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { parseSchema } from '../../../../relay/wire/schema.ts';
import { examine } from '../../../../scripts/cli/doctor/examine.ts';
import { type DoctorFinding, formatFinding } from '../../../../scripts/cli/doctor/finding.ts';
import { type DoctorOptions, readDoctorOptions } from '../../../../scripts/cli/doctor/options.ts';
import type { LocalRouterOptions } from '../../../../scripts/local/router/local-router.ts';
import { renumbered } from '../../../../scripts/local/router/schemas.ts';
import { cert, key } from '../../../../scripts/proof/bench/self-signed.ts';
import { patientRouter } from '../../../support/flow/patient-router.ts';
import { extended } from '../../../support/relay/schema-variants.ts';

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

/** Runs the doctor as a process; the router runs in this one. */
function doctor(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly stdout: string }> {
  const script = fileURLToPath(new URL('../../../../scripts/cli/doctor.ts', import.meta.url));
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [script, ...args],
      { env: { ...process.env, ...env } },
      (_, stdout) => resolve({ code: child.exitCode, stdout }),
    );
  });
}

const options = (router: string, more: Partial<DoctorOptions> = {}): DoctorOptions => ({
  ...(readDoctorOptions(
    ['--router', router, '--token-file', tokenFile, '--wait', '30s'],
    {},
  ) as DoctorOptions),
  ...more,
});

const outcomes = (findings: readonly DoctorFinding[]) =>
  Object.fromEntries(findings.map(({ check, outcome }) => [check, outcome]));

test.each(['grpc', 'ws'] as const)(
  'a good installation over %s gets a clean bill, and its one question is admitted',
  async (transport) => {
    const router = await aRouter();
    const asked = router.admit(job);
    const { findings, shape } = await examine(
      options((transport === 'ws' ? router.wsUrl : router.grpcUrl) ?? ''),
      () => {},
    );
    expect(findings.filter((finding) => finding.outcome === 'problem')).toEqual([]);
    expect(outcomes(findings)).toMatchObject({
      token: 'ok',
      network: 'ok',
      register: 'ok',
      'admit job': 'ok',
      question: 'ok',
      explained: 'ok',
      'job id': 'ok',
      image: 'ok',
      timeout: 'ok',
      answer: 'ok',
    });
    expect((await asked).perController).toMatchObject([{ result: 'admitted', dryRun: true }]);
    expect(shape).toContain('7 message');
  },
);

test('nothing the doctor prints holds a value of the question or the token', async () => {
  const router = await aRouter();
  const asked = router.admit(job);
  const { findings, shape } = await examine(options(router.grpcUrl ?? '', { show: ['acme/app'] }), () => {});
  await asked;
  const printed = `${findings.map(formatFinding).join('\n')}\n${shape}`;
  expect(printed).not.toMatch(/glpat|glrct-doctor|SECRET_TOKEN|4711|node:24/);
  expect(shape).toContain('"acme/app"');
});

test('a question without a timeout is a problem', async () => {
  const router = await aRouter();
  const { runner_info: _without, ...untimed } = job;
  const asked = router.admit(untimed);
  const { findings } = await examine(options(router.grpcUrl ?? ''), () => {});
  await asked;
  expect(findings.filter(({ check }) => check === 'timeout').map(({ outcome }) => outcome)).toEqual([
    'ok',
    'problem',
  ]);
});

test('a newer router is noted with the fields the schema does not know', async () => {
  const router = await aRouter({ schema: parseSchema(extended(), 'newer') });
  const asked = router.admit({ ...job, admission_nonce: 'n' });
  const { findings } = await examine(options(router.grpcUrl ?? ''), () => {});
  await asked;
  expect(findings.find(({ check }) => check === 'explained')).toMatchObject({
    outcome: 'note',
    detail: expect.stringContaining('900:bytes'),
  });
});

test('the paths inside services are listed, and which of them came', async () => {
  const router = await aRouter();
  const service = { name: 'postgres:18', alias: 'db', pull_policy: ['always'] };
  const asked = router.admit({ ...job, services: [{ name: 'redis:8' }, service] });
  const { findings } = await examine(options(router.grpcUrl ?? ''), () => {});
  await asked;
  const detailOf = (name: string) => findings.find(({ check }) => check === name)?.detail;
  expect(detailOf('services')).toContain('pullPolicies from services[].pull_policy');
  expect(detailOf('services')).toContain('dockerUser from services[].executor_opts.docker.user');
  const [came, absent] = (detailOf('presence') ?? '').split('; did not: ');
  expect(came).toMatch(/services\[\]\.name.*services\[\]\.alias.*services\[\]\.pullPolicies/);
  expect(absent).toMatch(/services\[\]\.dockerUser/);
});

test('a schema with other numbers is a problem that names proto:sync', async () => {
  const router = await aRouter({ schema: parseSchema(renumbered(), 'renumbered') });
  const asked = router.admit(job);
  const { findings } = await examine(options(router.grpcUrl ?? ''), () => {});
  await asked;
  expect(findings.filter(({ outcome }) => outcome === 'problem')[0]?.remedy).toContain('proto:sync');
});

test('a refused token is found at registration and at the stream', async () => {
  const router = await aRouter({ controllers: [{ id: 1, tokens: ['glrct-other'], state: 'enabled' }] });
  const { findings } = await examine(options(router.grpcUrl ?? ''), () => {});
  expect(outcomes(findings)).toMatchObject({ register: 'problem', 'admit job': 'problem' });
});

test('no question in time is a note, not a problem', async () => {
  const router = await aRouter();
  const { findings } = await examine(options(router.grpcUrl ?? '', { wait: 1_000 }), () => {});
  expect(outcomes(findings)).toMatchObject({ 'admit job': 'ok', question: 'note' });
});

test('a private authority is found by TLS alone, and trusted by TOLLGATE_CA_FILE', async () => {
  const router = await aRouter({ tls: { key, cert } });
  const args = ['--router', router.wsUrl ?? '', '--token-file', tokenFile, '--wait', '0s', '--json'];
  const without = await doctor(args);
  expect(without.code).toBe(1);
  expect(JSON.parse(without.stdout).findings.at(-1)).toMatchObject({
    check: 'tls',
    outcome: 'problem',
    remedy: expect.stringContaining('TOLLGATE_CA_FILE'),
  });
  const withIt = await doctor(args, { TOLLGATE_CA_FILE: file('ca.pem', cert) });
  expect(withIt.code).toBe(0);
  expect(outcomes(JSON.parse(withIt.stdout).findings)).toMatchObject({
    tls: 'ok',
    register: 'ok',
    'admit job': 'ok',
    question: 'skipped',
  });
});

test('mistakes that need no network are all named before the first connection', async () => {
  const { findings } = await examine(
    options('https://kas', {
      'token-file': join(dir, 'absent'),
      proto: join(dir, 'absent'),
      policy: join(dir, 'absent'),
      'cert-file': 'x',
    }),
    () => {},
  );
  expect(outcomes(findings)).toEqual({
    router: 'problem',
    token: 'problem',
    schema: 'problem',
    policy: 'problem',
    'tls files': 'problem',
  });
});

test('the token does not travel unencrypted to another host unless that is said', async () => {
  const { findings } = await examine(options('ws://kas.example.invalid'), () => {});
  expect(findings[0]).toMatchObject({
    check: 'router',
    outcome: 'problem',
    remedy: expect.stringContaining('wss://'),
  });
  expect(outcomes(findings)).not.toHaveProperty('network');
});

test.each([
  [['--token-file', 'x'], '--router is missing'],
  [['--router', 'x'], '--token-file is missing'],
  [['--router', 'x', '--token-file', 'y', '--wait', 'soon'], '--wait soon is no time'],
  [['--nonsense'], 'nonsense'],
])('wrong usage %j says what is wrong', (args, problem) => {
  expect(() => readDoctorOptions(args, {})).toThrow(problem);
});

test.each([
  { name: 'wrong usage', args: [] as string[], code: 3 },
  {
    name: 'a problem',
    args: ['--router', 'grpc://127.0.0.1:1', '--token-file', tokenFile, '--json'],
    code: 1,
  },
])('$name ends with exit code $code', async ({ args, code }) => {
  expect((await doctor(args)).code).toBe(code);
});
