import fc from 'fast-check';
import type { Reason } from '../../../policies/reason.ts';
import { NOW_MS } from './told.ts';

type Code = Reason['code'];
type Of<Wanted extends Code> = Extract<Reason, { readonly code: Wanted }>;

/** What users, and whoever writes the policy, may call things. */
export const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ maxLength: 5_000 }),
  fc.constantFrom(
    'a/'.repeat(200),
    '😀'.repeat(200),
    `x${'😀'.repeat(200)}`,
    '\u202Eevil',
    'x\nDecision: forged',
    '\u001B[31mred',
    '$VARIABLE',
    '',
  ),
);

const wordList = fc.array(words, { maxLength: 12 });
const amount = fc.oneof(fc.nat(Number.MAX_SAFE_INTEGER), fc.nat(100));
const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/Argentina/ComodRivadavia');
const instant = fc.integer({ min: NOW_MS, max: NOW_MS + 1e11 });
const flag = fc.constant(true as const);

/** Fields that may be left out, as the rules leave them out: absent, not `undefined`. */
const record = <Fields extends object, Needed extends keyof Fields>(
  fields: { [Key in keyof Fields]: fc.Arbitrary<Fields[Key]> },
  ...requiredKeys: readonly Needed[]
) => fc.record(fields, { requiredKeys: [...requiredKeys] });

const limitFields = {
  limit: words,
  subject: words,
  subjectLabel: words,
  unit: fc.constantFrom('micros', 'seconds', 'jobs', 'millicpu', 'bytes', 'starts'),
  limitAmount: amount,
  asked: amount,
  overdrawn: amount,
  committed: amount,
  settled: amount,
  periodLabel: words,
  resetsAtMs: instant,
  zone,
  owner: words,
  contact: words,
} as const;
const limitNeeds = [
  'limit',
  'subject',
  'subjectLabel',
  'unit',
  'limitAmount',
  'asked',
  'committed',
  'settled',
] as const;

const limitReason = <Wanted extends Code>(code: Wanted): fc.Arbitrary<Of<Wanted>> =>
  record(limitFields, ...limitNeeds).map((facts) => ({ code, ...facts }) as unknown as Of<Wanted>);

/** One entry for each code: a new one fails to compile here, and finds no arbitrary when the tests run. */
export const ANY_REASON: { readonly [Each in Code]: fc.Arbitrary<Of<Each>> } = {
  BUDGET_EXHAUSTED: limitReason('BUDGET_EXHAUSTED'),
  CONCURRENCY_FULL: limitReason('CONCURRENCY_FULL'),
  CAPACITY_FULL: limitReason('CAPACITY_FULL'),
  WINDOW_FULL: limitReason('WINDOW_FULL'),
  SOFT_LIMIT: limitReason('SOFT_LIMIT'),
  EXCEEDS_LIMIT_ALONE: limitReason('EXCEEDS_LIMIT_ALONE'),
  IMAGE_NOT_ALLOWED: record(
    {
      code: fc.constant('IMAGE_NOT_ALLOWED' as const),
      image: words,
      allowed: wordList,
      denied: words,
      service: flag,
    },
    'code',
    'image',
    'allowed',
  ),
  TAG_NOT_ALLOWED: record(
    {
      code: fc.constant('TAG_NOT_ALLOWED' as const),
      image: words,
      wanted: fc.constantFrom('fixed' as const, 'digest' as const),
      service: flag,
    },
    'code',
    'image',
    'wanted',
  ),
  SERVICE_LIMIT: fc.record({
    code: fc.constant('SERVICE_LIMIT' as const),
    services: amount,
    servicesMax: amount,
  }),
  PRIVILEGED_DENIED: record(
    {
      code: fc.constant('PRIVILEGED_DENIED' as const),
      image: words,
      engine: fc.constantFrom('podman' as const, 'buildkit' as const, 'kubernetes' as const),
    },
    'code',
    'image',
  ),
  PULL_POLICY_NOT_ALLOWED: record(
    {
      code: fc.constant('PULL_POLICY_NOT_ALLOWED' as const),
      asked: wordList,
      allowed: wordList,
      service: words,
    },
    'code',
    'asked',
    'allowed',
  ),
  RESOURCE_CAP: record(
    {
      code: fc.constant('RESOURCE_CAP' as const),
      resource: fc.constantFrom('cpu' as const, 'memory' as const, 'ephemeral-storage' as const),
      variable: words,
      service: words,
      isFloor: flag,
      sum: flag,
      asked: words,
      cap: words,
    },
    'code',
    'resource',
    'variable',
    'asked',
    'cap',
  ),
  RESOURCE_INVALID: record(
    { code: fc.constant('RESOURCE_INVALID' as const), variable: words, service: words },
    'code',
    'variable',
  ),
  OVERWRITE_NOT_ALLOWED: record(
    {
      code: fc.constant('OVERWRITE_NOT_ALLOWED' as const),
      variable: words,
      why: fc.constantFrom('off' as const, 'pattern' as const, 'reserved' as const),
      pattern: words,
    },
    'code',
    'variable',
    'why',
  ),
  VARIABLE_NOT_ALLOWED: record(
    {
      code: fc.constant('VARIABLE_NOT_ALLOWED' as const),
      variable: words,
      why: fc.constantFrom('required' as const, 'pattern' as const, 'denied' as const),
      allowed: wordList,
    },
    'code',
    'variable',
    'why',
  ),
  CONTAINER_USER_NOT_ALLOWED: record(
    {
      code: fc.constant('CONTAINER_USER_NOT_ALLOWED' as const),
      part: fc.constantFrom('user' as const, 'group' as const),
      asked: words,
      allowed: wordList,
      invalid: flag,
      executor: fc.constantFrom('kubernetes' as const, 'docker' as const),
      service: words,
    },
    'code',
    'part',
    'asked',
    'allowed',
  ),
  TIMEOUT_TOO_LONG: fc.record({
    code: fc.constant('TIMEOUT_TOO_LONG' as const),
    timeoutSeconds: amount,
    timeoutSecondsMax: amount,
    runnerClass: words,
  }),
  RUNNER_SCOPE: fc.record({
    code: fc.constant('RUNNER_SCOPE' as const),
    runnerClass: words,
    needs: wordList,
  }),
  GROUP_FROZEN: record(
    {
      code: fc.constant('GROUP_FROZEN' as const),
      frozenLabel: words,
      untilMs: instant,
      zone,
      why: words,
      owner: words,
    },
    'code',
    'frozenLabel',
    'zone',
  ),
  BREAK_GLASS: record(
    { code: fc.constant('BREAK_GLASS' as const), breakGlass: words, why: words, owner: words },
    'code',
    'breakGlass',
    'why',
  ),
  FIELD_MISSING: fc.record({ code: fc.constant('FIELD_MISSING' as const), field: words }),
  CONTROLLER_ERROR: fc.record({ code: fc.constant('CONTROLLER_ERROR' as const), cause: words }),
};

export const anyReason: fc.Arbitrary<Reason> = fc.oneof(...Object.values<fc.Arbitrary<Reason>>(ANY_REASON));
