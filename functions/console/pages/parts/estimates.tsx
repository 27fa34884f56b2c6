/** Jobs that would have been rejected, estimated from the totals of each day: there at once, and for every day. */
import type { EditEffect, LookBack } from '../../../answers/preview/model.ts';
import type { Markup } from './markup.ts';
import { counted } from './told.tsx';

export const estimatesOf = (effects: readonly EditEffect[]): Markup => <>{effects.map(estimateOf)}</>;

function estimateOf({ path, lookBack }: EditEffect): Markup | '' {
  if (lookBack === undefined) return '';
  return (
    <p>
      {path}, the last {counted(lookBack.days, 'day')}: {lookBackWords(lookBack)}
    </p>
  );
}

function lookBackWords({ jobs, jobsStopped, jobsStoppedBefore, reachedOn }: LookBack): Markup {
  const stopped =
    jobsStopped === 0 ? (
      <>
        <strong class="good-text">none</strong> of {counted(jobs, 'job')} would have been rejected
      </>
    ) : (
      <>
        about <strong class="warn-text">{counted(jobsStopped, 'job')}</strong> of{' '}
        {jobs.toLocaleString('en-US')} would have been rejected
        {reachedOn !== undefined && <>, from {reachedOn} on</>}
      </>
    );
  return (
    <>
      {stopped}
      {jobsStoppedBefore !== jobsStopped && (
        <> ({jobsStoppedBefore.toLocaleString('en-US')} with the limit as it is)</>
      )}
      . An estimate from the totals of each day.
    </>
  );
}
