import type { PhaseResult } from './run-phases.ts';

/** `ok  ageing connections   1296 asked, 0 lost   6.6 s`. */
export function resultLine({ phase, seconds, asked, lost, checks }: PhaseResult): string {
  const failed = checks.filter(({ holds }) => !holds).length;
  const verdict = failed === 0 ? 'ok  ' : 'FAIL';
  const books = `${String(asked).padStart(5)} asked, ${lost} lost`;
  return `${verdict}  ${phase.padEnd(34)} ${books.padEnd(24)} ${seconds.toFixed(1).padStart(5)} s`;
}

/** What does not hold, a line each, and what the relays said last. */
export const failuresText = ({ checks, lastLines }: PhaseResult): readonly string[] => [
  ...checks
    .filter(({ holds }) => !holds)
    .map(({ what, got, due }) => `      ${what}: ${got}; must be ${due}`),
  ...lastLines.map((line) => `      | ${line.slice(0, LINE_CHARACTERS_MAX)}`),
];

const LINE_CHARACTERS_MAX = 200;

export function summaryText(results: readonly PhaseResult[]): string {
  const failed = results.filter(({ checks }) => checks.some(({ holds }) => !holds));
  const checks = results.reduce((sum, result) => sum + result.checks.length, 0);
  const asked = results.reduce((sum, result) => sum + result.asked, 0);
  const lost = results.reduce((sum, result) => sum + result.lost, 0);
  const verdict =
    failed.length === 0 ? 'everything holds' : `${failed.length} of ${results.length} phases fail`;
  return `\n${asked} questions, ${lost} lost, ${checks} checks: ${verdict}.`;
}
