import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePolicy } from '../../../../../policies/document/parse-policy.ts';
import { evaluateStateless } from '../../../../../policies/evaluate-stateless.ts';
import type { AdmissionRequest } from '../../../../../policies/request/request.ts';
import { rulesText } from '../../../../../scripts/cli/policy/import-command.ts';
import { importRunner } from '../../../../../scripts/cli/policy/import-rules.ts';
import { readRunnerConfig } from '../../../../../scripts/cli/policy/runner-config.ts';
import { parseYaml } from '../../../../../scripts/policy/yaml-document.ts';
import { compare, type Question, type RunnersAnswer } from '../../../../peers/runner/cases.ts';
import { NOW_MS } from '../../../../policies/documents.ts';
import { propertyRuns } from '../../../../support/property-runs.ts';
import { DANGEROUS_DOCKER, DOCKER, KUBERNETES } from './config-files.ts';

/** Whether the rules made of a file reject a job; read back from the text that is printed. */
function importedPolicy(config: string): (request: Partial<AdmissionRequest>) => readonly string[] {
  const runners = readRunnerConfig(config, 'config.toml').map((section) =>
    importRunner(section, section.id ?? 41),
  );
  const { value } = parseYaml(rulesText(runners, { file: 'config.toml', mode: 'enforce' }), 'rules');
  const parsed = parsePolicy(
    {
      currency: 'EUR',
      prices: { version: '1', classes: [{ name: 'any', rate_per_minute: 0 }], default_class: 'any' },
      estimate: { default: '10m' },
      ...(value as object),
    },
    'v',
  );
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return (request) =>
    evaluateStateless(
      { jobId: 1, runnerId: 41, variables: {}, ...request },
      { policy: parsed.value, nowMs: NOW_MS },
    ).violations.flatMap(({ reason }) => (reason.code === 'FIELD_MISSING' ? [] : reason.code));
}

const imageConfig = (patterns: readonly string[], image: string, list = 'allowed_images'): string =>
  `[[runners]]\nid = 41\nexecutor = "docker"\n[runners.docker]\nimage = ${tomlText(image)}\n${list} = [${patterns.map(tomlText).join(', ')}]\n`;

/** A basic string with every character escaped that is no letter or digit. */
const tomlText = (text: string): string =>
  `"${[...text].map((each) => (/[\w]/.test(each) && each < '\u0080' ? each : `\\U${(each.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`)).join('')}"`;

const corpus = (
  readFileSync(new URL('../../../../peers/runner/corpus.jsonl', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line)) as readonly { question: Question; answer: RunnersAnswer }[]
).filter(({ question }) => question.library === 'doublestar' && question.text !== '');

test('in lists of many patterns, bad ones among them, the rule does what the library of the Runner does', () => {
  const cases = corpus.filter(({ question, answer }) => compare(question, answer) === 'agrees');
  expect(cases.length).toBeGreaterThanOrEqual(80);
  fc.assert(
    fc.property(
      fc.constantFrom(...cases),
      fc.array(fc.constantFrom('[', '{a', 'no/such', '!**', ''), { maxLength: 3 }),
      fc.constantFrom('allowed_images', 'allowed_services'),
      ({ question, answer }, others, list) => {
        const { text } = question;
        const rejects = importedPolicy(
          imageConfig([...others, question.pattern ?? ''], 'the/default:image', list),
        );
        const taken =
          rejects(list === 'allowed_images' ? { image: text } : { services: [{ name: text }] }).length === 0;
        expect(taken).toBe(
          answer.matches === true || text === 'no/such' || (text.startsWith('!') && others.includes('!**')),
        );
      },
    ),
    { numRuns: propertyRuns(100) },
  );
});

test("the Runner's own image passes beside its list, letter by letter, and nothing like it does", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z*?[\]{},\\!:/.-]{1,12}$/), (image) => {
      const rejects = importedPolicy(imageConfig(['no/such'], image));
      expect(rejects({ image })).toEqual([]);
      expect(rejects({ image: `${image}x` })).toEqual(['IMAGE_NOT_ALLOWED']);
    }),
    { numRuns: propertyRuns(50) },
  );
});

test('services count with those of the Runner itself, and a job without an image gets the Runner’s', () => {
  const rejects = importedPolicy(DOCKER);
  const services = (...names: string[]) => rejects({ services: names.map((name) => ({ name })) });
  expect(services('postgres:16', 'redis:7')).toEqual([]);
  expect(services('redis:8')).toEqual(['IMAGE_NOT_ALLOWED']);
  expect(services('postgres:16', 'postgres:17', 'redis:7')).toEqual(['SERVICE_LIMIT']);
  expect(rejects({})).toEqual([]);
  expect(rejects({ image: 'registry.example.com:5000/a/b:1' })).toEqual([]);
  expect(rejects({ image: 'docker.io/ruby:3' })).toEqual(['IMAGE_NOT_ALLOWED']);
});

test('a rule is about its runner alone', () => {
  const rejects = importedPolicy(DOCKER);
  expect(rejects({ image: 'evil:1' })).toEqual(['IMAGE_NOT_ALLOWED']);
  expect(rejects({ image: 'evil:1', runnerId: 7 })).toEqual([]);
});

const ALWAYS = 'allowed_pull_policies = ["always"]';
const pulls = (...pullPolicies: readonly string[]) => ({ pullPolicies });
const user = (kubernetesUser: string) => ({ kubernetesUser });

test.each<[executor: string, settings: string, request: Partial<AdmissionRequest>, refused: boolean]>([
  ['docker', ALWAYS, pulls('never'), true],
  ['docker', ALWAYS, pulls('never', 'always'), false],
  ['docker', ALWAYS, pulls(), false],
  ['docker', 'pull_policy = "if-not-present"', pulls('always'), true],
  ['docker', 'pull_policy = ["if-not-present", "always"]', pulls('always'), false],
  ['docker', '', pulls('always'), false],
  ['docker', '', pulls('never'), true],
  // The Runner's own is always where the file says nothing, and that is not allowed here.
  ['docker', 'allowed_pull_policies = ["never"]', pulls(), true],
  ['docker', 'allowed_pull_policies = ["never"]\npull_policy = ["always", "never"]', pulls(), false],
  ['kubernetes', ALWAYS, pulls(), true],
  ['kubernetes', `${ALWAYS}\npull_policy = "always"`, pulls(), false],
  ['kubernetes', 'pull_policy = "always"', pulls('never'), true],
  ['kubernetes', 'pull_policy = "always"', pulls(), false],
  ['kubernetes', 'allowed_users = ["1000"]', user('1000'), false],
  ['kubernetes', 'allowed_users = ["1000"]', user('1001'), true],
  ['kubernetes', 'allowed_users = ["1000"]', user('0'), true],
  ['kubernetes', 'allowed_users = ["0"]', user('00'), false],
  ['kubernetes', 'allowed_users = ["root"]', user('0'), true],
  ['kubernetes', 'allowed_users = ["root"]', user('1000'), true],
  ['kubernetes', 'allowed_users = []', user('1000'), false],
  ['kubernetes', '', user('0'), true],
  ['kubernetes', '', user('1000'), false],
  ['kubernetes', '', user('www-data'), true],
  ['kubernetes', 'allowed_groups = ["5"]', user('1000:6'), true],
  ['kubernetes', 'allowed_groups = ["5"]', user('1000:5'), false],
])('%s with %j and a job that asks for %j: refused %s', (executor, settings, request, refused) => {
  const rejects = importedPolicy(
    `[[runners]]\nexecutor = "${executor}"\n[runners.${executor}]\n${settings}\n`,
  );
  expect(rejects(request).length > 0).toBe(refused);
});

test('images of virtual machines are bounded where jobs run in them', () => {
  const config = (isolated: boolean): string =>
    `[[runners]]\nexecutor = "instance"\n[runners.instance]\nallowed_images = ["macos-*"]\n[runners.autoscaler.vm_isolation]\nenabled = ${isolated}\n`;
  expect(importedPolicy(config(true))({ image: 'windows' })).toEqual(['IMAGE_NOT_ALLOWED']);
  expect(importedPolicy(config(true))({ image: 'macos-15' })).toEqual([]);
  expect(importedPolicy(config(false))({ image: 'windows' })).toEqual([]);
});

test('what may be overwritten is bounded, and what the Runner ignores is not refused', () => {
  const rejects = importedPolicy(KUBERNETES.replace('id = 42', 'id = 41'));
  const sets = (variables: Readonly<Record<string, string>>) => rejects({ variables });
  expect(sets({ KUBERNETES_NAMESPACE_OVERWRITE: 'ci-shop' })).toEqual([]);
  expect(sets({ KUBERNETES_NAMESPACE_OVERWRITE: 'prod' })).toEqual(['OVERWRITE_NOT_ALLOWED']);
  expect(sets({ KUBERNETES_POD_LABELS_1: 'team=a', KUBERNETES_SERVICE_ACCOUNT_OVERWRITE: 'root' })).toEqual(
    [],
  );
  expect(sets({ KUBERNETES_CPU_LIMIT: '4', KUBERNETES_MEMORY_LIMIT: '8Gi' })).toEqual([]);
  expect(sets({ KUBERNETES_CPU_LIMIT: '4001m' })).toEqual(['RESOURCE_CAP']);
  expect(sets({ KUBERNETES_HELPER_MEMORY_LIMIT: '2Gi' })).toEqual(['RESOURCE_CAP']);
  expect(sets({ KUBERNETES_SERVICE_CPU_REQUEST: '1' })).toEqual(['RESOURCE_CAP']);
  expect(sets({ KUBERNETES_MEMORY_REQUEST: '1Ti' })).toEqual([]);
});

const notesOf = (config: string) => {
  const [section] = readRunnerConfig(config, 'config.toml');
  if (section === undefined) throw new Error('no section');
  return importRunner(section).notes;
};

test('what only the Runner sees is listed with its line: docker', () => {
  const told = notesOf(DANGEROUS_DOCKER).map(
    ({ code, line, text }) => `${code} ${line} ${text.slice(0, 80)}`,
  );
  expect(told).toEqual([
    expect.stringMatching(/^runner_not_told 1 /),
    expect.stringMatching(/^no_effect 13 .*"!\*\/kali\*", which excludes/),
    expect.stringMatching(/^unrestricted 1 no allowed_services/),
    expect.stringMatching(/^not_seen 6 user is set/),
    expect.stringMatching(/^no_rule 7 .*containers with all rights/),
    expect.stringMatching(/^no_rule 8 .*capabilities/),
    expect.stringMatching(/^no_rule 10 .*devices/),
    expect.stringMatching(/^no_rule 11 .*folders or sockets/),
    expect.stringMatching(/^no_rule 12 .*network/),
    expect.stringMatching(/^not_seen 1 FF_USE_JOB_ROUTER/),
  ]);
  // A plain one gives nothing of the kind.
  expect(notesOf(DOCKER).filter(({ code }) => code === 'no_rule')).toEqual([]);
});

test('what only the Runner sees is listed with its line: kubernetes', () => {
  const allowed = notesOf(KUBERNETES).flatMap(({ code, line, text }) =>
    code === 'no_rule' ? `${line} ${text}` : [],
  );
  expect(allowed).toEqual([
    expect.stringMatching(/^10 containers with all rights/),
    expect.stringMatching(/^26 root \(build_container/),
    expect.stringMatching(/^28 more capabilities \(build_container/),
    expect.stringMatching(/^29 volumes of the cluster/),
    expect.stringMatching(/^24 nodes of its own/),
    expect.stringMatching(/^7 a namespace for each job/),
    expect.stringMatching(/^32 a patch of the whole pod/),
    expect.stringMatching(/^18 another token/),
  ]);
});
