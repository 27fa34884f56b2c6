import { expect, test } from 'vitest';
import type { Reason } from '../../../policies/reason.ts';
import {
  discreetHeadline,
  headline,
  REASON_TEXTS,
  reasonLine,
  retryAdvice,
} from '../../../policies/text/reason-texts.ts';
import * as limits from './limit-reasons.ts';
import { NOW_MS } from './told.ts';

const { alone, blocked, slots, cpu, hourFull, month, once, ...others } = limits;
const user = { code: 'CONTAINER_USER_NOT_ALLOWED', part: 'user', allowed: ['1000', '65534'] } as const;
const image = {
  code: 'IMAGE_NOT_ALLOWED',
  image: 'docker.io/evil:1',
  allowed: ['registry.example.com/**'],
} as const;
const policy = { code: 'PULL_POLICY_NOT_ALLOWED', allowed: ['always', 'if-not-present'] } as const;
const memory = { resource: 'memory', variable: 'KUBERNETES_MEMORY_LIMIT' } as const;
const cap = { code: 'RESOURCE_CAP', ...memory, asked: '16Gi', cap: '12Gi' } as const;
const overwrite = { code: 'OVERWRITE_NOT_ALLOWED', variable: 'KUBERNETES_NAMESPACE_OVERWRITE' } as const;
const variable = { code: 'VARIABLE_NOT_ALLOWED', variable: 'COST_CENTER' } as const;
const timeout = { code: 'TIMEOUT_TOO_LONG', timeoutSecondsMax: 3_600, runnerClass: 'large' } as const;
const scope = { code: 'RUNNER_SCOPE', runnerClass: 'gpu' } as const;
const privileged = { code: 'PRIVILEGED_DENIED', image: 'docker:28-dind' } as const;
const frozen = { code: 'GROUP_FROZEN', frozenLabel: 'group acme/payments', zone: 'Europe/Berlin' } as const;

const SAMPLES: Readonly<Record<string, Reason>> = {
  ...others,
  ...{ alone, blocked, slots, cpu, hourFull },
  'alone in CPU': { ...alone, unit: 'millicpu', asked: 16_000, limitAmount: 500 } as Reason,
  'lent slots': { ...slots, borrow: 5, lentOut: true, committed: 12 } as Reason,
  'lent CPU': { ...cpu, borrow: 4_000, lentOut: true } as Reason,
  'a long name': { ...slots, subjectLabel: `group acme/${'deep/'.repeat(40)}end` } as Reason,
  timeout: { ...timeout, timeoutSeconds: 7_200 },
  scope: { ...scope, needs: ['protected refs and environment production', 'group 104'] },
  'scope of nobody': { ...scope, needs: [] },
  'break-glass': { code: 'BREAK_GLASS', breakGlass: 'release', why: 'release week', owner: 'payments-leads' },
  user: { ...user, asked: 'root' },
  'user that is no number': { ...user, asked: 'node', invalid: true },
  'group of a service': { ...user, part: 'group', asked: '0', allowed: [], service: 'postgres:16' },
  'no user': { ...user, asked: '' },
  freeze: { ...frozen, untilMs: Date.UTC(2026, 11, 1, 7), why: 'year end.' },
  'freeze until lifted': { ...frozen, why: `no deploys, ${'because '.repeat(30)}` },
  image,
  'denied service': { ...image, denied: 'docker.io/**', service: true },
  tag: { code: 'TAG_NOT_ALLOWED', image: 'ruby', wanted: 'fixed' },
  digest: { code: 'TAG_NOT_ALLOWED', image: 'ruby:3', wanted: 'digest', service: true },
  services: { code: 'SERVICE_LIMIT', services: 3, servicesMax: 2 },
  'Docker in Docker': privileged,
  Kubernetes: { ...privileged, image: 'kindest/node:v1', engine: 'kubernetes' },
  'pull policy': { ...policy, asked: ['never'] },
  'no pull policy': { ...policy, asked: [], allowed: [] },
  cap,
  floor: { ...cap, asked: '1Mi', isFloor: true },
  sum: { ...cap, sum: true, service: 'postgres:16' },
  quantity: { code: 'RESOURCE_INVALID', variable: 'KUBERNETES_CPU_REQUEST', service: 'redis:7' },
  'overwrite that is off': { ...overwrite, why: 'off' },
  overwrite: { ...overwrite, why: 'pattern', pattern: '^ci-' },
  'reserved label': { ...overwrite, variable: 'KUBERNETES_POD_LABELS_1', why: 'reserved' },
  'required variable': { ...variable, why: 'required' },
  variable: { ...variable, why: 'pattern', allowed: ['47??', '48??'] },
  'denied variable': { ...variable, why: 'denied' },
  'missing image': { code: 'FIELD_MISSING', field: 'image' },
  'missing timeout': { code: 'FIELD_MISSING', field: 'timeoutSeconds' },
  'missing quantity': { code: 'FIELD_MISSING', field: 'KUBERNETES_CPU_REQUEST' },
  'missing value': { code: 'FIELD_MISSING', field: 'variables.TIER' },
  'our failure': { code: 'CONTROLLER_ERROR', cause: 'TypeError' },
};

/** Everything that is said of a reason; what is said where everybody may read it stands behind `public:`, if it differs. */
function said(reason: Reason): readonly string[] {
  const first = headline(reason, { currency: 'EUR', nowMs: NOW_MS });
  const [open, discreet] = [discreetHeadline(reason), retryAdvice(reason, 'none', NOW_MS)];
  const advice = retryAdvice(reason, 'binding', NOW_MS);
  return [
    first,
    ...(open === first ? [] : [`public: ${open}`]),
    `[${reason.code}] ${reasonLine(reason, 'EUR')}`,
    ...advice,
    ...discreet.filter((line) => !advice.includes(line)).map((line) => `public: ${line}`),
  ];
}

test('what is said of every reason is what reason-texts.txt says', async () => {
  const codes = new Set(Object.values(SAMPLES).map(({ code }) => code));
  expect([...codes].sort()).toEqual(Object.keys(REASON_TEXTS).sort());
  const texts = Object.entries(SAMPLES).map(([name, reason]) => [`# ${name}`, ...said(reason)].join('\n'));
  await expect(`${texts.join('\n')}\n`).toMatchFileSnapshot('reason-texts.txt');
});
