import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { timeoutEstimator } from '../../policies/estimate.ts';
import { evaluate } from '../../policies/evaluate.ts';
import { readDirectory, readLimits, readPolicy } from '../../scripts/policy/read-documents.ts';
import { DocumentError } from '../../scripts/terminal/command.ts';
import { NOW_MS } from './documents.ts';

const folder = mkdtempSync(join(tmpdir(), 'documents-'));
afterAll(() => rmSync(folder, { recursive: true }));

const shipped = (name: string): string => fileURLToPath(new URL(`../../policies/${name}`, import.meta.url));
const policy = readPolicy(shipped('policy.yaml'));

/** The problems of a file with this text, without the folder. */
function problemsOf(text: string, read: (file: string) => unknown): readonly string[] {
  const file = join(folder, 'f.yaml');
  writeFileSync(file, text);
  try {
    read(file);
    return [];
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return error.problems.map((problem) => problem.replace(`${folder}/`, ''));
  }
}

test('the documents that are shipped are valid, and fit together', () => {
  const directory = readDirectory(shipped('directory.yaml'));
  const limits = readLimits(shipped('limits.yaml'), policy, directory);
  const ask = { policy, limits, directory, estimator: timeoutEstimator, nowMs: NOW_MS };
  for (const project of directory.projectById.values()) {
    const { unknownGroup, errors, claims } = evaluate(
      { jobId: 1, projectId: project.id, namespaceId: project.groupId, image: 'golang:1.26' },
      ask,
    );
    expect([unknownGroup, errors]).toEqual([false, []]);
    expect(claims.length).toBeGreaterThan(0);
  }
  const subjects = [...limits.bySubject.keys()];
  for (const subject of subjects) {
    const [kind, id] = subject.split('/');
    if (kind === 'group') expect(directory.groupById.has(Number(id)), subject).toBe(true);
    if (kind === 'project') expect(directory.projectById.has(Number(id)), subject).toBe(true);
  }
});

test('problems come with file, line and column of the value, all at once', () => {
  const text = [
    'limits:',
    '  - on: instance',
    '    money: -5',
    '    per: month',
    '  - { on: { group: 1 }, jobs: 5, moed: warn }',
    'rolout: []',
    '',
  ].join('\n');
  expect(problemsOf(text, (file) => readLimits(file, policy))).toEqual([
    'f.yaml:6:1 rolout: unknown key; did you mean rollout?',
    "f.yaml:3:12 limits[0].money: '-5'; expected a decimal number such as 500 or 500.25, not below 0; 0 blocks, 'unlimited' lifts the limit",
    'f.yaml:5:34 limits[1].moed: unknown key; did you mean mode?',
  ]);
});

test.each([
  ['a key that comes twice', 'groups: []\ngroups: []\n', 'f.yaml:2:1 Map keys must be unique'],
  ['text that is no YAML', 'groups: [\n', 'f.yaml:2:1 '],
  ['an empty file', '', 'f.yaml:1:1 document: missing; expected an object'],
])('%s is refused with its place', (_, text, problem) => {
  const [first = ''] = problemsOf(text, readDirectory);
  expect(first.slice(0, problem.length)).toBe(problem);
});

test('money is read as it is written, beyond what a float can hold', () => {
  const file = join(folder, 'money.yaml');
  writeFileSync(
    file,
    'limits:\n  - { on: instance, money: 9007199254.740991, per: month }\n  - { on: { user: 1 }, money: 0.1, per: month }\n',
  );
  const limits = readLimits(file, policy);
  expect(limits.bySubject.get('instance')?.[0]?.amount).toBe(Number.MAX_SAFE_INTEGER);
  expect(limits.bySubject.get('user/1')?.[0]?.amount).toBe(100_000);
  const exponent = 'limits:\n  - { on: instance, money: 1e3, per: month }\n';
  expect(problemsOf(exponent, (each) => readLimits(each, policy))).toHaveLength(1);
});

test('the version of a document is that of its content, not of its layout', () => {
  const version = (text: string): string => {
    const file = join(folder, 'v.yaml');
    writeFileSync(file, text);
    return readLimits(file, policy).version;
  };
  const one = version('limits:\n  - { on: instance, jobs: 5 }\nrollout: []\n');
  expect(one).toMatch(/^[0-9a-f]{12}$/);
  expect(version('# moved about\nrollout: []\nlimits: [{ jobs: 5, on: instance }]\n')).toBe(one);
  expect(version('limits:\n  - { on: instance, jobs: 6 }\nrollout: []\n')).not.toBe(one);
});
