import type { CountedSpan } from '../../../functions/answers/limits/edit-models.ts';
import type { TerminalIo } from '../../terminal/command.ts';
import { shadowCount } from '../report/shadow-words.ts';

/** Asks until everything is counted, and shows on the terminal how far it is. @returns the last answer */
export async function countToTheEnd<Answer>(
  ask: (query: { readonly cursor?: string }) => Promise<Answer>,
  spanOf: (answer: Answer) => Pick<CountedSpan, 'days' | 'daysCounted' | 'jobsRead' | 'next'> | undefined,
  io: Pick<TerminalIo, 'err' | 'progress'>,
): Promise<Answer> {
  let answer = await ask({});
  let span = spanOf(answer);
  const isShown = io.progress && span?.next !== undefined;
  while (span?.next !== undefined) {
    const { days, daysCounted, jobsRead, next } = span;
    if (isShown)
      io.err(`\r${daysCounted} of ${days} days counted, ${shadowCount(jobsRead)} records read\u001b[K`);
    answer = await ask({ cursor: next });
    span = spanOf(answer);
  }
  if (isShown) io.err('\r\u001b[K');
  return answer;
}
