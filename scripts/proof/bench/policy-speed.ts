import { evaluate } from '../../../policies/evaluate.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { benchPlace, benchRequest, benchRules } from './bench-rules.ts';
import { type Figure, ratioOfRounds } from './figure.ts';
import { benchQuestion } from './router-process.ts';

const ROUNDS = 7;
/** Long enough that a pause of the machine does not decide a round: a tenth of a second and more. */
const CALLS = 10_000;
/** The same time for questions that meet a hundred rules. */
const CALLS_OF_MANY = 1_000;
const RULES_A_ROUND = 100_000;

/** Ms per call, of one round. */
function timed(run: () => unknown, calls: number): () => Promise<number> {
  return async () => {
    const startedMs = performance.now();
    for (let call = 0; call < calls; call += 1) run();
    return (performance.now() - startedMs) / calls;
  };
}

const NOW_MS = Date.UTC(2026, 10, 21);
/** A rule of every kind that needs no counter, as people write them; `at` makes each one's parameters its own. */
const KINDS: readonly ((at: number) => object)[] = [
  (at) => ({
    kind: 'image',
    allow: ['registry.example.com/acme/**/*:*', `registry.example.com/team-${at}/*:*`],
  }),
  (at) => ({ kind: 'services', allow: [`registry.example.com/team-${at}/*:*`], max: 5 }),
  () => ({ kind: 'pull-policy', allow: ['always', 'if-not-present'] }),
  (at) => ({ kind: 'resources', build: { cpu: 8 + at, memory: '16Gi' }, job: { memory: '64Gi' } }),
  (at) => ({ kind: 'overwrites', namespace: `^ci-${at}-.*`, service_account: '^ci-.*' }),
  () => ({ kind: 'container-user', users: ['1000', '65534'] }),
  () => ({ kind: 'timeout', max: '4h' }),
  () => ({ kind: 'runner-access', runner_classes: ['medium'], allow: [{ groups: [benchPlace(0).root] }] }),
  () => ({ kind: 'freeze', windows: [{ from: '2030-12-20', until: '2030-12-27' }] }),
  (at) => ({ kind: 'variables', require: ['COST_CENTER'], allow: { COST_CENTER: [`${at}-*`, '47*'] } }),
];

/** What a job on Kubernetes asks besides: something for every kind of rule to look at. */
const asking = (): Partial<AdmissionRequest> => ({
  pipelineSource: 'push',
  ref: 'main',
  refProtected: true,
  pullPolicies: ['always'],
  kubernetesUser: '1000:1000',
  services: [{ name: 'registry.example.com/acme/postgres:17', variables: { KUBERNETES_CPU_REQUEST: '1' } }],
  variables: {
    KUBERNETES_CPU_REQUEST: '2',
    KUBERNETES_MEMORY_REQUEST: '4Gi',
    KUBERNETES_MEMORY_LIMIT: '6Gi',
    KUBERNETES_HELPER_CPU_LIMIT: '500m',
    KUBERNETES_NAMESPACE_OVERWRITE: 'ci-acme',
    KUBERNETES_NODE_SELECTOR_1: 'kubernetes.io/arch=arm64',
    COST_CENTER: '4711',
  },
});

const ruleAt = (at: number, root: number): object => ({
  id: `rule-${at}`,
  mode: 'enforce',
  match: { groups: [benchPlace(root).root] },
  ...KINDS[at % KINDS.length]?.(at),
});

/** `count` rules that all match the bench's job, beside the two that switch on limits; and others that do not. */
function rulesOf(count: number, others = 0): () => unknown {
  const rules = Array.from({ length: count - 2 + others }, (_, at) =>
    // Spread among the others, as in a document of many teams.
    ruleAt(at, others === 0 || at % Math.ceil((count - 2 + others) / (count - 2)) === 0 ? 0 : 1 + (at % 500)),
  );
  const using = { ...benchRules(1, rules), nowMs: NOW_MS };
  // Anew each time: what a rule remembers of a question must not make the next one cheap.
  const request = (): AdmissionRequest => ({ ...benchRequest(1, 0), ...asking() });
  return () => evaluate(request(), using);
}

/** Evaluation against JSON.parse of the same question, and what each further rule adds. */
export async function policyFigures(): Promise<readonly Figure[]> {
  const question = JSON.stringify(benchQuestion(1));
  const parse = timed(() => JSON.parse(question), CALLS);
  const [ten, hundred, thousand] = [rulesOf(10), rulesOf(100), rulesOf(1000)];
  const among = rulesOf(100, 9_900);
  for (const warm of [hundred, thousand, among]) for (let call = 0; call < 300; call += 1) warm();
  await parse();
  await timed(ten, CALLS)();

  const toParse = await ratioOfRounds(ROUNDS, timed(ten, CALLS), parse);
  const manyToParse = await ratioOfRounds(ROUNDS, timed(hundred, CALLS_OF_MANY), parse);
  const indexed = await ratioOfRounds(ROUNDS, timed(among, CALLS_OF_MANY), timed(hundred, CALLS_OF_MANY));
  // Linear means that a rule among a thousand costs what a rule among a hundred does.
  const growth = await ratioOfRounds(
    ROUNDS,
    timed(thousand, RULES_A_ROUND / 1000),
    timed(hundred, RULES_A_ROUND / 100),
  );
  return [
    {
      name: 'policy evaluation with 10 matching rules ÷ JSON.parse of the question',
      value: toParse.median,
      must: { atMost: 2 },
      unit: '×',
      kind: 'ratio',
      range: toParse.range,
      noisy: toParse.noisy,
    },
    {
      name: 'policy evaluation with 100 matching rules of all kinds ÷ JSON.parse of the question',
      value: manyToParse.median,
      must: { atMost: 10 },
      unit: '×',
      kind: 'ratio',
      range: manyToParse.range,
      noisy: manyToParse.noisy,
    },
    {
      name: '10 000 rules loaded of which 100 match ÷ those 100 alone',
      value: indexed.median,
      must: { atMost: 1.5 },
      unit: '×',
      kind: 'ratio',
      range: indexed.range,
      noisy: indexed.noisy,
    },
    {
      name: 'time per rule, 1000 rules ÷ 100 rules (1 is linear)',
      value: growth.median / 10,
      must: { atMost: 1.5 },
      unit: '×',
      kind: 'ratio',
      range: [growth.range[0] / 10, growth.range[1] / 10],
      noisy: growth.noisy,
    },
  ];
}
