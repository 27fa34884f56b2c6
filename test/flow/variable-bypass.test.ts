import { expect, test } from 'vitest';
import { evaluateStateless } from '../../policies/evaluate-stateless.ts';
import { parseAdmissionRequest } from '../../policies/request/parse-request.ts';
import { aDirectory, aPolicy, NOW_MS } from '../policies/documents.ts';
import { type QuestionVariable, set, shapeWith, translated, VARIABLE } from '../support/flow/translated.ts';

/** What a rule says of a job that GitLab asks about, by way of the relay and of the JSON it sends. */
function asked(
  rule: object,
  variables: readonly QuestionVariable[],
  shape?: Parameters<typeof translated>[1],
) {
  const policy = aPolicy({
    rules: [{ id: 'r', mode: 'enforce', class: 'security', on_missing: 'reject', ...rule }],
  });
  const question = variables.length === 0 ? {} : { variables };
  const request = translated(question, shape, policy.variables);
  const parsed = parseAdmissionRequest(JSON.parse(JSON.stringify(request)));
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const { violations } = evaluateStateless(parsed.value, { policy, directory: aDirectory, nowMs: NOW_MS });
  return { request, told: violations.map(({ reason }) => reason) };
}

const codes = (rule: object, variables: readonly QuestionVariable[]): readonly string[] =>
  asked(rule, variables).told.map((reason) => ('why' in reason ? String(reason.why) : reason.code));

const OTHER = set('OTHER', '1');
const FLOOD = Array.from({ length: 300 }, (_, at) => set(`KUBERNETES_X_${at}`, 'x'));
const TAGS = Array.from({ length: 300 }, (_, at) => set(`TEAM_${at}`, 'x'));
const CENTER = { kind: 'variables', require: ['CENTER'], allow: { CENTER: ['47??'] } };

test.each<[string, readonly QuestionVariable[], readonly string[]]>([
  ['is set to what is allowed', [set('CENTER', '4711')], []],
  ['is not set', [OTHER], ['required']],
  ['is empty', [set('CENTER', '')], ['required']],
  ['is set to something else', [set('CENTER', '0815')], ['pattern']],
  ['is replaced by a later one', [set('CENTER', '4711'), set('CENTER', '0815')], ['pattern']],
  ['is emptied by a later one', [set('CENTER', '4711'), set('CENTER', '')], ['required']],
  ['refers to what is allowed', [set('CENTER', '47$N'), set('N', '11')], []],
  ['refers to what is not', [set('CENTER', '$N'), set('N', '0815')], ['pattern']],
  ['only looks like a reference', [set('CENTER', '47$NAME', { raw: true }), set('NAME', '11')], ['pattern']],
  ['is masked', [set('CENTER', '4711', { masked: true })], ['FIELD_MISSING']],
  ['is a file', [set('CENTER', '4711', { file: true })], ['FIELD_MISSING']],
  ['is masked at last', [set('CENTER', '4711'), set('CENTER', '0815', { masked: true })], ['FIELD_MISSING']],
  ['refers to a masked one', [set('CENTER', '47$N'), set('N', '11', { masked: true })], ['FIELD_MISSING']],
  ['refers to what did not come', [set('CENTER', '47$N')], ['FIELD_MISSING']],
  ['is too long', [set('CENTER', '4'.repeat(1_025))], ['FIELD_MISSING']],
  ['comes behind a flood', [...FLOOD, ...TAGS, set('CENTER', '4711')], []],
  ['is called like the mark of another', [set('CENTER', '[set]')], ['pattern']],
])('a required variable that %s', (_, variables, expected) => {
  expect(codes(CENTER, variables)).toEqual(expected);
});

test.each<[string, readonly QuestionVariable[], readonly string[]]>([
  ['is what is denied', [set('TIER', 'prod')], ['denied']],
  ['refers to it', [set('TIER', '$A$B'), set('A', 'pr'), set('B', 'od')], ['denied']],
  ['comes behind a flood', [...FLOOD, ...TAGS, set('TIER', 'prod')], ['denied']],
  ['cannot be told', [set('TIER', 'prod', { masked: true })], ['FIELD_MISSING']],
])('a denied value where the variable %s', (_, variables, expected) => {
  expect(codes({ kind: 'variables', deny: { TIER: ['prod'] } }, variables)).toEqual(expected);
});

test.each<[string, readonly QuestionVariable[], readonly string[]]>([
  ['holds', [set('TIER', 'prod')], ['TIMEOUT_TOO_LONG']],
  ['holds by a reference', [set('TIER', '$T'), set('T', 'prod')], ['TIMEOUT_TOO_LONG']],
  ['holds behind a flood', [...FLOOD, ...TAGS, set('TIER', 'prod')], ['TIMEOUT_TOO_LONG']],
  ['cannot be told', [set('TIER', 'prod', { file: true })], ['FIELD_MISSING']],
  ['does not hold', [set('TIER', 'dev')], []],
])('a condition on a variable that %s', (_, variables, expected) => {
  const rule = { kind: 'timeout', max: '1m', match: { variables: { TIER: ['prod'] } } };
  const policy = aPolicy({ rules: [{ id: 'r', mode: 'enforce', on_missing: 'reject', ...rule }] });
  const request = { ...translated({ variables }, undefined, policy.variables), timeoutSeconds: 120 };
  const { violations } = evaluateStateless(request, { policy, directory: aDirectory, nowMs: NOW_MS });
  expect(violations.map(({ reason }) => reason.code)).toEqual(expected);
});

test('where GitLab sends no variables, they are missing, not unset', () => {
  expect(codes(CENTER, [])).toEqual(['FIELD_MISSING']);
});

test('where the schema cannot say what is masked, no value leaves the relay', () => {
  const { masked: _, ...unmaskable } = VARIABLE;
  const { request, told } = asked(CENTER, [set('CENTER', '4711', { public: true })], shapeWith(unmaskable));
  expect(request).toMatchObject({ variables: {}, hiddenVariables: ['CENTER'] });
  expect(told).toEqual([{ code: 'FIELD_MISSING', field: 'variables.CENTER' }]);
});

test('no value of a variable is in what rules say of it, and of hidden ones none leaves the relay', () => {
  const rule = {
    kind: 'variables',
    allow: { CENTER: ['47??'], HIDDEN: ['x'] },
    deny: { TIER: ['canary-value'] },
  };
  const variables = [
    set('CENTER', 'canary-center'),
    set('TIER', 'canary-value'),
    set('HIDDEN', 'canary-hidden', { masked: true }),
    set('UNNAMED', 'canary-unnamed'),
  ];
  const { request, told } = asked(rule, variables);
  expect(told).toHaveLength(3);
  expect(JSON.stringify(told)).not.toContain('canary');
  expect(JSON.stringify(request)).not.toMatch(/canary-(hidden|unnamed)/);
});
