import { expect, test } from 'vitest';
import { readParameterValue } from '../../../functions/ssm-limits/parameter-value.ts';
import { directoryOf } from '../../../policies/place/directory.ts';
import { aPolicy } from '../../policies/documents.ts';

const context = {
  policy: aPolicy(),
  directory: directoryOf([{ id: 101, path: 'Acme/payments', personal: false }]),
  live: { fiscal_start: '04-06' },
};
const read = (value: string, type = 'String', group = 101) =>
  readParameterValue(group, { type, value }, context);
const LIMITS = 'limits: [{ money: 5, per: month }]';

test.each([
  [
    'a typo in the id',
    `path: acme/payments\n${LIMITS}`,
    'String',
    102,
    /path: group 102 is not in the directory/,
  ],
  [
    'a path of another group',
    `path: acme/other\n${LIMITS}`,
    'String',
    101,
    /path: 'acme\/other'; expected Acme\/payments/,
  ],
  ['no path', LIMITS, 'String', 101, /path: missing/],
  [
    'no limits, which is not the same as none',
    'path: acme/payments',
    'String',
    101,
    /\[\] takes all of them out/,
  ],
  ['a secret', `path: acme/payments\n${LIMITS}`, 'SecureString', 101, /SecureString; expected a String/],
  ['a list', 'a,b', 'StringList', 101, /StringList; expected a String/],
  [
    'more than four kilobytes',
    `# ${'x'.repeat(4_096)}\n`,
    'String',
    101,
    /has 4099 bytes; expected at most 4096/,
  ],
  ['no YAML', 'path: [', 'String', 101, /is no YAML/],
  ['a key twice', `path: a\npath: acme/payments\n${LIMITS}`, 'String', 101, /is no YAML/],
  [
    'a text that unfolds',
    `path: acme/payments\nlimits: [&a { money: 5, per: month }, *a]`,
    'String',
    101,
    /is no YAML/,
  ],
  ['no object', '500', 'String', 101, /expected an object with path, limits/],
  [
    'a subject of its own',
    'path: acme/payments\nlimits: [{ on: { group: 7 }, jobs: 3 }]',
    'String',
    101,
    /limits\[0\]\.on/,
  ],
  [
    'a wrong number',
    'path: acme/payments\nlimits: [{ jobs: 3 }, { money: 5,5, per: month }]',
    'String',
    101,
    /limits\[1\]/,
  ],
  [
    'two limits of one id',
    'path: acme/payments\nlimits: [{ jobs: 3 }, { jobs: 4 }]',
    'String',
    101,
    /second limit 'jobs-now'/,
  ],
  [
    'a word for yes',
    `path: acme/payments\nconfirm: yes\n${LIMITS}`,
    'String',
    101,
    /confirm: 'yes'; expected true or false/,
  ],
])('%s is refused with the place and the remedy', (_, value, type, group, problem) => {
  const refused = read(value, type, group);
  expect(refused.ok ? [] : refused.problems.join('\n')).toMatch(problem);
});

test('limits are read with the defaults of the live document, the path in any case', () => {
  const value = read(
    'path: ACME/Payments\nlimits:\n  - { money: 0.5, per: year, until: 2026-12-31 }\nconfirm: true',
  );
  expect(value).toMatchObject({
    ok: true,
    wanted: {
      confirmed: true,
      limits: [
        {
          entry: { until: '2026-12-31' },
          limit: { id: 'money-year', fiscalStart: '04-06', amount: 500_000 },
        },
      ],
    },
  });
});

test('no limits at all are valid when they are written out', () => {
  expect(read('path: acme/payments\nlimits: []')).toEqual({
    ok: true,
    wanted: { limits: [], confirmed: false },
  });
});
