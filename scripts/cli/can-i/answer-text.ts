import { classText } from '../../../policies/text/rejection-text.ts';
import { amountText, durationText } from '../../../policies/units/unit-texts.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { askText } from '../evaluation/limit-ask.ts';
import { ruleTable } from '../evaluation/rule-table.ts';
import { codedReasonText } from '../evaluation/rule-text.ts';
import { wrapped } from '../evaluation/wrapped.ts';
import type { CanIAnswer, SeenAsk } from './answer.ts';

interface AnswerContext {
  readonly columns: number;
  readonly paint: Paint;
  /** The ledger whose counters were read; absent: none, they were taken as empty. */
  readonly ledger?: string | undefined;
  readonly unseen: readonly string[];
}

/** The answer for people: yes or no first, then every rule, the limits, and the text the job page would show. */
export function answerText(answer: CanIAnswer, context: AnswerContext): string {
  const { columns, paint } = context;
  const { terms } = answer;
  return [
    headText(answer, context),
    ruleTable(answer.results, terms.currency, columns, paint),
    limitsText(answer, context),
    watchedText(answer, context),
    context.unseen.length === 0
      ? ''
      : `${wrapped(`Not seen by any rule, as it does not leave the relay: ${context.unseen.join(', ')}`, columns, '  ')}\n`,
    answer.text === undefined
      ? ''
      : `${paint.strong('The job page would say')}\n${indented(printable(answer.text))}\n`,
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function headText({ verdict, terms }: CanIAnswer, { columns, paint, ledger }: AnswerContext): string {
  const word = verdict === 'admitted' ? paint.good('Yes') : paint.bad('No');
  const cost = amountText(terms.costMicros, 'micros', terms.currency, 'up');
  const job = `about ${cost}, ${durationText(terms.estimateSeconds)} on ${classText(terms)}, group ${printable(terms.group)}`;
  const counters =
    ledger === undefined
      ? 'Counters were not read and are taken as empty; --ledger asks with what they show now.'
      : `Counters as ${ledger} shows them now; none was touched.`;
  return `${wrapped(`${word}: would be ${verdict}; ${job}.`, columns, '  ')}\n${paint.dim(wrapped(counters, columns, '  '))}\n`;
}

function limitsText({ asks, terms }: CanIAnswer, { columns, paint, ledger }: AnswerContext): string {
  if (asks.length === 0) return '';
  const rows = asks.map((ask) => [
    `  ${ask.limit}`,
    printable(ask.subjectLabel),
    ask.mode,
    `${askText(ask, terms.currency)}${ledger === undefined ? '' : `; ${seenText(ask, terms.currency, paint)}`}`,
  ]);
  return `${paint.strong('It asks of the limits')}\n${table([{}, {}, {}, {}], rows, columns)}`;
}

function seenText({ settled, held, left, asked, unit }: SeenAsk, currency: string, paint: Paint): string {
  const show = (amount: number): string => amountText(amount, unit, currency);
  const now = `now ${show(settled)} settled + ${show(held)} held`;
  if (left === undefined) return now;
  const text = `${now}, ${show(left)} left`;
  return left < asked ? paint.warn(text) : text;
}

function watchedText({ shadow, terms }: CanIAnswer, { columns, paint }: AnswerContext): string {
  const watched = shadow.filter(({ exempt }) => exempt !== true);
  if (watched.length === 0) return '';
  const lines = watched.map(({ rule, mode, reason }) =>
    wrapped(`  ${rule} (${mode}): ${printable(codedReasonText(reason, terms.currency))}`, columns, '    '),
  );
  return `${paint.strong('Only watched')}\n${lines.join('\n')}\n`;
}

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n');
