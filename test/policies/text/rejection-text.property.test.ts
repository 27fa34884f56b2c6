import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Reason } from '../../../policies/reason.ts';
import { DISCLOSURES } from '../../../policies/text/reason-text.ts';
import { REASON_TEXTS } from '../../../policies/text/reason-texts.ts';
import { REJECTION_CHARACTERS_MAX } from '../../../policies/text/rejection-text.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { ANY_REASON, anyReason, words } from './any-reason.ts';
import { NOW_MS, told, toldDiscreetly } from './told.ts';

const CODES = Object.keys(REASON_TEXTS) as readonly Reason['code'][];
const DETAILS = 'https://budget.example.com/jobs/7';
const NO_WORD = /undefined|NaN|Infinity|\[object/;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

test('whatever people and projects are called: plain, bounded, a first line of its own and the decision last', () => {
  fc.assert(
    fc.property(
      fc.array(anyReason, { minLength: 1, maxLength: 12 }),
      fc.constantFrom(...DISCLOSURES),
      words,
      words,
      (reasons, disclosure, jobName, footer) => {
        const [first, ...rest] = reasons as [Reason, ...Reason[]];
        const request = { jobId: 7, jobName };
        const message = told([first, ...rest], { disclosure, request, footer, detailsUrl: DETAILS });
        const lines = message.split('\n');
        expect(message.length).toBeLessThanOrEqual(REJECTION_CHARACTERS_MAX);
        expect(lines[0]).not.toBe('');
        expect(lines[0]?.length).toBeLessThanOrEqual(120);
        expect(lines.filter((line) => line === 'Decision: d-01JABC')).toHaveLength(1);
        expect(lines.at(-1)).toBe('Decision: d-01JABC');
        expect(lines.at(-2) === `Details: ${DETAILS}`).toBe(disclosure !== 'none');
        expect(lines[2]).toMatch(
          /^\[[A-Z_]+\] job .*was not started\.( Nothing is wrong with your code\.)?$/u,
        );
        expect(message.replaceAll('\n', '')).not.toMatch(UNSEEN);
        expect(message.isWellFormed()).toBe(true);
        // A group may be called so.
        if (!NO_WORD.test(JSON.stringify([reasons, jobName, footer]))) expect(message).not.toMatch(NO_WORD);
      },
    ),
    { numRuns: propertyRuns(500) },
  );
});

const HARDEST: Reason = { code: 'IMAGE_NOT_ALLOWED', image: 'evil', allowed: [] };

const LIMIT_SECRETS = [
  ...['limit', 'subject', 'subjectLabel', 'owner', 'contact'],
  ...['limitAmount', 'asked', 'committed', 'settled'],
  ...['periodLabel', 'resetsAtMs', 'zone'],
];

/** What belongs to the rules and to other people; of limits all. The rest is the job's own, or when a freeze ends. */
const SECRETS: Readonly<Partial<Record<Reason['code'], readonly string[]>>> = {
  IMAGE_NOT_ALLOWED: ['allowed', 'denied'],
  SERVICE_LIMIT: ['servicesMax'],
  PULL_POLICY_NOT_ALLOWED: ['allowed'],
  RESOURCE_CAP: ['cap'],
  OVERWRITE_NOT_ALLOWED: ['pattern'],
  VARIABLE_NOT_ALLOWED: ['allowed'],
  CONTAINER_USER_NOT_ALLOWED: ['allowed'],
  TIMEOUT_TOO_LONG: ['timeoutSecondsMax', 'runnerClass'],
  RUNNER_SCOPE: ['needs'],
  GROUP_FROZEN: ['frozenLabel', 'why', 'owner'],
  BREAK_GLASS: ['breakGlass', 'why', 'owner'],
  CONTROLLER_ERROR: ['cause'],
};

test.each(CODES)('disclosure none: the text of %s does not depend on what it must not tell', (code) => {
  const some = ANY_REASON[code];
  fc.assert(
    fc.property(some, some, (reason, other) => {
      const swapped = withSecretsOf(reason, other);
      // That a limit blocks, never starts anew or does so at once may show: the advice would be wrong otherwise.
      fc.pre(isBlocked(reason) === isBlocked(swapped) && opensSoon(reason) === opensSoon(swapped));
      expect(toldDiscreetly(swapped)).toBe(toldDiscreetly(reason));
      const second = (each: Reason): string => told([HARDEST, each], { disclosure: 'none' });
      expect(second(swapped)).toBe(second(reason));
    }),
  );
});

function withSecretsOf(reason: Reason, other: Reason): Reason {
  const secrets = 'limitAmount' in reason ? LIMIT_SECRETS : (SECRETS[reason.code] ?? []);
  const entries = Object.entries(reason).map(([key, value]) =>
    secrets.includes(key) && Object.hasOwn(other, key) ? [key, other[key as keyof Reason]] : [key, value],
  );
  return Object.fromEntries(entries) as Reason;
}

const isBlocked = (reason: Reason): boolean => 'limitAmount' in reason && reason.limitAmount === 0;

const opensSoon = (reason: Reason): boolean =>
  'limitAmount' in reason && (reason.resetsAtMs ?? Number.POSITIVE_INFINITY) <= NOW_MS + 120_000;
