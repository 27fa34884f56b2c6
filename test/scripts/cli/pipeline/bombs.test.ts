import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expandPipeline } from '../../../../scripts/cli/pipeline/expand-pipeline.ts';
import {
  PipelineError,
  WORK_MAX,
  type WorkBudget,
  workBudget,
} from '../../../../scripts/cli/pipeline/pipeline-error.ts';
import { VALUE_CHARACTERS_MAX } from '../../../../scripts/cli/pipeline/variables.ts';

const CHARACTERS_MAX = 1_600;

/** `line(0)`, `line(1)` … below each other. */
const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');
const times = (count: number, text: string, separator = ', '): string =>
  Array.from({ length: count }, () => text).join(separator);

function outcomeOf(text: string): { readonly error: unknown; readonly budget: WorkBudget } {
  expect(text.length).toBeLessThanOrEqual(CHARACTERS_MAX);
  const folder = mkdtempSync(join(tmpdir(), 'bomb-'));
  const budget = workBudget();
  try {
    writeFileSync(join(folder, '.gitlab-ci.yml'), text);
    expandPipeline(folder, {}, budget);
    return { error: undefined, budget };
  } catch (error) {
    return { error, budget };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('a small file that stands for a huge one ends in an error', () => {
  test.each([
    {
      bomb: 'a matrix of 9^12 jobs',
      text: `j: { script: x, parallel: { matrix: [{ ${Array.from({ length: 12 }, (_, index) => `V${index}: [1, 2, 3, 4, 5, 6, 7, 8, 9]`).join(', ')} }] } }`,
      says: '.gitlab-ci.yml:1: j: parallel comes to 282429536481 jobs; GitLab refuses a pipeline with more than 200',
    },
    {
      bomb: 'variables of 8^18 values, in an image and the name of an environment',
      text: `variables:\n${lines(18, (index) => `  A${index}: ${times(8, `$A${index + 1}`, '')}`)}\n  A18: x\nj: { script: x, image: $A0, environment: $A0 }`,
      says: `come to more than ${VALUE_CHARACTERS_MAX} characters`,
    },
    {
      bomb: 'references of 8^9 values',
      text: `${lines(9, (index) => `.r${index}: [${times(8, `!reference [.r${index + 1}]`)}]`)}\n.r9: [x]\nj: { script: x, tags: !reference [.r0] }`,
      says: 'multiply to more than',
    },
    {
      bomb: 'aliases of 9^11 values',
      text: `.a0: &a0 [${times(8, 'x')}]\n${lines(11, (index) => `.a${index + 1}: &a${index + 1} [${times(9, `*a${index}`)}]`)}\nj: { script: x, tags: *a11 }`,
      says: 'multiply to more than',
    },
    {
      bomb: 'merge keys of 9^11 values',
      text: `.a0: &a0 {a: 1, b: 2}\n${lines(11, (index) => `.a${index + 1}: &a${index + 1} { ${Array.from({ length: 6 }, (_, key) => `k${key}: *a${index}`).join(', ')} }`)}\nj: { script: x, <<: *a11 }`,
      says: 'multiply to more than',
    },
    {
      bomb: 'lists 700 deep',
      text: `j: { script: ${'['.repeat(700)}${']'.repeat(700)} }`,
      says: 'more than 150 mappings and lists inside each other',
    },
    {
      bomb: 'an include of itself',
      text: 'include: [.gitlab-ci.yml, .gitlab-ci.yml, .gitlab-ci.yml]\nj: { script: x }',
      says: '.gitlab-ci.yml → .gitlab-ci.yml: files include each other',
    },
    {
      bomb: '70 jobs of 200, each of 20 services',
      text: `.b: { script: x, parallel: 200, services: [${times(20, 'redis')}] }\n${lines(70, (index) => `j${index}: {extends: .b}`)}`,
      says: 'multiply to more than',
    },
  ])('$bomb', ({ text, says }) => {
    const { error, budget } = outcomeOf(text);
    expect(error).toBeInstanceOf(PipelineError);
    expect(String(error)).toContain(says);
    expect(budget.used).toBeLessThanOrEqual(WORK_MAX);
  });
});

describe('a small file that makes a reader search for long is read with little work', () => {
  test.each([
    {
      what: 'extends of 8 parents on 10 levels',
      text: `${lines(10, (index) => `.e${index}: {extends: [${times(8, `.e${index + 1}`)}]}`)}\n.e10: {script: x}\nj: {extends: .e0}`,
    },
    {
      what: 'rules of 35 conditions that nobody can tell',
      text: `j:\n  script: x\n  rules:\n${lines(35, (index) => `    - { if: "$A${index} && $B${index}", when: never }`)}\n    - { if: $C }`,
    },
    {
      what: 'an expression of nested brackets',
      text: `j: { script: x, rules: [{ if: '${'('.repeat(90)}$A${')'.repeat(90)}' }] }`,
    },
    {
      what: 'a regular expression that backtracks',
      text: `variables: { A: ${'a'.repeat(900)}b }\nj: { script: x, rules: [{ if: "$A =~ /^(a+)+$/" }, { if: "$A =~ /(x+x+)+y/" }] }`,
    },
    {
      what: 'a path of many stars',
      text: `include: ['${times(60, '**/*', '/')}.yml']\nj: { script: x, rules: [{ exists: ['${times(30, '**/*', '/')}.go'] }] }`,
    },
    { what: 'a timeout of many digits', text: `j: { script: x, timeout: "${'1'.repeat(1_400)}" }` },
  ])('$what', ({ text }) => {
    const { error, budget } = outcomeOf(text);
    expect(error === undefined || (error instanceof PipelineError && error.code === 'refused')).toBe(true);
    expect(budget.used).toBeLessThan(WORK_MAX / 50);
  });
});
