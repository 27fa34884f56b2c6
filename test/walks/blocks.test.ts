import { expect, test } from 'vitest';
import { blocksOf, missingLine, shownBy, stepsOf } from './blocks.ts';

const DOCUMENT = `
<!-- not walked, \`npm start\`: needs a router -->
\`\`\`sh
npx tollgate check a \\
  --group b   # exit 2: rejected
npm start -- --router x
\`\`\`

- In a list:

  <!-- not walked: needs AWS -->
  \`\`\`sh
  aws s3 ls
  \`\`\`

<!-- output: npx tollgate check -->
\`\`\`
first
…
last
\`\`\`
`;

test('a document’s commands are walked, but for those that a mark leaves out', () => {
  const blocks = blocksOf(DOCUMENT);
  expect(blocks.map(stepsOf)).toEqual([[{ command: 'npx tollgate check a --group b', exit: 2 }], [], []]);
  expect(blocks.map(shownBy)).toEqual([undefined, undefined, 'npx tollgate check']);
});

test.each([
  ['first\nmore\nlast\n', undefined],
  ['begin\nfirst\nlast\n', undefined],
  ['first\nmore\n', 'last'],
  ['last\nfirst\n', 'last'],
])('what is shown is compared with what was printed: %j', (printed, missing) => {
  expect(missingLine(['first', '…', 'last'], printed)).toBe(missing);
  expect(missingLine([], printed)).toBeDefined();
});

test('days and the id of the policy may differ, amounts may not', () => {
  const shown = ['policy 68b3ee8978e8, 28 Nov 2026 03:35 UTC: 9.33 EUR for November 2026'];
  const printed = (amount: string) =>
    `policy 1319e1b8eae6, 3 Jan 2027 10:00 UTC: ${amount} EUR for January 2027`;
  expect(missingLine(shown, printed('9.33'))).toBeUndefined();
  expect(missingLine(shown, printed('9.34'))).toBe(shown[0]);
});
