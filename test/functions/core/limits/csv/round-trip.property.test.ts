import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CsvDialect } from '../../../../../functions/core/limits/csv/columns.ts';
import { exportLimits } from '../../../../../functions/core/limits/csv/export-limits.ts';
import { importLimits } from '../../../../../functions/core/limits/csv/import-limits.ts';
import { cellOfText, textOfCell } from '../../../../../functions/core/limits/csv/read-cells.ts';
import { readRows } from '../../../../../functions/core/limits/csv/read-rows.ts';
import type { LimitsDocument } from '../../../../../functions/core/limits/limit-set.ts';
import { parseLimits } from '../../../../../policies/document/parse-limits.ts';
import type { LimitSet } from '../../../../../policies/limits/limits.ts';
import { aDirectory, aPolicy } from '../../../../policies/documents.ts';
import { propertyRuns } from '../../../../support/property-runs.ts';

/** Texts that spreadsheets, quotes and apostrophes are known to spoil, and any others. */
const SPOILT =
  '=1+1·+49 30·-x·@me·\tx·\rx·\'·\'\'·\'tis·\'=1·0042·2026-11-01·1E5·TRUE· =HYPERLINK("x";"y")·a "b"·a,b;c·two\nlines· x ·\u{feff}bom·Zoë 💶·\u00a0=1·50%·١٢';
const nasty = fc.oneof(
  fc.constantFrom(...SPOILT.split('·')),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
);
const text = nasty.filter((each) => each.trim() !== '' && !each.includes('\r\n'));
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const common = {
  mode: maybe(fc.constantFrom('off', 'shadow', 'warn', 'enforce')),
  owner: maybe(text),
  contact: maybe(text),
  cost_center: maybe(text),
  reason: maybe(text),
  from: maybe(fc.constantFrom('2026-01-01', '2026-01-01T08:00+01:00')),
  until: maybe(fc.constantFrom('2026-12-31', '2026-12-31T18:00Z')),
  id: maybe(fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,9}$/)),
};
const decimal = fc
  .tuple(fc.integer({ min: 1, max: 99_999_999 }), fc.integer({ min: 0, max: 999_999 }))
  .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(6, '0')}`);

const money = fc.record({
  money: fc.oneof(decimal, fc.integer({ min: 1, max: 1e9 }), fc.constantFrom('0007.50', '9007199254.740991')),
  per: fc.constantFrom('day', 'month', 'year'),
  zone: maybe(fc.constantFrom('UTC', 'Europe/Berlin')),
  soft: maybe(fc.constantFrom('80%', '12.5%', '0.5', 1)),
  grace: maybe(fc.constantFrom('10%', 1, '0.25')),
  carry: maybe(fc.constantFrom({ max: '20%' }, { max: 1 })),
  overdraft: maybe(fc.constantFrom('absorb', 'carry', 'alert')),
  thresholds: maybe(fc.constantFrom([], [50], [90, 50], [50, 75, 90, 100])),
  ...common,
});
const open = fc.record({
  money: fc.constantFrom('unlimited', 0, '0'),
  per: fc.constantFrom('minute', 'month', 'once'),
  ...common,
});
const wait = maybe(fc.constantFrom('20s', 'up to 5s', '1m'));
const atOnce = fc.oneof(
  fc.record({ jobs: fc.constantFrom(0, 20, '007', 'unlimited'), wait, ...common }),
  fc.record({ memory: fc.constantFrom('256Gi', '64G', '1.5Gi', 1024, '1e9'), wait, ...common }),
  fc.record({ cpu: fc.constantFrom('500m', 0.5, 64, '1.5'), wait, ...common }),
);
const lent = fc
  .record({
    jobs: fc.constantFrom(20, '030'),
    cohort: fc.constantFrom('ci', 'gpu'),
    borrow: maybe(fc.constantFrom(0, 5, '50%', '12.5%')),
    lend: maybe(fc.constantFrom(0, 7, '100%')),
    ...common,
  })
  .map(withoutAbsent);
const limit = fc.oneof(money, open, atOnce).map(withoutAbsent);

const on = fc.constantFrom<unknown>(
  'instance',
  { group: 100 },
  { group: 101 },
  { project: 1 },
  { runner_class: 'large' },
  { runner: 41 },
  { user: 5 },
);
const idOf = (entry: Readonly<Record<string, unknown>>): string =>
  String(
    entry.id ?? `${['money', 'jobs', 'cpu', 'memory'].find((key) => key in entry)}-${entry.per ?? 'now'}`,
  );

/** Documents that are valid but for what only the whole of limits.yaml can say. */
const documents: fc.Arbitrary<LimitsDocument> = fc.record({
  limits: fc.uniqueArray(
    fc
      .oneof(fc.tuple(on, limit), fc.tuple(fc.constantFrom({ group: 100 }, { group: 101 }), lent))
      .map(([whose, entry]) => ({ on: whose, ...entry })),
    { maxLength: 8, selector: (entry) => `${JSON.stringify(entry.on)} ${idOf(entry)}` },
  ),
  personal_default: fc.uniqueArray(fc.oneof(open, atOnce).map(withoutAbsent), {
    maxLength: 2,
    selector: idOf,
  }),
  group_defaults: fc.uniqueArray(
    fc
      .tuple(fc.constantFrom('acme/team-*', '*/team-?', '=x'), fc.oneof(open, atOnce).map(withoutAbsent))
      .map(([groups, entry]) => ({ groups, ...entry })),
    { maxLength: 2, selector: (entry) => `${entry.groups} ${idOf(entry)}` },
  ),
  rollout: fc.constantFrom([], [{ group: 100, cost: 'warn' }]),
});

function withoutAbsent(entry: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
}

const policy = aPolicy();
const dialects = fc.record({
  delimiter: fc.constantFrom<CsvDialect['delimiter']>(',', ';'),
  decimal: fc.constantFrom<CsvDialect['decimal']>('.', ','),
});
const version = '0123456789e1234567890123';

function parsed(document: LimitsDocument): LimitSet | undefined {
  const read = parseLimits(document, 'v', policy);
  return read.ok ? read.value : undefined;
}

/** Through the bytes of a file. */
function throughFile(document: LimitsDocument, onto: LimitsDocument, dialect: CsvDialect) {
  const file = exportLimits(document, { version, directory: aDirectory, dialect });
  const read = readRows(new TextEncoder().encode(file), dialect);
  if (!read.ok) throw new Error(JSON.stringify([read.problems, file]));
  const done = importLimits(read.rows, {
    document: onto,
    policy,
    directory: aDirectory,
    dialect,
    prune: false,
  });
  if (!done.ok) throw new Error(JSON.stringify([done.problems, file]));
  return { file, version: read.version, ...done };
}

test('an export that is imported again leaves every limit as it was written, to the last digit', () => {
  fc.assert(
    fc.property(documents, dialects, (document, dialect) => {
      fc.pre(parsed(document) !== undefined);
      const back = throughFile(document, document, dialect);
      expect(back.document).toEqual(document);
      expect(back.unnamed).toEqual([]);
      if (parsed(document)?.bySubject.size) expect(back.version).toBe(version);
    }),
    { numRuns: propertyRuns(400) },
  );
});

test('an export that is imported where nothing is makes the same limits', () => {
  fc.assert(
    fc.property(documents, dialects, (document, dialect) => {
      const before = parsed(document);
      fc.pre(before !== undefined);
      const back = throughFile(document, { rollout: document.rollout }, dialect);
      const after = parsed(back.document);
      expect(after?.bySubject).toEqual(before.bySubject);
      expect(after?.personalDefault).toEqual(before.personalDefault);
      expect(after?.groupDefaults?.all.map(({ limit, groups }) => [groups.pattern, limit])).toEqual(
        before.groupDefaults?.all.map(({ limit, groups }) => [groups.pattern, limit]),
      );
    }),
    { numRuns: propertyRuns(200) },
  );
});

test('any text comes back from its cell, and no cell begins a formula', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (text) => {
      const cell = cellOfText(text);
      expect(textOfCell(cell)).toBe(text);
      expect(cell).not.toMatch(/^\s*[=+\-@]|^[\t\r]/);
    }),
    { numRuns: propertyRuns(2_000) },
  );
});
