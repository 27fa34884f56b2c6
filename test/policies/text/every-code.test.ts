import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { REASON_TEXTS } from '../../../policies/text/reason-texts.ts';

const FOLDER = join(import.meta.dirname, 'reasons');

const sources = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => readFileSync(join(FOLDER, file), 'utf8'))
  .join('\n');

test.each(Object.keys(REASON_TEXTS))('somebody has read what is said of %s', (code) => {
  expect(sources, `no inline snapshot under ${FOLDER} shows [${code}]`).toMatch(
    new RegExp(`^ {4}"?\\[${code}\\] `, 'm'),
  );
});
