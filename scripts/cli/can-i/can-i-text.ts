import { waitText } from '../../../functions/answers/job/decision-lines.ts';
import type { CheckedPipeline } from '../../../functions/answers/job/model.ts';
import { amountText, durationText } from '../../../policies/units/unit-texts.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { leftSection } from '../check/console-lines.ts';
import { ruleNowLines, violationLine } from '../evaluation/rule-now-text.ts';
import { wrapped } from '../evaluation/wrapped.ts';

export interface CanIAnswer extends CheckedPipeline {
  /** `rules`: by the documents alone. */
  readonly decidedBy: 'rules' | 'ledger' | 'console';
  /** Names of variables that no rule sees. */
  readonly variablesNotSeen: readonly string[];
}

/**
 * The answer for people: yes or no first, then what is against the job, the rules, the limits and the text of its page.
 *
 * @param note - says what the decision rests on.
 */
export function canIText(answer: CanIAnswer, note: string, columns: number, paint: Paint): string {
  const [job] = answer.jobs;
  if (job === undefined) return '';
  const { outcome, costMicros, estimateSeconds, runnerClass, reasons, rules = [], text } = job;
  const word = { admitted: paint.good('Yes'), rejected: paint.bad('No'), 'not sure': paint.warn('Not sure') };
  const decision =
    outcome === 'not sure' ? 'a rule needs to know more' : `would be ${outcome}${waitText(job)}`;
  const cost = amountText(costMicros, 'micros', answer.currency, 'up');
  const head = `${word[outcome]}: ${decision}; about ${cost}, ${durationText(estimateSeconds)} on ${printable(runnerClass)}, ${printable(answer.place.path)}.`;
  const line = (each: string): string => `${wrapped(`  ${printable(each)}`, columns, '    ')}\n`;
  const rows = rules.flatMap(({ id, kind, mode, now }) =>
    ruleNowLines(now).map((each, index) => [
      ...(index === 0 ? [id, kind, mode] : ['', '', '']),
      printable(each),
    ]),
  );
  const titles = ['rule', 'kind', 'mode', 'against the job'].map((title) => ({ title }));
  const unseen = answer.variablesNotSeen.join(', ');
  return [
    `${wrapped(head, columns, '  ')}\n${paint.dim(wrapped(note, columns, '  '))}\n`,
    reasons.map((each) => line(`${each.rule}: ${violationLine(each)}`)).join(''),
    rows.length === 0 ? '' : table(titles, rows, columns, paint.strong),
    leftSection(answer, true, { columns, paint }),
    unseen === '' ? '' : line(`Not seen by any rule, as it does not leave the relay: ${unseen}`),
    text === undefined
      ? ''
      : `${paint.strong('The job page would say')}\n${text.split('\n').map(line).join('')}`,
  ]
    .filter((part) => part !== '')
    .join('\n');
}
