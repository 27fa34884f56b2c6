import { expect, test } from 'vitest';
import {
  type CsvDialect,
  csvProblemText,
  PLAIN_CSV,
  readThresholdsText,
} from '../../../../../functions/core/limits/csv/columns.ts';
import { exportLimits, totalChanges } from '../../../../../functions/core/limits/csv/export-limits.ts';
import { importLimits } from '../../../../../functions/core/limits/csv/import-limits.ts';
import { CSV_BYTES_MAX, readRows } from '../../../../../functions/core/limits/csv/read-rows.ts';
import type { LimitsDocument } from '../../../../../functions/core/limits/limit-set.ts';
import { aDirectory, aPolicy, NOW_MS, someLimits } from '../../../../policies/documents.ts';

const GERMAN: CsvDialect = { delimiter: ';', decimal: ',' };
const DOCUMENT: LimitsDocument = {
  limits: [
    { on: { group: 101 }, money: '7.50', per: 'month', soft: '80%', owner: 'payments', cost_center: '0042' },
    { on: { group: 102 }, jobs: 7 },
    { on: { runner_class: 'large' }, jobs: 2 },
  ],
  grants: [
    {
      on: { group: 101 },
      id: 'g-1',
      limit: 'money-month',
      amount: 1,
      from: '2026-11-01',
      until: '2026-11-30',
      reason: 'x',
    },
  ],
  rollout: [{ group: 100, cost: 'warn' }],
};

interface Asked {
  readonly dialect?: CsvDialect;
  readonly prune?: boolean;
}

interface Come {
  readonly problems: readonly string[];
  readonly version?: string | undefined;
  readonly document?: LimitsDocument;
  readonly unnamed?: readonly object[];
  readonly understood?: readonly object[];
}

/** The problems as texts, or what came of it. */
function read(file: string | Uint8Array, { dialect = PLAIN_CSV, prune = false }: Asked = {}): Come {
  const bytes = typeof file === 'string' ? new TextEncoder().encode(file) : file;
  const rows = readRows(bytes, dialect);
  if (!rows.ok) return { problems: rows.problems.map(csvProblemText) };
  const options = { document: DOCUMENT, policy: aPolicy(), directory: aDirectory, dialect, prune };
  const done = importLimits(rows.rows, options);
  return done.ok
    ? { problems: [], version: rows.version, ...done }
    : { problems: done.problems.map(csvProblemText) };
}

const exported = (dialect: CsvDialect = PLAIN_CSV): string =>
  exportLimits(DOCUMENT, { version: 'set-1', directory: aDirectory, dialect });
const HEAD = 'group_id,unit,limit,period';

test('the export is what FEATURES promise, and keeps spreadsheets from spoiling it', () => {
  expect(exported().split('\r\n').slice(0, 3)).toEqual([
    'group_path,group_id,unit,limit,last_year_mean,last_year_most,forecast,period,timezone,soft_pct,mode,owner,cost_center,valid_from,valid_until,reason,subject,limit_id,soft,thresholds,grace,carry,overdraft,when_unreachable,wait,cohort,borrow,lend,fiscal_start,contact,version',
    ',,jobs,2,,,,,,,,,,,,,runner-class/large,jobs-now,,,,,,,,,,,,,set-1',
    "acme/payments,101,money,7.50,,,,month,,80,,payments,'0042,,,,,money-month,,,,,,,,,,,,,set-1",
  ]);
});

test('decimal comma and semicolon are found, and what is still two things is asked about', () => {
  const german = exported(GERMAN);
  expect(german).toContain('acme/payments;101;money;7,50;;;;month');
  expect(read(german, { dialect: GERMAN })).toMatchObject({ problems: [], document: DOCUMENT });
  expect(read(german)).toMatchObject({ problems: [], document: DOCUMENT });
  expect(read(`${HEAD}\n101,money,"1,000",month`).problems).toEqual([
    "line 2, limit: '1,000' may be 1000 or 1.0: write 1000, or 1.0",
  ]);
  // Whoever says that decimals have a comma says what a point is.
  const grouped = read(`${HEAD.replaceAll(',', ';')}\n101;money;1.000;month`, { dialect: GERMAN });
  expect(grouped.understood).toMatchObject([{ line: 2, column: 'limit', written: '1.000', read: '1000' }]);
});

test('numbers and days are read as people write them, and it is told how', () => {
  const head = 'group_id,unit,limit,period,valid_until';
  const one = (cells: string) => read(`${head}\n${cells}`);
  const limitOf = (cells: string): unknown =>
    (one(cells).document?.limits as { money?: unknown }[] | undefined)?.at(-1);
  expect(limitOf('102,money,"9,50",month,31.12.2026')).toMatchObject({ money: '9.50', until: '2026-12-31' });
  expect(limitOf('102,money,12 EUR,month,31.12.2026')).toMatchObject({ money: '12', until: '2026-12-31' });
  expect(one('101,money,+20%,month,').document?.limits).toContainEqual(
    expect.objectContaining({ on: { group: 101 }, money: '9' }),
  );
  expect(one('102,money,"9,50",month,31.12.2026').understood).toEqual([
    { line: 2, column: 'limit', written: '9,50', read: '9.50' },
    { line: 2, column: 'valid_until', written: '31.12.2026', read: '2026-12-31' },
  ]);
  expect(one('102,money,12 USD,month,31.02.2026').problems).toEqual([
    "line 2, limit: '12 USD' is in USD, and all money here is in EUR: convert it, and write it in EUR",
    "line 2, valid_until: '31.02.2026' is no day of the calendar: write it like 2026-12-31",
  ]);
  expect(one('102,jobs,12 EUR,,').problems).toEqual([
    "line 2, limit: '12 EUR' is money, and this limit counts something else",
  ]);
});

test('a file in Windows-1252 is read, and it is told', () => {
  const file = 'group_id;unit;limit;period;owner\r\n102;money;9,50;month;J\u00fcrgen';
  const owned = expect.objectContaining({ on: { group: 102 }, money: '9.50', owner: 'J\u00fcrgen' });
  for (const encoding of ['utf8', 'latin1'] as const)
    expect(read(Buffer.from(file, encoding)).document?.limits).toContainEqual(owned);
  const { notes } = readRows(Buffer.from(file, 'latin1'), PLAIN_CSV) as { notes?: unknown };
  expect(notes).toEqual(['is not UTF-8: its letters are read as Windows-1252']);
});

test('a byte order mark, other line breaks and empty rows change nothing', () => {
  const file = `\ufeff${exported().replaceAll('\r\n', '\n')},,,,,,,,,,,,,,,,,,,,,,\n\n`;
  expect(read(file)).toMatchObject({ problems: [], document: DOCUMENT, version: 'set-1' });
});

test('what a spreadsheet writes differently is no edit, and what is edited stays in its place', () => {
  const { document } = read(exported().replace('7.50', '7.5').replace(',jobs,7,', ',jobs,9,'));
  expect(document).toEqual({
    ...DOCUMENT,
    limits: [DOCUMENT.limits, []]
      .flat()
      .map((entry, index) => (index === 1 ? { on: { group: 102 }, jobs: '9' } : entry)),
  });
});

test('a column that is not there changes nothing, an empty cell takes its field out', () => {
  const limitsOf = (file: string): unknown => read(file).document?.limits;
  expect(limitsOf(`${HEAD}\n101,money,8,month`)).toMatchObject([
    { money: '8', soft: '80%', owner: 'payments' },
    {},
    {},
  ]);
  const [first] = limitsOf(`${HEAD},owner,soft_pct\n101,money,7.5,month,,`) as object[];
  expect(first).toEqual({ on: { group: 101 }, money: '7.50', per: 'month', cost_center: '0042' });
});

test('limits the file does not name stay; with prune they go, but not from under a grant', () => {
  const one = `${HEAD}\n101,money,7.50,month`;
  expect(read(one)).toMatchObject({
    document: DOCUMENT,
    unnamed: [
      { subject: 'group/102', limit: 'jobs-now' },
      { subject: 'runner-class/large', limit: 'jobs-now' },
    ],
  });
  expect(read(one, { prune: true }).document?.limits).toHaveLength(1);
  expect(read(`${HEAD}\n102,jobs,7,`, { prune: true }).problems).toEqual([
    expect.stringMatching(/^file: grants\[0\].limit: 'money-month'.*\(of the limits as a whole\)$/),
  ]);
});

test('groups are found by path, ids decide, and a path that is somebody else’s is refused', () => {
  const head = 'group_path,group_id,unit,limit,period';
  expect(read(`${head}\nACME/platform,,minutes,5,day`).document?.limits).toContainEqual({
    on: { group: 102 },
    minutes: '5',
    per: 'day',
  });
  // Renamed since the export.
  expect(read(`${head}\nacme/old-name,102,minutes,5,day`).problems).toEqual([]);
  expect(
    read(`${head}\nacme/platform,101,money,5,month\nnobody,,money,5,month\n,,money,5,month`).problems,
  ).toEqual([
    "line 2, group_path: 'acme/platform' is group/102, but the row is about group/101",
    "line 3, group_path: 'nobody': no group has this path; correct it, or give group_id",
    'line 4, group_id: is empty; expected whose limit it is',
  ]);
});

const SUBJECTS = 'subject,limit_id,unit,limit,period,soft_pct,soft,timezone';

test.each<[string, string, Asked?]>([
  ['', 'file: is empty; expected a header and a row for each limit'],
  [`${HEAD},colour\n`, 'line 1, colour: is no column; expected group_path'],
  [`${HEAD},unit\n`, 'line 1, unit: is there twice; expected each column once'],
  ['group_id,unit\n', 'line 1, limit: is missing in the header'],
  [`${HEAD}\n101,money,5`, 'line 2: has 3 cells and the header 4; does a cell lack its quotes?'],
  [`${HEAD},\n101,money,5,month,x`, "line 2: 'x' stands in a column without a name"],
  [`${HEAD}\n101,money,5,"month`, 'line 2: has a quote that does not end'],
  [`${HEAD},version\n101,money,5,month,a\n102,jobs,5,,b`, "line 3, version: 'b'; line 2 has 'a'"],
  [
    `${HEAD}\n101,money,5,month\n101,money,6,month`,
    "line 3, limit_id: 'money-month' of group/101 is there twice; line 2 has it, too",
  ],
  [`${HEAD}\n101,money,,month`, 'line 2, limit: is empty; write a number'],
  [`${HEAD}\n101,money,5,fortnight`, "line 2, period: 'fortnight'; expected a period"],
  [`${HEAD}\n101x,money,5,month`, "line 2, group_id: '101x'; expected GitLab's id of the group"],
  [`${SUBJECTS}\nteam/7,,jobs,5,,,,`, "line 2, subject: 'team/7'; expected instance, group/101"],
  [`${SUBJECTS},group_id\nproject/7,,jobs,5,,,,,101`, "line 2, subject: 'project/7', but group_id is 101"],
  [
    `${SUBJECTS}\nrunner-class/huge,,jobs,5,,,,`,
    "line 2, subject: 'huge'; expected a runner class of the policy",
  ],
  [
    `${SUBJECTS}\ngroup/101,money-month,minutes,5,month,,,`,
    "line 2, unit: 'minutes', but money-month counts money",
  ],
  [
    `${SUBJECTS}\ngroup/101,money-month,money,5,week,,,`,
    "line 2, period: 'week', but money-month is named by its period",
  ],
  [
    `${SUBJECTS}\ngroup/102,,money,5,month,80,4,`,
    'line 2, soft_pct: soft_pct is 80 and soft is 4; leave one empty',
  ],
  [`${SUBJECTS}\ngroup/102,,money,5,month,,,Mars/Base`, "line 2, timezone: 'Mars/Base'; expected a zone"],
  [
    `${HEAD},valid_from\n102,money,5,month,12/31/26`,
    "line 2, valid_from: '12/31/26'; expected a day such as 2026-12-31",
  ],
])('%j is refused: %s', (file, message, asked) => {
  const { problems } = read(file, asked);
  expect(problems[0]).toContain(message);
});

test('a file that is no text, or too large, is not read', () => {
  expect(read(Uint8Array.of(0x7a, 0x81, 0x01)).problems[0]).toMatch(
    /^file: has no letters that can be read; save it as "CSV UTF-8"/,
  );
  expect(read(new Uint8Array(CSV_BYTES_MAX + 1)).problems[0]).toMatch(
    /^file: has \d+ bytes; expected at most/,
  );
});

test('limits that follow each other are summed date by date, never together', () => {
  const year = (group: number, money: number, next: number) => [
    { on: { group }, id: 'this', money, per: 'month', until: '2026-12-31', zone: 'Europe/Berlin' },
    { on: { group }, id: 'next', money: next, per: 'month', from: '2027-01-01', zone: 'Europe/Berlin' },
  ];
  const over = { on: { group: 102 }, id: 'old', money: 7, per: 'month', until: '2025-12-31' };
  const before = someLimits({ limits: [...year(100, 100, 100), ...year(101, 10, 10), over] });
  const after = someLimits({ limits: [...year(100, 100, 120), ...year(101, 10, 15), over] });
  expect(
    totalChanges(before, after, NOW_MS).map(({ since, ...total }) => [
      since ?? 'now',
      [total.before.limits, Number(total.before.amount) / 1_000_000],
      [total.after.limits, Number(total.after.amount) / 1_000_000],
    ]),
  ).toEqual([
    ['now', [2, 110], [2, 110]],
    ['2026-12-31T23:00:00.000Z', [2, 110], [2, 135]],
  ]);
});

test('a cap is a row on its subject, in and out again, beside the path of its place', () => {
  const { document = {}, problems } = read(
    'subject,group_path,unit,limit,period\r\ngroup/101/each/pipeline,acme/payments,money,5,once',
  );
  expect(problems).toEqual([]);
  expect(document.limits).toContainEqual({ on: { each: 'pipeline', group: 101 }, money: '5', per: 'once' });
  const out = exportLimits(document, { version: 'set-2', directory: aDirectory });
  expect(out).toMatch(/^acme\/payments,,money,5,,,,once,.*,group\/101\/each\/pipeline,money-once,/m);
  expect(
    read('subject,group_path,unit,limit,period\r\ngroup/101/each/pipeline,acme,money,5,once').problems,
    'a path that is another group’s',
  ).toHaveLength(1);
});

test.each([
  ['50 75 90', [50, 75, 90]],
  ['80 forecast 100', [80, 'forecast 100']],
  ['none', []],
  ['', undefined],
  ['often 50', ['often', 50]],
])('%j in a cell is %j', (text, thresholds) => {
  expect(readThresholdsText(text)).toEqual(thresholds);
});
