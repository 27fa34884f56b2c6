import { expect, test } from 'vitest';
import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import { statelessCheck } from '../../../relay/fallback/stateless-check.ts';

/** An image rule for one group, asked about a job whose group nobody knows here. */
function check(onError: 'open' | 'closed') {
  const policy = parsePolicy(
    {
      currency: 'EUR',
      prices: {
        version: 't',
        classes: [{ name: 'small', tags: [], rate_per_minute: '0.10' }],
        default_class: 'small',
      },
      estimate: { default: '10m' },
      rules: [
        {
          id: 'images',
          kind: 'image',
          mode: 'enforce',
          on_error: onError,
          match: { groups: [101] },
          allow: ['registry.example.com/**'],
        },
      ],
    },
    't',
  );
  if (!policy.ok) throw new Error(JSON.stringify(policy.problems));
  return statelessCheck(policy.value, { nowMs: () => 0 });
}

const aRequest = { jobId: 1, rootNamespaceId: 100, namespaceId: 150, image: 'alpine:3.22' };

test.each([
  {
    onError: 'closed',
    codes: ['CONTROLLER_ERROR'],
    guarantee: 'a rule that cannot be evaluated here closes',
  },
  { onError: 'open', codes: [], guarantee: 'unless its policy says that it opens' },
] as const)('$guarantee', ({ onError, codes }) => {
  expect(
    check(onError)
      .violations(aRequest)
      .map(({ reason }) => reason.code),
  ).toEqual(codes);
});

test('an image that breaks the rule in its group rejects whatever on_error says', () => {
  const violations = check('open').violations({ ...aRequest, namespaceId: 101 });
  expect(violations.map(({ reason }) => reason.code)).toEqual(['IMAGE_NOT_ALLOWED']);
});

test('an image that the rule allows everywhere passes, wherever the job is', () => {
  expect(check('closed').violations({ ...aRequest, image: 'registry.example.com/a/b:1' })).toEqual([]);
});
