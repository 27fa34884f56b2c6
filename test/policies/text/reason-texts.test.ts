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

const { alone, blocked, slots, cpu, hourFull, soft, spent, minutes } = limits;
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
  ...{ alone, blocked, slots, cpu, hourFull, soft, spent, minutes },
  'lent slots': { ...slots, borrow: 5, lentOut: true, committed: 12 } as Reason,
  timeout: { ...timeout, timeoutSeconds: 7_200 },
  scope: { ...scope, needs: ['protected refs and environment production', 'group 104'] },
  'break-glass': { code: 'BREAK_GLASS', breakGlass: 'release', why: 'release week', owner: 'payments-leads' },
  user: { ...user, asked: 'root' },
  'no user': { ...user, asked: '' },
  freeze: { ...frozen, untilMs: Date.UTC(2026, 11, 1, 7), why: 'year end.' },
  image,
  tag: { code: 'TAG_NOT_ALLOWED', image: 'ruby', wanted: 'fixed' },
  services: { code: 'SERVICE_LIMIT', services: 3, servicesMax: 2 },
  'Docker in Docker': privileged,
  'pull policy': { ...policy, asked: ['never'] },
  cap,
  quantity: { code: 'RESOURCE_INVALID', variable: 'KUBERNETES_CPU_REQUEST', service: 'redis:7' },
  overwrite: { ...overwrite, why: 'pattern', pattern: '^ci-' },
  variable: { ...variable, why: 'pattern', allowed: ['47??', '48??'] },
  'missing image': { code: 'FIELD_MISSING', field: 'image' },
  'missing timeout': { code: 'FIELD_MISSING', field: 'timeoutSeconds' },
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

test('a record that was cut to fit has no zone, and its times are shown in UTC', () => {
  const { zone: _zone, ...cut } = { ...frozen, untilMs: Date.UTC(2026, 11, 1, 7) };
  const limit: Reason = JSON.parse(JSON.stringify({ ...spent, zone: undefined }));
  expect(said(cut).filter((line) => line.includes('1 Dec 2026 07:00 UTC'))).toHaveLength(2);
  expect(said(limit)).toContainEqual(expect.stringContaining('after 30 Nov 2026 23:00 UTC'));
});
