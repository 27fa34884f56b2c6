import type { Child } from 'hono/jsx';
import { unitRow } from '../../../policies/unit.ts';
import { waitText } from '../../answers/job/decision-lines.ts';
import type { JobExplanation, JobRejection, JobRetry } from '../../answers/job/model.ts';
import { RETRY_OUTCOME_TEXTS } from '../../answers/job/retried.ts';
import type { RequestRow } from '../../answers/limits/models.ts';
import { jobPagePath } from '../../core/notify/console-links.ts';
import * as ui from './parts/ui.ts';

export interface JobPageProps {
  readonly job: JobExplanation;
  /** Its page in GitLab or, where that is not known, here. */
  readonly link: string;
  readonly requests: readonly RequestRow[];
}

export function rejectionPart(shown: JobPageProps): ui.Markup | '' {
  const { job, requests } = shown;
  const { rejection, now, retry } = job;
  if (rejection === undefined) return '';
  const isWaiting = requests.some(
    ({ state, expiresAtMs }) => state === 'pending' && expiresAtMs > ui.format().nowMs,
  );
  const { request } = rejection;
  const form = request === undefined || isWaiting ? '' : requestForm(shown, request);
  const reasons = (now?.reasons ?? []).filter(({ mode }) => mode === 'enforce');
  return (
    <>
      <ui.Card id="stopped" title="Cause">
        <p>
          <strong>{rejection.says}</strong>
        </p>
        {job.flagged && <p class="bad-text">The job ran anyway: GitLab did not follow the rejection.</p>}
        {rejection.others.length > 0 && <p>Other reasons for the rejection:</p>}
        <ui.List of={rejection.others} />
      </ui.Card>
      {retry !== undefined && (
        <ui.Card id="retry" title="Retries">
          <p>{retryText(retry)}</p>
        </ui.Card>
      )}
      {requests.length > 0 && requestedCard(requests, job)}
      {now?.outcome === 'admitted' ? (
        <ui.Note tone="good">
          If the job started now, it would be <strong>admitted</strong>.{' '}
          {job.job.url === undefined ? 'Retry the job in GitLab.' : retryLink(job)}
        </ui.Note>
      ) : (
        <>
          {/* A freeze, or a limit that was lowered since, may reject it now for another reason than then. */}
          {now !== undefined && reasons.length > 0 && (
            <ui.Note tone="warn" lines={reasons.map(({ text }) => text)}>
              If the job started now, it would be <strong>rejected</strong>
              {waitText(now)}:
            </ui.Note>
          )}
          <div class={form === '' ? undefined : 'two'}>
            <ui.Card id="helps" title="Options">
              <ui.List of={helpLines(rejection, form !== '')} />
            </ui.Card>
            {form}
          </div>
        </>
      )}
    </>
  );
}

/** Its group agreed that jobs which found no room are retried. */
function retryText(retry: JobRetry): Child {
  const { state, retries, retriesMax, untilMs, newJobId, became = 'unasked', why } = retry;
  if (newJobId !== undefined)
    return (
      <>
        Retried as <a href={jobPagePath(newJobId)}>job {newJobId}</a>: {RETRY_OUTCOME_TEXTS[became]}. That was
        retry {retries} of {retriesMax}, with the consent of{' '}
        {ui.subjectLink(`group/${retry.groupId}`, 'its group')}.
      </>
    );
  if (state === 'over') return `The job is not retried any more: ${why}.`;
  return (
    <>
      <strong>The job is retried when the limit allows it,</strong> at most {retriesMax} times until{' '}
      {ui.instant(untilMs)}.{why !== undefined && ` So far: ${why}.`}
    </>
  );
}

const retryLink = ({ job }: JobExplanation): ui.Markup | string =>
  job.url === undefined ? '' : ui.outside(job.url, 'Retry job in GitLab');

function helpLines(rejection: JobRejection, hasForm: boolean): readonly Child[] {
  const { classes, renewsAtMs, owner, advice } = rejection;
  return [
    ...advice,
    ...classes.map(({ runnerClass, tags, costMicros }) => (
      <>
        A cheaper runner: on <strong>{runnerClass}</strong> (<code>tags: [{tags.join(', ')}]</code>) the job
        would cost {ui.pageAmount(costMicros, 'micros')} and fit.
      </>
    )),
    renewsAtMs !== undefined && (
      <>
        Waiting: the next period of the limit starts {ui.instant(renewsAtMs)} ({ui.distance(renewsAtMs)}).
      </>
    ),
    <>
      Questions and exceptions: ask <strong>{owner?.name ?? 'the owners of the group'}</strong>
      {owner?.contact !== undefined && <> ({ui.contactLink(owner.contact)})</>}
      {hasForm ? ', or send the prepared request.' : '.'}
    </>,
    classes.length === 0 && advice.length === 0 && 'No cheaper runner would make the job fit.',
  ].filter((line) => line !== false);
}

function requestedCard(requests: readonly RequestRow[], job: JobExplanation): ui.Markup {
  const stateOf = ({ state, decidedBy = 'an unknown user', note }: RequestRow): string =>
    state === 'pending'
      ? 'waits for a decision.'
      : `${state} by ${decidedBy}${note === undefined ? '' : `: “${note}”`}.`;
  return (
    <ui.Card id="requested" title="Requests for this job">
      <ui.List
        of={requests.map((row) => (
          <>
            {ui.requestedText(row)} for {row.path}, by {row.requestedBy}: {stateOf(row)}{' '}
            {row.state === 'approved' && retryLink(job)}
          </>
        ))}
      />
    </ui.Card>
  );
}

function requestForm(
  { job: { job }, link }: JobPageProps,
  { subject, label, limit, unit, amount, fromDay, untilDay }: NonNullable<JobRejection['request']>,
): ui.Markup {
  const where = job.projectPath === undefined ? '' : ` of ${job.projectPath}`;
  const values = { amount, until: untilDay, reason: `${job.name ?? 'A job'}${where} was rejected.` };
  return (
    <ui.PostForm class="card" action="/ask">
      <h2>Request for more, {label}</h2>
      {ui.hiddenFields({ subject, limit, from: fromDay, link })}
      {ui.field(
        {
          ...{ name: 'amount', required: true, short: true },
          label: unitRow(unit).inCurrency ? `Increase, ${ui.format().currency}` : 'Increase',
          hint: 'The amount this job lacks.',
        },
        values,
      )}
      {ui.field({ name: 'until', label: 'Until', type: 'date', required: true, short: true }, values)}
      {ui.field({ name: 'reason', label: 'Reason', type: 'textarea', required: true, max: 500 }, values)}
      <div class="actions">
        <button class="main">Send request</button>
      </div>
    </ui.PostForm>
  );
}
