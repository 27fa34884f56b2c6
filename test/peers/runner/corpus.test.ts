import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compare, LIBRARIES, type Question, type RunnersAnswer } from './cases.ts';

interface Case {
  readonly question: Question;
  readonly answer: RunnersAnswer;
}
const corpus = readFileSync(new URL('corpus.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): Case => JSON.parse(line));

test.each(LIBRARIES)('%s: nothing differs from what the library of the runner said', (library) => {
  const cases = corpus.filter(({ question }) => question.library === library);
  expect(cases.length).toBeGreaterThanOrEqual(20);
  expect(cases.filter(({ question, answer }) => compare(question, answer) === 'differs')).toEqual([]);
});
