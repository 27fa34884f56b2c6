import type { ComparedRules, RuleDifference } from '../../../../functions/answers/backtest/compare-rules.ts';
import { shadowCount } from '../../report/shadow-words.ts';

/** Results of both policies for recorded jobs, one sentence per line. */
export function recordedText(
  { jobs, unrecorded, variablesLost, newlyRejected, newlyAdmitted, byRule }: ComparedRules,
  ledger: string,
): readonly string[] {
  return [
    `${shadowCount(jobs)} recorded jobs (${ledger}) asked again: ${shadowCount(newlyRejected)} would newly be rejected by a rule, ${shadowCount(newlyAdmitted)} no longer.`,
    ...byRule.map(differenceText),
    ...(unrecorded > 0
      ? [`${shadowCount(unrecorded)} more could not be asked: their records do not have what rules look at.`]
      : []),
    ...(variablesLost > 0
      ? [
          `${shadowCount(variablesLost)} had variables, which are never kept: rules that read them say what they said then.`,
        ]
      : []),
    'What depends on counters is not compared: see tollgate backtest.',
  ];
}

const differenceText = ({ rule, change, jobs, examples }: RuleDifference): string =>
  `  ${rule}: ${shadowCount(jobs)} ${change === 'rejects' ? 'newly rejected' : 'no longer rejected'}, e.g. ${examples.join(', ')}`;
