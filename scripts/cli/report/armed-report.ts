/** Text of the result with an enabled controller. */
import type { ArmedFigures } from '../../../functions/answers/rollout/shadow-report.ts';
import { shadowCount, shareText } from './shadow-words.ts';

export { type ArmedReport, armedReport } from '../../../functions/answers/rollout/shadow-report.ts';

/** `If armed now: 2 of 14 jobs would have failed (14 %)`, and the number of retries among them. */
export function armedSentence({ jobs, wouldFail, repeats }: Omit<ArmedFigures, 'rows'>): string {
  const share = jobs === 0 || wouldFail === 0 ? '' : ` (${shareText(wouldFail / jobs)})`;
  const again =
    repeats === 0
      ? ''
      : `; ${shadowCount(repeats)} of them ${repeats === 1 ? 'is' : 'are'} a job tried again`;
  return `If armed now: ${shadowCount(wouldFail)} of ${shadowCount(jobs)} jobs would have failed${share}${again}, by the rules and limits of now.`;
}

/** Limits of recorded runs; empty if nothing would fail. */
export const retrySentence = ({ wouldFail }: Pick<ArmedFigures, 'wouldFail'>): string | undefined =>
  wouldFail === 0
    ? undefined
    : 'GitLab tries a rejected job again where its "retry:" allows it: one rejection may become up to three jobs.';
