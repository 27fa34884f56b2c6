import type { Disclosure } from '../disclosure.ts';
import type { Reason } from '../reason.ts';
import { relativeText } from './duration-text.ts';
import { instantText } from './instant-text.ts';
import { oneLine, shortened } from './plain-text.ts';

const PATTERN_CHARACTERS_MAX = 80;

/** Whether and when a retry helps, and what else does. `retry:when` accepts every failure reason, this one included. */
export function retryAdvice(reason: Reason, disclosure: Disclosure, nowMs: number): readonly string[] {
  switch (reason.code) {
    case 'BUDGET_EXHAUSTED':
      return budgetAdvice(reason, disclosure, nowMs);
    case 'CONCURRENCY_FULL':
      return [
        'A retry will work as soon as one of the running jobs has finished.',
        'To have GitLab retry by itself, add to the job:  retry: {max: 2, when: job_router_failure}',
      ];
    case 'EXCEEDS_LIMIT_ALONE':
      return reason.limitAmount === 0
        ? ['Retrying will fail again until the owner raises the limit.']
        : [
            'Retrying will fail again. Give the job a shorter timeout or a cheaper runner, or ask for a higher limit.',
          ];
    case 'IMAGE_NOT_ALLOWED': {
      if (disclosure === 'none' || reason.allowed.length === 0)
        return ['Retrying will fail again. Use another image.'];
      const patterns = reason.allowed.map((each) => shortened(oneLine(each), PATTERN_CHARACTERS_MAX));
      return [`Retrying will fail again. Use an allowed image; closest: ${patterns.join(' , ')}`];
    }
    case 'FIELD_MISSING':
      return reason.field === 'image'
        ? ['Retrying will fail again. Name an image in the job.']
        : ['Retrying will fail again. Show this message to the team that runs CI.'];
    case 'CONTROLLER_ERROR':
      return ['A retry may work once the system has recovered. Show this message to the team that runs CI.'];
  }
}

function budgetAdvice(
  reason: Extract<Reason, { code: 'BUDGET_EXHAUSTED' }>,
  disclosure: Disclosure,
  nowMs: number,
): readonly string[] {
  const { resetsAtMs, zone, committed, settled, asked, limitAmount } = reason;
  const after =
    resetsAtMs === undefined || zone === undefined || disclosure === 'none'
      ? 'when the period starts anew'
      : `after ${instantText(resetsAtMs, zone)} (${relativeText(nowMs, resetsAtMs)})`;
  const advice = [`Retrying now will fail again. It will work ${after}, or with a higher limit.`];
  // Holds are upper estimates: what is settled alone would leave room.
  if (committed > settled && settled + asked <= limitAmount) {
    advice.push('It may work earlier, if the jobs running now need less than is held for them.');
  }
  return advice;
}
