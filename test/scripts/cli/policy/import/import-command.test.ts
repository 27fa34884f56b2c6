import { expect, test } from 'vitest';
import { EXIT } from '../../../../../scripts/terminal/command.ts';
import { runDesk } from '../../desk-run.ts';
import { POLICY, project } from '../documents.ts';
import { DANGEROUS_DOCKER, DOCKER, KUBERNETES, SHELL } from './config-files.ts';

const run = (config: string, more: readonly string[] = [], rules?: string) =>
  runDesk(
    ['policy', 'import', 'config.toml', ...more],
    project({
      'config.toml': config,
      ...(rules !== undefined && {
        'policies/policy.yaml': POLICY.replace(/rules:\n[\s\S]*/, `rules:\n${rules}`),
      }),
    }),
  );

test('the printed document is rules, each with a comment that names the Runner’s line', async () => {
  const { out } = await run(DOCKER);
  expect(out).toContain(`rules:
  # Runner "docker runner" (config.toml:7), executor docker, runner 41.
  # Its runner class: { overwrites: none }
  # config.toml:23 allowed_images
  - id: "runner-41-image"
    kind: image
    mode: shadow
    match: { runner_ids: [41] }
    on_missing: admit
    allow:
      - "registry.example.com:5000/**"
      - "ruby:*"
      - "registry.example.com:5000/alpine:latest"
  # config.toml:24 allowed_services, config.toml:25 services_limit
`);
  expect(out).toContain('    max: 2\n');
});

test('the rules are put into a policy as they are, and validate takes them without a warning about what is left open', async () => {
  const { out } = await run(`${DOCKER}${KUBERNETES}`, ['--mode', 'enforce']);
  const root = project({ 'policies/policy.yaml': POLICY.replace(/rules:\n[\s\S]*/, out) });
  const validated = await runDesk(['policy', 'validate'], root);
  expect(validated.code).toBe(EXIT.ok);
  expect(validated.err).not.toMatch(/on_missing|required/);
  expect(validated.out).toMatch(/8 rules/);
});

const image = (allow: string, more = '') =>
  `  - { id: mine, kind: image, mode: enforce, on_missing: skip, ${more}allow: ${allow} }\n`;
const OTHERS = `  - { id: few, kind: services, mode: enforce, on_missing: skip, allow: ["postgres:16"], max: 1 }
  - { id: fresh, kind: pull-policy, mode: enforce, allow: [always], required: false }
`;
const ADMITS =
  /config\.toml:23 the policy admits it, the Runner fails it: allow: rule mine \(enforce\) may admit/;
const REFUSES = /config\.toml:23 the policy refuses it, the Runner takes it: allow: rule mine/;

test.each<[string, string, boolean, boolean]>([
  ['any image', image('["**"]'), true, true],
  ['another pattern, since either may be wider', image('["ruby:3*"]'), true, true],
  ['a pattern of the Runner', image('["ruby:*"]'), false, true],
  ['an image that a pattern of the Runner matches', image('["ruby:3"]'), false, true],
  ['both', image('["ruby:3", "ruby:*"]'), false, true],
  ['an image that none of its patterns matches', image('["ruby:3", "python:3"]'), true, true],
])('a policy that allows %s: admits more %s, refuses more %s', async (_, rule, admits, refuses) => {
  const { code, err } = await run(DOCKER, [], `${rule}${OTHERS}`);
  expect([ADMITS.test(err), REFUSES.test(err)]).toEqual([admits, refuses]);
  expect(code).toBe(admits ? EXIT.wouldReject : EXIT.ok);
  expect(err).toMatch(/max: rule few/);
});

test('a kind without a rule, or with one about other runners, restricts nothing', async () => {
  const { err } = await run(DOCKER, [], image('["ruby:3"]', 'match: { runner_ids: [7] }, '));
  expect(err).toMatch(/config\.toml:23 .*no rule of kind image restricts it/);
  expect(err).toMatch(/config\.toml:24 .*no rule of kind services restricts it/);
});

test('a policy that has the imported rules contradicts its Runner nowhere', async () => {
  const { out } = await run(`${DOCKER}${KUBERNETES}`);
  const { code, err } = await run(`${DOCKER}${KUBERNETES}`, [], out.replace('rules:\n', ''));
  expect(err).not.toMatch(/the policy/);
  expect(code).toBe(EXIT.ok);
});

test('a runner without an id has its rules off until it is named', async () => {
  expect((await run(DANGEROUS_DOCKER)).out).toMatch(/mode: off\n +on_missing/);
  const named = await run(DANGEROUS_DOCKER, ['--runner-id', '7', '--mode', 'warn']);
  expect(named.out).toMatch(/mode: warn\n +match: \{ runner_ids: \[7\] \}/);
  expect(await run(DOCKER, ['--runner-id', '7'])).toMatchObject({ code: EXIT.invalid });
});

test('an executor without containers has no rules, and one runner under two sections is told', async () => {
  const shell = await run(SHELL);
  expect(shell.code).toBe(EXIT.ok);
  expect(shell.out).toMatch(/^rules: \[\]\n/);
  expect(shell.err).toContain('executor "shell" runs no containers');
  const [, section = ''] = DOCKER.split('[[runners]]');
  const two = await run(`${DOCKER}[[runners]]${section}`);
  expect(two.err).toContain('stands in the file more than once');
  expect(two.out.match(/id: "runner-41-line-\d+-image"/g)).toHaveLength(2);
});

test('the size that a Runner gives jobs, and what they may overwrite, is printed as keys of its class', async () => {
  const shell = await run(SHELL);
  expect(shell.out).toContain('# Its runner class: { overwrites: none }');
  const { runners } = JSON.parse((await run(KUBERNETES, ['--json'])).out);
  expect(runners[0].class).toEqual({
    cpu: '1',
    overwrites: {
      cpu_limit: '4',
      memory_limit: '8Gi',
      helper_memory_limit: '1Gi',
      service_cpu_request: '500m',
    },
  });
  const { out } = await run(KUBERNETES);
  const [, keys = ''] = /Its runner class: \{ (.*) \}$/m.exec(out) ?? [];
  const root = project({
    'policies/policy.yaml': POLICY.replace(/- \{ name: (\w+)/, `- { ${keys}, name: $1`),
  });
  expect(await runDesk(['policy', 'validate'], root)).toMatchObject({ code: EXIT.ok });
});

test('--json has the rules and every note; no token of the file comes out anywhere', async () => {
  const told = await run(DOCKER, ['--json']);
  const json = JSON.parse(told.out);
  expect(json.rules).toContain('runner-41-image');
  expect(json.runners).toMatchObject([
    {
      name: 'docker runner',
      runnerId: 41,
      rules: ['runner-41-image', 'runner-41-services', 'runner-41-pull-policy'],
    },
  ]);
  for (const { out, err } of [told, await run(DOCKER), await run(DANGEROUS_DOCKER)])
    expect(out + err).not.toMatch(/nobody-may|kvm/);
});

test.each([
  [['--mode', 'loud'], '--mode'],
  [['--runner-id', 'x'], '--runner-id'],
  [['other.toml'], 'one config.toml'],
])('%j is wrong usage', async (flags, told) => {
  expect(await run(SHELL, flags)).toMatchObject({ code: EXIT.invalid, err: expect.stringContaining(told) });
});

test.each([
  '[[runners]]\nid = 41\nexecutor = "docker"\n[runners.docker]\nallowed_images = ["a"]',
  '[[runners]]\nid = 41\nexecutor = "docker"\ndocker = { allowed_images = ["a"] }',
  '[[runners]]\nid = 41\nexecutor = "docker"\ndocker.allowed_images = ["a"]',
])('tables, inline tables and dotted keys are the same: %j', async (config) => {
  expect((await run(config)).out).toContain('    allow:\n      - "a"\n');
});

test.each([
  ['token = "glrt-secret', 'config.toml:1:'],
  ['[[runners]]\nname = glrt-secret\n', 'config.toml:2:'],
  ['[[runners]]\nname = "a"\nname = "glrt-secret"\n', 'config.toml:3:'],
  ['concurrent = 4\n', 'has no [[runners]]'],
])('%j is told by its place, without a word of it', async (config, told) => {
  const { code, err } = await run(config);
  expect(code).toBe(EXIT.invalid);
  expect(err).toContain(told);
  expect(err).not.toContain('secret');
});
