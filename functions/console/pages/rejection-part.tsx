import type { Child } from 'hono/jsx';
import { unitRow } from '../../../policies/unit.ts';
import { waitText } from '../../answers/job/decision-lines.ts';
import type { JobExplanation, JobRejection, JobRetry } from '../../answers/job/model.ts';
import { BECAME } from '../../answers/job/retried.ts';
import type { RequestRow } from '../../answers/limits/models.ts';
import { jobPagePath } from '../../core/notify/console-links.ts';
import { distance, instant, type PageFormat, pageAmount } from './parts/amounts.tsx';
import { field, hiddenFields } from './parts/form-field.tsx';
import {
  Card,
  contactLink,
  List,
  type Markup,
  Note,
  outside,
  PostForm,
  subjectLink,
} from './parts/layout.tsx';
import { wantedText } from './parts/tables.tsx';

export interface JobPageProps {
  readonly job: JobExplanation;
  /** Its page in GitLab or, where that is not known, here. */
  readonly link: string;
  readonly requests: readonly RequestRow[];
}

export function rejectionPart(shown: JobPageProps, format: PageFormat): Markup | '' {
  const { job, requests } = shown;
  const { rejection, now, retry } = job;
  if (rejection === undefined) return '';
  const isWaiting = requests.some(
    ({ state, expiresAtMs }) => state === 'pending' && expiresAtMs > format.nowMs,
  );
  const { request } = rejection;
  const form = request === undefined || isWaiting ? '' : requestForm(shown, request, format);
  const against = (now?.reasons ?? []).filter(({ mode }) => mode === 'enforce');
  return (
    <>
      <Card id="stopped" title="Cause">
        <p>
          <strong>{rejection.says}</strong>
        </p>
        {job.flagged && <p class="bad-text">The job ran anyway: GitLab did not follow the rejection.</p>}
        {rejection.others.length > 0 && <p>Other reasons for the rejection:</p>}
        <List of={rejection.others} />
      </Card>
      {retry !== undefined && (
        <Card id="retry" title="Retries">
          <p>{retryText(retry, format)}</p>
        </Card>
      )}
      {requests.length > 0 && requestedCard(requests, job, format)}
      {now?.outcome === 'admitted' ? (
        <Note tone="good">
          If the job started now, it would be <strong>admitted</strong>.{' '}
          {job.job.url === undefined ? 'Retry the job in GitLab.' : retryLink(job)}
        </Note>
      ) : (
        <>
          {/* A freeze, or a limit that was lowered since, may reject it now for another reason than then. */}
          {now !== undefined && against.length > 0 && (
            <Note tone="warn" lines={against.map(({ text }) => text)}>
              If the job started now, it would be <strong>rejected</strong>
              {waitText(now)}:
            </Note>
          )}
          <div class={form === '' ? undefined : 'two'}>
            <Card id="helps" title="Options">
              <List of={helpLines(rejection, form !== '', format)} />
            </Card>
            {form}
          </div>
        </>
      )}
    </>
  );
}

/** Its group agreed that jobs which found no room are retried. */
function retryText(retry: JobRetry, format: PageFormat): Child {
  const { state, retries, retriesMax, untilMs, newJobId, became = 'unasked', why } = retry;
  if (newJobId !== undefined)
    return (
      <>
        Retried as <a href={jobPagePath(newJobId)}>job {newJobId}</a>: {BECAME[became]}. That was retry{' '}
        {retries} of {retriesMax}, with the consent of {subjectLink(`group/${retry.groupId}`, 'its group')}.
      </>
    );
  if (state === 'over') return `The job is not retried any more: ${why}.`;
  return (
    <>
      <strong>The job is retried when the limit allows it,</strong> at most {retriesMax} times until{' '}
      {instant(untilMs, format)}.{why !== undefined && ` So far: ${why}.`}
    </>
  );
}

const retryLink = ({ job }: JobExplanation): Markup | string =>
  job.url === undefined ? '' : outside(job.url, 'Retry job in GitLab');

function helpLines(rejection: JobRejection, hasForm: boolean, format: PageFormat): readonly Child[] {
  const { classes, renewsAtMs, owner, advice } = rejection;
  return [
    ...advice,
    ...classes.map(({ runnerClass, tags, costMicros }) => (
      <>
        A cheaper runner: on <strong>{runnerClass}</strong> (<code>tags: [{tags.join(', ')}]</code>) the job
        would cost {pageAmount(costMicros, 'micros', format)} and fit.
      </>
    )),
    renewsAtMs !== undefined && (
      <>
        Waiting: the next period of the limit starts {instant(renewsAtMs, format)} (
        {distance(renewsAtMs, format.nowMs)}).
      </>
    ),
    <>
      A higher limit: ask <strong>{owner?.name ?? 'the owners of the group'}</strong>
      {owner?.contact !== undefined && <> ({contactLink(owner.contact)})</>}
      {hasForm ? ', or send the prepared request.' : '.'}
    </>,
    classes.length === 0 && advice.length === 0 && 'No cheaper runner would make the job fit.',
  ].filter((line) => line !== false);
}

function requestedCard(requests: readonly RequestRow[], job: JobExplanation, format: PageFormat): Markup {
  const stateOf = ({ state, decidedBy = 'an unknown user', note }: RequestRow): string =>
    state === 'pending'
      ? 'waits for a decision.'
      : `${state} by ${decidedBy}${note === undefined ? '' : `: “${note}”`}.`;
  return (
    <Card id="requested" title="Requests for this job">
      <List
        of={requests.map((row) => (
          <>
            {wantedText(row, format)} for {row.path}, by {row.requestedBy}: {stateOf(row)}{' '}
            {row.state === 'approved' && retryLink(job)}
          </>
        ))}
      />
    </Card>
  );
}

function requestForm(
  { job: { job }, link }: JobPageProps,
  { subject, label, limit, unit, amount, fromDay, untilDay }: NonNullable<JobRejection['request']>,
  { user, currency }: PageFormat,
): Markup {
  const where = job.projectPath === undefined ? '' : ` of ${job.projectPath}`;
  const values = { amount, until: untilDay, reason: `${job.name ?? 'A job'}${where} was rejected.` };
  return (
    <PostForm user={user} class="card" action="/ask">
      <h2>Request for more, {label}</h2>
      {hiddenFields({ subject, limit, from: fromDay, link })}
      {field(
        {
          ...{ name: 'amount', required: true, short: true },
          label: unitRow(unit).inCurrency ? `Increase, ${currency}` : 'Increase',
          hint: 'The amount this job lacks.',
        },
        values,
      )}
      {field({ name: 'until', label: 'Until', type: 'date', required: true, short: true }, values)}
      {field({ name: 'reason', label: 'Reason', type: 'textarea', required: true, max: 500 }, values)}
      <div class="actions">
        <button class="main">Send request</button>
      </div>
    </PostForm>
  );
}
