import { expect, test } from 'vitest';
import type { Reason } from '../../../policies/reason.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { reasonsOf } from './checking.ts';

const reasons = (rule: object, request: Partial<AdmissionRequest>): readonly Reason[] =>
  reasonsOf({ kind: 'pull-policy', ...rule }, request);

const SAFE = { allow: ['always', 'if-not-present'] };

test.each<[object, Partial<AdmissionRequest>, number, string]>([
  [SAFE, { pullPolicies: ['always'] }, 0, 'an allowed policy passes'],
  [SAFE, { pullPolicies: ['never'] }, 1, 'any other does not'],
  [SAFE, { pullPolicies: ['never', 'always'] }, 0, 'one in common is enough, the runner uses only that'],
  [SAFE, {}, 0, "a job that names none gets the runner's own default"],
  [SAFE, { services: [{ name: 's', pullPolicies: ['never'] }] }, 1, 'services pull images, too'],
  [
    SAFE,
    { services: Array.from({ length: 9 }, (_, at) => ({ name: `s${at}`, pullPolicies: ['never'] })) },
    5,
    'a list of reasons is bounded',
  ],
])('%j on %j gives %i reasons: %s', (rule, request, count) => {
  expect(reasons(rule, request)).toHaveLength(count);
});
