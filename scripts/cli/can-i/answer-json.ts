import { ruleJson } from '../evaluation/rule-json.ts';
import type { CanIAnswer } from './answer.ts';

interface AskedOf {
  readonly nowMs: number;
  readonly ledger: string | undefined;
  readonly unseen: readonly string[];
}

/** The answer for scripts. Amounts in whole units, money in micro-units. */
export const answerJson = (answer: CanIAnswer, { nowMs, ledger, unseen }: AskedOf): object => ({
  verdict: answer.verdict,
  nowMs,
  counters: ledger === undefined ? 'taken as empty' : 'read',
  terms: answer.terms,
  violations: answer.violations,
  shadow: answer.shadow,
  asks: answer.asks,
  rules: answer.results.map(ruleJson),
  variablesNotSeen: unseen,
  ...(answer.text !== undefined && { text: answer.text }),
});
