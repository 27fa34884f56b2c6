import { evaluate } from '../../../policies/evaluate.ts';
import { checkedJobOf } from '../../../policies/job.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { benchMessage } from './bench-message.ts';
import { benchPlace, benchRequest, benchRules } from './bench-rules.ts';
import { type Figure, inTurns, ratioFigure } from './figure.ts';

const ROUNDS = 7;
/** A round lasts a tenth of a second, so that a short pause of the machine does not decide it. */
const CALLS = 10_000;
const CALLS_OF_MANY = 1_000;
const RULES_A_ROUND = 100_000;
const WARM_UP_CALLS = 300;
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

/** A job on Kubernetes, so that every kind of rule has work. A new object each time, so that no rule can reuse cached fields. */
const newRequest = (): AdmissionRequest => ({
  ...benchRequest(1, 0),
  ...{ pipelineSource: 'push', ref: 'main', refProtected: true, pullPolicies: ['always'] },
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

/** @param others - rules of other groups, spread among the `count` that match. */
export function evaluation(count: number, others = 0): () => unknown {
  // Two rules of benchRules match as well.
  const more = count - 2;
  const every = Math.ceil((more + others) / more);
  const rules = Array.from({ length: more + others }, (_, at) => ({
    ...{ id: `rule-${at}`, mode: 'enforce' },
    match: { groups: [benchPlace(at % every === 0 ? 0 : 1 + (at % 500)).root] },
    ...KINDS[at % KINDS.length]?.(at),
  }));
  const using = { ...benchRules(1, rules), nowMs: NOW_MS };
  return () => evaluate(newRequest(), using);
}

const ACME = 'registry.example.com/acme/';

/** Ten image rules, and the same decisions by `startsWith` alone. Each call has an image that was never seen before. */
export function imageTests() {
  const allowed = Array.from({ length: 10 }, (_, at) => [`registry.example.com/team-${at}/`, ACME]);
  const allow = (prefixes: readonly string[]) => prefixes.map((each) => `${each}**/*:*`);
  const base = { kind: 'image', mode: 'enforce' };
  const rules = allowed.map((prefixes, at) => ({ ...base, id: `image-${at}`, allow: allow(prefixes) }));
  const { policy } = benchRules(1, rules);
  const checks = policy.rules.flatMap((rule) => (rule.stateless ? [rule.check] : []));
  const job = checkedJobOf(benchRequest(1, 0), { policy, nowMs: NOW_MS });
  let images = 0;
  const test = (isAllowed: (checked: typeof job, image: string) => boolean) => () => {
    const image = `${ACME}build/node:${++images}`;
    if (!isAllowed({ ...job, request: { ...job.request, image } }, image)) throw new Error('image refused');
  };
  return {
    rules: test((checked) => checks.every((check) => check(checked).length === 0)),
    prefixes: test((_, image) => allowed.every((list) => list.some((each) => image.startsWith(each)))),
  };
}

/** @returns a function that measures the time of one call, divided by `parts`. */
const timed =
  (run: () => unknown, calls: number, parts = 1) =>
  async (): Promise<number> => {
    const startedMs = performance.now();
    for (let call = 0; call < calls; call += 1) run();
    return (performance.now() - startedMs) / calls / parts;
  };

export async function policyFigures(): Promise<readonly Figure[]> {
  const message = JSON.stringify(benchMessage(1));
  const parse = timed(() => JSON.parse(message), CALLS);
  const sets = [evaluation(100), evaluation(1_000), evaluation(100, 9_900)] as const;
  for (const set of sets) for (let call = 0; call < WARM_UP_CALLS; call += 1) set();
  const [hundred, thousand, among] = sets;
  const images = imageTests();
  const [imageRules, prefixes] = [timed(images.rules, CALLS), timed(images.prefixes, CALLS)];
  for (const warmUp of [parse, imageRules, prefixes]) await warmUp();
  const ofHundred = timed(hundred, CALLS_OF_MANY);
  const perRule = (set: () => unknown, rules: number) => timed(set, RULES_A_ROUND / rules, rules);
  const compare = async (name: string, own: typeof parse, base: typeof parse, atMost: number) => {
    const rounds = await inTurns(ROUNDS, { own, base }, (measure) => measure());
    const ratios = rounds.map((round) => round.own / round.base);
    return ratioFigure(name, ratios, { atMost });
  };
  const ofAllKinds = 'policy evaluation with 100 matching rules of all kinds ÷ JSON.parse of the request';
  const growth = 'time per rule, 1000 rules ÷ 100 rules (1 is linear)';
  return [
    await compare('ten image rules on new images ÷ prefix tests', imageRules, prefixes, 3),
    await compare(ofAllKinds, ofHundred, parse, 10),
    await compare(
      '10 000 rules loaded of which 100 match ÷ those 100 alone',
      timed(among, CALLS_OF_MANY),
      ofHundred,
      1.5,
    ),
    await compare(growth, perRule(thousand, 1_000), perRule(hundred, 100), 1.5),
  ];
}
