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
import { documents } from './some-documents.ts';

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
    { numRuns: 400 },
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
    { numRuns: 200 },
  );
});

test('any text comes back from its cell, and no cell begins a formula', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (text) => {
      const cell = cellOfText(text);
      expect(textOfCell(cell)).toBe(text);
      expect(cell).not.toMatch(/^\s*[=+\-@]|^[\t\r]/);
    }),
    { numRuns: 2_000 },
  );
});
