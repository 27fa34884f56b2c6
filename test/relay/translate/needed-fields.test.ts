import { expect, test } from 'vitest';
import { fieldsWithoutSource } from '../../../relay/translate/alias-sources.ts';
import { NeededFields } from '../../../relay/translate/needed-fields.ts';
import { aPolicy } from '../../policies/documents.ts';
import { breachesOn } from '../../support/relay/alarm-state.ts';
import { range } from '../../support/relay/commit-bench.ts';
import { descOf } from '../../support/relay/desc-of.ts';

const RULES = [
  { id: 'refs', kind: 'image', mode: 'enforce', allow: ['good/**'], match: { refs: ['main'] } },
  {
    id: 'deploys',
    kind: 'image',
    mode: 'enforce',
    allow: ['good/**'],
    match: { environments: ['production'] },
  },
  { id: 'off', kind: 'timeout', mode: 'off', max: '1h' },
];

function watched(withoutSource: readonly string[] = []) {
  const told: (readonly string[])[] = [];
  const fields = new NeededFields({
    policy: aPolicy({ rules: RULES }),
    withoutSource: new Set(withoutSource),
    nowMs: 0,
    changed: (missing) => told.push(missing),
  });
  const jobs = (count: number, parts: object): void => {
    for (const jobId of range(1, count)) fields.note({ jobId, projectId: jobId % 5, ...parts });
  };
  return { fields, told, jobs };
}

const FULL = { ref: 'main', environment: 'production', image: 'good/a' };

test('a field that a rule needs and the descriptors lack is missing from the start; what no rule needs is not', () => {
  const desc = descOf({ id: 'int64', environment: 'string', image: 'string' });
  expect(watched(fieldsWithoutSource(desc)).fields.missing).toEqual(['ref']);
});

test('a field of every job that stops to come is missing after 50 jobs of several projects, until it comes again', () => {
  const { told, jobs } = watched();
  jobs(1, FULL);
  jobs(49, { ...FULL, ref: undefined });
  expect(told).toEqual([]);
  jobs(1, { ...FULL, ref: undefined });
  expect(told).toEqual([['ref']]);
  jobs(1, FULL);
  expect(told).toEqual([['ref'], []]);
});

test('one project alone makes nothing missing, nor does what never came', () => {
  const { told, jobs } = watched();
  jobs(200, { image: 'good/a' });
  jobs(1, FULL);
  jobs(200, { ...FULL, ref: undefined, projectId: 1 });
  expect(told).toEqual([]);
});

test('a field that only some jobs have is missing after a thousand without it', () => {
  const { told, jobs } = watched();
  jobs(1, FULL);
  jobs(999, { ...FULL, environment: undefined });
  expect(told).toEqual([]);
  jobs(1, { ...FULL, environment: undefined });
  expect(told).toEqual([['environment']]);
});

test('a minute with a missing field turns the alarm on', () => {
  expect(breachesOn({ FieldsMissing: [1] })).toContain('FieldsMissing');
  expect(breachesOn({ FieldsMissing: [0] })).not.toContain('FieldsMissing');
});
