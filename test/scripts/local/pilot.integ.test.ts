/** The pilot as people meet it: a router with a private authority that only asks, books on this disk, and afterwards the desk that reads them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readLocalRules } from '../../../scripts/local/admit.ts';
import { createLocalGitLab } from '../../../scripts/local/gitlab/local-gitlab.ts';
import { parseOptions } from '../../../scripts/local/options.ts';
import { run } from '../../../scripts/local/run.ts';
import { cert, key } from '../../../scripts/proof/bench/self-signed.ts';
import { question } from '../../support/flow/flow.ts';
import { patientRouter } from '../../support/flow/patient-router.ts';
import { PROVING_JOBS, proveSchema } from '../../support/flow/prove-schema.ts';
import { runDesk } from '../cli/desk-run.ts';
import { ONE_PRICE, silentScreen } from './example-ledger.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TOKEN = 'glrct-of-a-test';
const PATIENT = { what: 'a relay that waits for questions', timeoutMs: 90_000 };
const POLICY = `${ONE_PRICE}  - { id: trusted-images, kind: image, mode: enforce, allow: ["alpine:*"] }
`;
const DIRECTORY = `
groups: [{ id: 100, path: acme }, { id: 101, parent: 100, path: acme/payments }]
projects: [{ id: 1001, group: 101, path: acme/payments/checkout }]
`;

/** Fourteen, and those by which the relay came to trust its descriptors. */
const JOBS = 14 + PROVING_JOBS;

let folder = '';
const root = (): string => `${folder}/`;
const rules = (): string[] =>
  ['policy', 'limits', 'directory'].flatMap((name) => [`--${name}`, join(folder, `${name}.yaml`)]);
const limitEdits = (...args: string[]) => runDesk(args, root(), { nowMs: Date.now });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-pilot-'));
  writeFileSync(join(folder, 'policy.yaml'), POLICY);
  writeFileSync(join(folder, 'limits.yaml'), 'limits: [{ on: { group: 100 }, money: 1000, per: month }]\n');
  writeFileSync(join(folder, 'directory.yaml'), DIRECTORY);
  writeFileSync(join(folder, 'token'), `${TOKEN}\n`);
  writeFileSync(join(folder, 'ca.pem'), cert);
  vi.stubEnv('TOLLGATE_CA_FILE', join(folder, 'ca.pem'));
  const router = await patientRouter({
    controllers: [{ id: 7, tokens: [TOKEN], state: 'dry_run' }],
    tls: { key, cert },
  });
  const options = parseOptions(
    [
      ...['--router', router.wsUrl ?? '', '--token-file', join(folder, 'token'), ...rules()],
      ...['--gitlab', 'https://gitlab.example.com'],
    ],
    ROOT,
  );
  const stop = new AbortController();
  let facts: Readonly<Record<string, string>> = {};
  const screen = silentScreen({
    started: (told) => {
      facts = told;
    },
  });
  const running = run(options, readLocalRules(options), root(), screen, stop.signal);
  await Promise.race([running, router.until(() => router.waitingStreams() > 0, PATIENT)]);
  await proveSchema(router);
  for (let id = 1; id <= 14; id += 1) {
    const image = { name: id === 5 || id === 9 ? 'evil.example/miner:1' : 'alpine:3.22' };
    await router.admit({ ...question(id), image });
  }
  stop.abort();
  await running;
  await router.close();
  vi.unstubAllEnvs();
  expect(facts.jobs).toContain('last as estimated');
  expect(facts.console).toBeUndefined();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the desk finds the pilot’s books without being told whose they are, and what arming would have done', async () => {
  const { code, out } = await limitEdits('report', 'shadow', '--json', ...rules());
  expect(code).toBe(0);
  const { totals, ifArmed } = JSON.parse(out);
  expect(totals).toMatchObject({ jobs: JOBS, rejected: 2 });
  expect(ifArmed).toMatchObject({ jobs: JOBS, wouldFail: 2 });
  expect(ifArmed.rows).toMatchObject([{ group: 'acme/payments', rule: 'trusted-images', jobs: 2 }]);
  const explained = await limitEdits('explain', '5', '--json', ...rules());
  expect(explained.err).toBe('');
  expect(JSON.parse(explained.out)).toMatchObject({ jobId: 5 });
});

test('before arming, status tells scope, relays and what the pilot saw, from GitLab over HTTP', async () => {
  const gitlab = createLocalGitLab({
    random: () => 0.5,
    token: TOKEN,
    version: '18.9',
    controllers: [{ id: 7, description: 'tollgate', state: 'dry_run' }],
  });
  const served = await gitlab.listen();
  const place = [
    ...['--gitlab', served.url, '--instance', 'gitlab.example.com'],
    ...['--token-file', join(folder, 'token'), ...rules()],
  ];
  try {
    const unscoped = await limitEdits('controller', 'enable', '--yes', ...place);
    expect(unscoped).toMatchObject({ code: 2, err: expect.stringContaining('the controller has no scope') });
    gitlab.changeController(7, { instanceScope: true });
    const { code, out } = await limitEdits('controller', 'status', '--json', ...place);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      state: 'dry_run',
      connected: null,
      scopes: { instance: true, runnerIds: [] },
      ifArmed: { jobs: JOBS, wouldFail: 2 },
      doubts: [
        expect.stringContaining('it is unknown if a relay is connected'),
        `2 of the last ${JOBS} jobs would have failed`,
      ],
    });
    const asked = await limitEdits('controller', 'enable', ...place);
    expect(asked).toMatchObject({ code: 3, err: expect.stringContaining('add --yes to arm although') });
    expect(gitlab.controller(7)?.state).toBe('dry_run');
    expect((await limitEdits('controller', 'enable', '--yes', ...place)).code).toBe(0);
    expect(gitlab.controller(7)?.state).toBe('enabled');
  } finally {
    await served.stop();
    gitlab.stop();
  }
});

test('another GitLab is refused with both names, rather than answered with empty or foreign books', async () => {
  const gitlab = ['--gitlab', 'https://gitlab.other.com', '--token-file', join(folder, 'token')];
  const other = ['--instance', 'gitlab.other.com', ...rules()];
  for (const command of [
    ['report', 'shadow', ...other],
    ...[['proof'], ['reconcile', '--dry-run'], ['directory', 'sync']].map((each) => [...each, ...gitlab]),
  ]) {
    const { code, err } = await limitEdits(...command);
    expect({ command, code, err }).toMatchObject({
      code: 3,
      err: expect.stringContaining('has data of gitlab.example.com, and none of gitlab.other.com'),
    });
  }
});
