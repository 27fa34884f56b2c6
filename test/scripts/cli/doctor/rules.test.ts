import { expect, test } from 'vitest';
import { checkRules } from '../../../../scripts/cli/doctor/question.ts';
import { aPolicy, NOW_MS } from '../../../policies/documents.ts';
import { descOf } from '../../../support/relay/desc-of.ts';

const rule = (id: string, more: object): object => ({ id, mode: 'enforce', ...more });
const matching = (id: string, match: object, more: object = {}): object =>
  rule(id, { kind: 'timeout', max: '1h', match, ...more });
const blind = (rules: readonly object[], shape: Parameters<typeof descOf>[0]): readonly string[] =>
  checkRules(aPolicy({ rules }), descOf(shape), NOW_MS).map(({ outcome, detail }) => `${outcome}: ${detail}`);

const ID: Parameters<typeof descOf>[0] = { id: 'int64', timeout: 'int64' };

test('a rule is told that asks for a field no question can have, and what it does instead', () => {
  const rules = [
    rule('images', { kind: 'image', deny: ['*:latest'] }),
    matching('schedules', { sources: ['schedule'] }, { on_missing: 'skip' }),
    matching('people', { users: [7] }, { on_missing: 'reject' }),
    rule('sidecars', { kind: 'services', max: 3 }),
    rule('cpu', { kind: 'capacity', on_missing: 'admit' }),
  ];
  expect(blind(rules, ID)).toEqual([
    'note: images never applies: the schema has no source for image',
    'note: schedules never applies: the schema has no source for pipelineSource',
    'problem: people rejects every job it may be about: the schema has no source for userId',
    'note: sidecars never applies: the schema has no source for services',
    'note: cpu never rejects: the schema has no source for variables',
  ]);
});
