import { expect, test } from 'vitest';
import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import { problemText } from '../../../policies/document/reading.ts';
import { evaluate } from '../../../policies/evaluate.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { aPolicy, NOW_MS, policyDocument, someLimits, using } from '../documents.ts';

const job: AdmissionRequest = {
  jobId: 1,
  namespaceId: 104,
  rootNamespaceId: 100,
  projectId: 1,
  image: 'evil',
  runnerTags: ['large'],
  timeoutSeconds: 600,
};
const EXEMPT = { groups: [101], reason: 'moves to the new registry', until: '2026-12-31', ticket: 'OPS-7' };

const images = (more: object = {}): object => ({
  id: 'images',
  kind: 'image',
  mode: 'enforce',
  allow: ['good/**'],
  ...more,
});
const at = (rule: object, limits: object = {}, nowMs = NOW_MS) => {
  const policy = aPolicy({ rules: [rule] });
  return evaluate(job, using(policy, someLimits(limits, policy), { nowMs }));
};

test('what a rule has against an exempt job is recorded and rejects nobody', () => {
  const { violations, exemptions } = at(images({ exempt: [EXEMPT] }));
  expect(violations).toMatchObject([{ rule: 'images', mode: 'shadow', exempt: true }]);
  expect(exemptions).toEqual([{ rule: 'images', reason: 'moves to the new registry' }]);
});

test('all conditions of an exemption must hold, and what GitLab did not send holds nothing', () => {
  expect(at(images({ exempt: [{ ...EXEMPT, protected: true }] })).violations).toMatchObject([
    { mode: 'enforce' },
  ]);
  expect(at(images({ exempt: [{ ...EXEMPT, users: [9] }] })).violations).toMatchObject([{ mode: 'enforce' }]);
});

test('the platform is exempt from every rule, unless the rule says that it binds it', () => {
  const rules = (more: object): unknown =>
    evaluate(job, using(aPolicy({ platform: { groups: [101] }, rules: [images(more)] }), someLimits({})))
      .violations[0]?.mode;
  expect(rules({})).toBe('shadow');
  expect(rules({ binds_platform: true })).toBe('enforce');
});

test.each([
  [{}, {}, '2026-12-31', '2027-01-01T00:00:00.000Z'],
  [{ zone: 'Europe/Berlin' }, {}, '2026-03-29', '2026-03-29T22:00:00.000Z'],
  [{ zone: 'Europe/Berlin' }, { zone: 'America/New_York' }, '2026-12-31', '2027-01-01T05:00:00.000Z'],
  [{ zone: 'Europe/Berlin' }, {}, '2026-12-31T18:00Z', '2026-12-31T18:00:00.000Z'],
])('of a policy with %j an exemption with %j until %s ends at %s', (policy, exemption, until, endsAt) => {
  const exempt = [{ groups: [1], reason: 'r', until, ...exemption }];
  const parsed = parsePolicy({ ...policyDocument({ rules: [images({ exempt })] }), ...policy }, 'v');
  const [found] = parsed.ok ? (parsed.value.rules[0]?.exempt ?? []) : [];
  expect(new Date(found?.untilMs ?? 0).toISOString()).toBe(endsAt);
});

test.each<[object, string]>([
  [{ groups: [1], reason: 'r', until: 'never', zone: 'CEST+1' }, 'expected a zone such as Europe/Berlin'],
  [{ reason: 'r', until: 'never' }, 'names no jobs'],
  [{ groups: [1], until: 'never' }, 'missing; expected a reason'],
  [{ groups: [1], reason: 'r' }, 'missing; expected the last day'],
  [{ groups: [1], reason: 'r', until: '2026-02-30' }, "'2026-02-30'; expected the last day"],
  [{ groups: [1], reason: ' ', until: 'never' }, 'expected a reason'],
  [{ groups: [1], reason: 'r', until: 'never', whom: 1 }, 'unknown key'],
  [{ groups: [], reason: 'r', until: 'never' }, 'is empty'],
])('%j is no exemption: %s', (exemption, problem) => {
  const parsed = parsePolicy(policyDocument({ rules: [images({ exempt: [exemption] })] }), 'v');
  expect(parsed.ok ? '' : parsed.problems.map(problemText).join('\n')).toContain(problem);
});
