import { expect, test } from 'vitest';
import {
  createSchemaProof,
  type Evidence,
  INITIAL,
  JOBS_MIN,
  JOBS_MIN_ALONE,
  noted,
  RECENT,
  type SchemaState,
  type SchemaTrust,
  SUSPECT_AT,
  trustIn,
} from '../../../relay/wire/schema-proof.ts';
import { range } from '../../support/relay/commit-bench.ts';

const explained = (jobId: number, project: string | undefined = `p${jobId % 3}`): Evidence => ({
  kind: 'explained',
  jobId,
  project,
});
const CONTRADICTED: Evidence = { kind: 'contradicted' };
const REFUSED: Evidence = { kind: 'refused' };
const times = <T>(count: number, of: (index: number) => T): T[] => range(1, count).map(of);

function standingAfter(trust: SchemaTrust, evidence: readonly Evidence[]): SchemaState {
  const proof = createSchemaProof(trust, () => {});
  for (const each of evidence) proof.note(each);
  return proof.standing;
}

test.each<[string, SchemaTrust, readonly Evidence[], SchemaState]>([
  ['nothing yet', 'earned', [], 'unproven'],
  ['one job too few', 'earned', times(JOBS_MIN - 1, (job) => explained(job)), 'unproven'],
  ['enough jobs of three projects', 'earned', times(JOBS_MIN, (job) => explained(job)), 'proven'],
  [
    'enough of two projects only',
    'earned',
    times(JOBS_MIN, (job) => explained(job, `p${job % 2}`)),
    'unproven',
  ],
  [
    'one project, one job too few',
    'earned',
    times(JOBS_MIN_ALONE - 1, (job) => explained(job, 'p')),
    'unproven',
  ],
  ['one project, more jobs', 'earned', times(JOBS_MIN_ALONE, (job) => explained(job, 'p')), 'proven'],
  [
    'no project named, more jobs',
    'earned',
    times(JOBS_MIN_ALONE, (job) => ({ kind: 'explained', jobId: job, project: undefined })),
    'proven',
  ],
  ['one job asked about for ever', 'earned', times(200, (time) => explained(1, `p${time % 3}`)), 'unproven'],
  [
    'a contradiction begins the proof anew',
    'earned',
    [...times(JOBS_MIN - 1, (job) => explained(job)), CONTRADICTED, explained(99)],
    'unproven',
  ],
  ['a refused admission', 'earned', [REFUSED], 'suspect'],
  ['given', 'given', [], 'proven'],
  [
    'the placeholder, whatever it explains',
    'placeholder',
    times(500, (job) => explained(job)),
    'placeholder',
  ],
  ['an odd contradiction', 'given', [...times(SUSPECT_AT - 1, () => CONTRADICTED), explained(1)], 'proven'],
  ['most of the recent ones', 'given', times(SUSPECT_AT, () => CONTRADICTED), 'suspect'],
  [
    'half of the recent ones for ever',
    'given',
    times(100, (time) => (time % 2 === 0 ? CONTRADICTED : explained(time))),
    'proven',
  ],
  [
    'old contradictions among new good ones',
    'given',
    [
      ...times(SUSPECT_AT - 1, () => CONTRADICTED),
      ...times(RECENT, (job) => explained(job)),
      ...times(SUSPECT_AT - 1, () => CONTRADICTED),
    ],
    'proven',
  ],
  ['a refused admission of a schema that was proven', 'given', [explained(1), REFUSED], 'suspect'],
  [
    'fresh good questions after a refused admission',
    'given',
    [REFUSED, ...times(JOBS_MIN, (job) => explained(job))],
    'proven',
  ],
  [
    'good questions whose admissions go on being refused',
    'given',
    times(100, (time) => (time % 2 === 0 ? REFUSED : explained(time))),
    'suspect',
  ],
  ['a placeholder, whatever is refused', 'placeholder', [REFUSED], 'placeholder'],
  [
    'suspect is proven again by fresh good questions of several projects',
    'given',
    [...times(SUSPECT_AT, () => CONTRADICTED), ...times(JOBS_MIN, (job) => explained(job))],
    'proven',
  ],
  [
    'and not while every other one contradicts',
    'given',
    [
      ...times(SUSPECT_AT, () => CONTRADICTED),
      ...times(100, (time) => (time % 3 === 0 ? CONTRADICTED : explained(time))),
    ],
    'suspect',
  ],
])('%s: from %s', (_, trust, evidence, standing) => {
  expect(standingAfter(trust, evidence)).toBe(standing);
});

test.each(['earned', 'given'] as const)('what it remembers is bounded, whatever comes: %s', (trust) => {
  let state = INITIAL[trust];
  for (const time of range(1, 1_000)) {
    state = noted(state, time % 7 === 0 ? CONTRADICTED : explained(time, 'p'));
    expect(state.jobs.size).toBeLessThan(JOBS_MIN_ALONE);
    expect(state.projects.size).toBeLessThanOrEqual(3);
    expect(state.recent.length).toBeLessThanOrEqual(RECENT);
  }
});

test('every change is told once', () => {
  const told: SchemaState[] = [];
  const proof = createSchemaProof('earned', (standing) => told.push(standing));
  for (const job of range(1, 50)) proof.note(explained(job));
  for (const _ of range(1, 50)) proof.note(CONTRADICTED);
  for (const job of range(51, 100)) proof.note(explained(job));
  expect(told).toEqual(['proven', 'suspect', 'proven']);
});

test('the placeholder is trusted at no router but one of this machine, and no setting gives a schema', () => {
  expect(trustIn({ placeholder: true }, false)).toBe('placeholder');
  expect(trustIn({ placeholder: true }, true)).toBe('earned');
  expect(trustIn({ placeholder: false }, false)).toBe('earned');
});
