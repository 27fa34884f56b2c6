import { expect, test } from 'vitest';
import { parseAdmissionRequest } from '../../../policies/request/parse-request.ts';

const problemsOf = (input: unknown): readonly string[] => {
  const parsed = parseAdmissionRequest(input);
  return parsed.ok ? [] : parsed.problems;
};

test('absent, null, empty text and id 0 say nothing; unknown fields are passed over', () => {
  const request = {
    jobId: 1,
    image: '',
    jobName: null,
    dockerUser: '',
    pullPolicies: [],
    projectId: 0,
    variables: null,
    somethingNew: { deep: [1] },
  };
  expect(parseAdmissionRequest(request)).toEqual({ ok: true, value: { jobId: 1 } });
});

test('every problem is named with its field', () => {
  const request = {
    jobId: '1',
    projectId: -1,
    image: 5,
    refProtected: 'yes',
    services: [{}, 'x'],
    runnerTags: [1],
    jobTags: 'linux',
    variables: { A: 1 },
    timeoutSeconds: 1.5,
  };
  expect(problemsOf(request)).toEqual([
    'jobId: a text of 1 characters; expected a whole number from 1 to 2^53 - 1',
    'image: 5; expected a text of at most 4096 characters',
    'projectId: -1; expected a whole number from 0 to 9007199254740991',
    'timeoutSeconds: 1.5; expected a whole number from 0 to 31622400',
    'refProtected: a text of 3 characters; expected true or false',
    'services[0].name: missing; expected an image',
    'services[1]: a text of 1 characters; expected {"name": …}',
    'jobTags: a text of 5 characters; expected a list',
    'runnerTags[0]: 1; expected a text of at most 4096 characters',
    'variables.A: 1; expected a text of at most 16384 characters',
  ]);
});

test.each([0, -1, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, true])(
  'job id %s is refused',
  (jobId) => {
    expect(problemsOf({ jobId })).toHaveLength(1);
  },
);

test('a problem never quotes a text, which could be a secret that went astray', () => {
  const secret = 'glrt-secret';
  const problems = problemsOf({
    jobId: secret,
    projectId: secret,
    services: secret,
    variables: { [secret]: 1, A: secret.repeat(2_000) },
  });
  expect(problems).toHaveLength(5);
  expect(problems.join()).not.toContain(secret);
});

test('__proto__ in JSON reaches no prototype', () => {
  const parsed = parseAdmissionRequest(
    JSON.parse('{"jobId":1,"__proto__":{"image":"evil"},"variables":{"__proto__":"x","constructor":"y"}}'),
  );
  if (!parsed.ok) throw new Error(parsed.problems.join());
  expect(parsed.value.image).toBeUndefined();
  expect(Object.getPrototypeOf(parsed.value.variables)).toBe(Object.prototype);
  expect(Object.entries(parsed.value.variables ?? {})).toEqual([
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ]);
  expect('x' in {}).toBe(false);
});
