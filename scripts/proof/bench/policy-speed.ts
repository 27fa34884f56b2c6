import { evaluate } from '../../../policies/evaluate.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { benchPlace, benchRequest, benchRules } from './bench-rules.ts';
import { type Figure, inTurns, ratioFigure } from './figure.ts';
import { benchQuestion } from './processes.ts';

const ROUNDS = 7;
/** A round lasts a tenth of a second, so that a short pause of the machine does not decide it. */
const CALLS = 10_000;
const CALLS_OF_MANY = 1_000;
const RULES_A_ROUND = 100_000;

function timed(run: () => unknown, calls: number): () => Promise<number> {
  return async () => {
    const startedMs = performance.now();
    for (let call = 0; call < calls; call += 1) run();
    return (performance.now() - startedMs) / calls;
  };
}

const NOW_MS = Date.UTC(2026, 10, 21);
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

/** Fields of a job on Kubernetes, so that every kind of rule has work. */
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

function rulesOf(count: number, others = 0): () => unknown {
  const rules = Array.from({ length: count - 2 + others }, (_, at) =>
    ruleAt(at, others === 0 || at % Math.ceil((count - 2 + others) / (count - 2)) === 0 ? 0 : 1 + (at % 500)),
  );
  const using = { ...benchRules(1, rules), nowMs: NOW_MS };
  // A new object each time, so that no rule can reuse cached fields.
  const request = (): AdmissionRequest => ({ ...benchRequest(1, 0), ...asking() });
  return () => evaluate(request(), using);
}

export async function policyFigures(): Promise<readonly Figure[]> {
  const question = JSON.stringify(benchQuestion(1));
  const parse = timed(() => JSON.parse(question), CALLS);
  const sets = {
    ten: rulesOf(10),
    hundred: rulesOf(100),
    thousand: rulesOf(1000),
    among: rulesOf(100, 9_900),
  };
  for (const warm of Object.values(sets)) for (let call = 0; call < 300; call += 1) warm();
  await parse();
  const ten = timed(sets.ten, CALLS);
  await ten();
  const [hundred, among] = [timed(sets.hundred, CALLS_OF_MANY), timed(sets.among, CALLS_OF_MANY)];
  const perRule = (evaluateAll: () => unknown, rules: number) => {
    const run = timed(evaluateAll, RULES_A_ROUND / rules);
    return async () => (await run()) / rules;
  };
  const quotient = ([own, base]: readonly [number, number]): number => own / base;
  const ratio = async (name: string, own: typeof parse, base: typeof parse, atMost: number) =>
    ratioFigure(name, (await inTurns(ROUNDS, own, base)).map(quotient), { atMost });
  const to = '÷ JSON.parse of the question';
  const growth = 'time per rule, 1000 rules ÷ 100 rules (1 is linear)';
  return [
    await ratio(`policy evaluation with 10 matching rules ${to}`, ten, parse, 2),
    await ratio(`policy evaluation with 100 matching rules of all kinds ${to}`, hundred, parse, 10),
    await ratio('10 000 rules loaded of which 100 match ÷ those 100 alone', among, hundred, 1.5),
    await ratio(growth, perRule(sets.thousand, 1000), perRule(sets.hundred, 100), 1.5),
  ];
}
