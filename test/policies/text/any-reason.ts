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

type Arbitraries = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Optional fields are left out as the rules leave them out: absent, not `undefined`. */
const any =
  (needed: Arbitraries, optional: Arbitraries = {}) =>
  <Wanted extends Code>(code: Wanted): fc.Arbitrary<Of<Wanted>> =>
    fc
      .record({ ...needed, ...optional }, { requiredKeys: Object.keys(needed) })
      .map((facts) => ({ code, ...facts }) as unknown as Of<Wanted>);

const oneOf = (...values: readonly string[]) => fc.constantFrom(...values);

const limit = any(
  {
    ...{ limit: words, subject: words, subjectLabel: words, limitAmount: amount, asked: amount },
    unit: oneOf('micros', 'seconds', 'jobs', 'millicpu', 'bytes', 'starts'),
    ...{ committed: amount, settled: amount },
  },
  { overdrawn: amount, periodLabel: words, resetsAtMs: instant, zone, owner: words, contact: words },
);

const REASONS = {
  BUDGET_EXHAUSTED: limit,
  CONCURRENCY_FULL: limit,
  CAPACITY_FULL: limit,
  WINDOW_FULL: limit,
  SOFT_LIMIT: limit,
  EXCEEDS_LIMIT_ALONE: limit,
  IMAGE_NOT_ALLOWED: any({ image: words, allowed: wordList }, { denied: words, service: flag }),
  TAG_NOT_ALLOWED: any({ image: words, wanted: oneOf('fixed', 'digest') }, { service: flag }),
  SERVICE_LIMIT: any({ services: amount, servicesMax: amount }),
  PRIVILEGED_DENIED: any({ image: words }, { engine: oneOf('podman', 'buildkit', 'kubernetes') }),
  PULL_POLICY_NOT_ALLOWED: any({ asked: wordList, allowed: wordList }, { service: words }),
  RESOURCE_CAP: any(
    { resource: oneOf('cpu', 'memory', 'ephemeral-storage'), variable: words, asked: words, cap: words },
    { service: words, isFloor: flag, sum: flag },
  ),
  RESOURCE_INVALID: any({ variable: words }, { service: words }),
  OVERWRITE_NOT_ALLOWED: any(
    { variable: words, why: oneOf('off', 'pattern', 'reserved') },
    { pattern: words },
  ),
  VARIABLE_NOT_ALLOWED: any(
    { variable: words, why: oneOf('required', 'pattern', 'denied') },
    { allowed: wordList },
  ),
  CONTAINER_USER_NOT_ALLOWED: any(
    { part: oneOf('user', 'group'), asked: words, allowed: wordList },
    { invalid: flag, service: words },
  ),
  TIMEOUT_TOO_LONG: any({ timeoutSeconds: amount, timeoutSecondsMax: amount, runnerClass: words }),
  RUNNER_SCOPE: any({ runnerClass: words, needs: wordList }),
  GROUP_FROZEN: any({ frozenLabel: words }, { untilMs: instant, zone, why: words, owner: words }),
  BREAK_GLASS: any({ breakGlass: words, why: words }, { owner: words }),
  FIELD_MISSING: any({ field: words }),
  CONTROLLER_ERROR: any({ cause: words }),
} satisfies Readonly<Record<Code, ReturnType<typeof any>>>;

/** One entry for each code: a new one fails to compile above. */
export const ANY_REASON = Object.fromEntries(
  Object.entries(REASONS).map(([code, of]) => [code, of(code as Code)]),
) as Readonly<Record<Code, fc.Arbitrary<Reason>>>;

export const anyReason: fc.Arbitrary<Reason> = fc.oneof(...Object.values(ANY_REASON));
