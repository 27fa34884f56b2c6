import { unitRow } from '../../../policies/unit.ts';
import { amountText } from '../../../policies/unit-texts.ts';
import { waitText } from '../../answers/job/decision-lines.ts';
import type { JobExplanation, JobRejection, JobRetry } from '../../answers/job/model.ts';
import { BECAME } from '../../answers/job/retried.ts';
import type { RequestRow } from '../../answers/limits/edit-models.ts';
import { jobPagePath } from '../../core/notify/console-links.ts';
import type { User } from '../../core/signin/model.ts';
import { distance, instant, type PageFormat, pageAmount } from './parts/amounts.tsx';
import { field } from './parts/form-field.tsx';
import { Card, contactLink, type Markup, outside, PostForm, subjectLink } from './parts/layout.tsx';
import { wantedText } from './request-pages.tsx';

export interface JobPageProps {
  readonly job: JobExplanation;
  /** Its page in GitLab or, where that is not known, here. */
  readonly link: string;
  /** Requests made because of it. */
  readonly requests: readonly RequestRow[];
}

/** Reasons of a rejection, remedies, and a filled-in request for more. Empty for an admitted job. */
export function rejectionPart(user: User, shown: JobPageProps, telling: PageFormat): Markup | '' {
  const { job, requests } = shown;
  const { rejection, now } = job;
  if (rejection === undefined) return '';
  const isWaiting = requests.some(
    ({ state, expiresAtMs }) => state === 'pending' && expiresAtMs > telling.nowMs,
  );
  const form =
    rejection.request === undefined || isWaiting ? '' : requestForm(user, shown, rejection.request, telling);
  const isAdmittedNow = now?.outcome === 'admitted';
  return (
    <>
      <Card id="stopped" title="Cause">
        <p>
          <strong>{rejection.says}</strong>
        </p>
        {job.flagged && <p class="bad-text">It ran all the same: GitLab did not follow the answer.</p>}
        {rejection.others.length > 0 && (
          <>
            <p>It would also have been stopped by:</p>
            <ul>
              {rejection.others.map((line) => (
                <li>{line}</li>
              ))}
            </ul>
          </>
        )}
      </Card>
      {job.retry !== undefined && (
        <Card id="retry" title="Retries">
          {retryText(job.retry, telling)}
        </Card>
      )}
      {requests.length > 0 && requestedPart(requests, job, telling)}
      {isAdmittedNow ? (
        <div class="note good">
          <p>
            If it came now it would be <strong>admitted</strong>.{' '}
            {job.job.url === undefined ? 'Retry it in GitLab.' : retryLink(job)}
          </p>
        </div>
      ) : (
        <>
          {nowPart(job)}
          <div class={form === '' ? undefined : 'two'}>
            <Card id="helps" title="Ways to run it">
              {helpList(rejection, form !== '', telling)}
            </Card>
            {form}
          </div>
        </>
      )}
    </>
  );
}

/** A freeze, or a limit that was lowered since, may reject it now for another reason than then. */
function nowPart({ now }: JobExplanation): Markup | '' {
  const against = (now?.reasons ?? []).filter(({ mode }) => mode === 'enforce');
  if (against.length === 0) return '';
  return (
    <div class="note warn" id="now">
      <p>
        If it came now it would be <strong>rejected</strong>
        {now && waitText(now)}:
      </p>
      <ul>
        {against.map(({ text }) => (
          <li>{text}</li>
        ))}
      </ul>
    </div>
  );
}

/** Its group agreed that jobs which found no room are retried. */
function retryText(retry: JobRetry, telling: PageFormat): Markup {
  const { state, retries, retriesMax, untilMs, newJobId, retriedAtMs, became, why } = retry;
  const consent = subjectLink(`group/${retry.groupId}`, 'its group');
  if (newJobId !== undefined && retriedAtMs !== undefined) {
    return (
      <p>
        It was retried as <a href={jobPagePath(newJobId)}>job {newJobId}</a> on{' '}
        {instant(retriedAtMs, telling)}: {BECAME[became ?? 'unasked']}. That was retry {retries} of{' '}
        {retriesMax}, with the consent of {consent}.
      </p>
    );
  }
  return state === 'over' ? (
    <p>It is not retried any more: {why}.</p>
  ) : (
    <p>
      <strong>It is retried when there is room,</strong> with the consent of {consent}: at most{' '}
      {retriesMax === 1 ? 'once' : `${retriesMax} times`}, until {instant(untilMs, telling)} (
      {distance(untilMs, telling.nowMs)}).{why !== undefined && <> So far: {why}.</>}
    </p>
  );
}

const retryLink = ({ job }: JobExplanation): Markup | string =>
  job.url === undefined ? '' : outside(job.url, 'Retry it in GitLab');

function helpList(rejection: JobRejection, hasForm: boolean, telling: PageFormat): Markup {
  const { classes, timeoutSeconds, renewsAtMs, owner, advice } = rejection;
  return (
    <ul>
      {advice.map((line) => (
        <li>{line}</li>
      ))}
      {classes.map(({ runnerClass, tags, microsPerMinute, costMicros }) => (
        <li>
          A cheaper runner: <strong>{runnerClass}</strong> (<code>tags: [{tags.join(', ')}]</code>) at{' '}
          {amountText(microsPerMinute, 'micros', telling.currency)} a minute now. The job would cost{' '}
          {pageAmount(costMicros, 'micros', telling)} and fit.
        </li>
      ))}
      {timeoutSeconds !== undefined && (
        <li>
          A shorter timeout: with{' '}
          <strong>
            <code>timeout: {timeoutSeconds / 60} minutes</code>
          </strong>{' '}
          it would fit into what is left.
        </li>
      )}
      {renewsAtMs !== undefined && (
        <li>
          Waiting: the limit starts anew {instant(renewsAtMs, telling)} ({distance(renewsAtMs, telling.nowMs)}
          ).
        </li>
      )}
      <li>
        A higher limit: ask <strong>{owner?.name ?? 'the owners of the group'}</strong>
        {owner?.contact !== undefined && <> ({contactLink(owner.contact)})</>}
        {hasForm ? ', or send the request filled in here.' : '.'}
      </li>
      {classes.length === 0 && timeoutSeconds === undefined && advice.length === 0 && (
        <li class="soft">No cheaper runner and no shorter timeout would make it fit.</li>
      )}
    </ul>
  );
}

const requestedPart = (requests: readonly RequestRow[], job: JobExplanation, telling: PageFormat): Markup => (
  <Card id="requested" title="Asked for because of it">
    <ul>
      {requests.map((row) => (
        <li>
          {wantedText(row, telling)} for {row.path}, by {row.requestedBy}: {stateWords(row)}
          {row.state === 'approved' && <> {retryLink(job)}</>}
        </li>
      ))}
    </ul>
  </Card>
);

function stateWords({ state, decidedBy = 'somebody', note }: RequestRow): string {
  const why = note === undefined ? '' : `: “${note}”`;
  switch (state) {
    case 'approved':
      return `approved by ${decidedBy}${why}.`;
    case 'declined':
      return `declined by ${decidedBy}${why}.`;
    case 'pending':
      return 'waits for a decision.';
  }
}

function requestForm(
  user: User,
  { job: { job }, link }: JobPageProps,
  { subject, label, limit, unit, amount, fromDay, untilDay }: NonNullable<JobRejection['request']>,
  { currency }: PageFormat,
): Markup {
  const name = job.name ?? 'A job';
  const where = job.projectPath === undefined ? '' : ` of ${job.projectPath}`;
  const values = { amount, until: untilDay, reason: `${name}${where} was rejected.` };
  const hidden = { subject, limit, from: fromDay, link };
  return (
    <PostForm user={user} class="card" action="/ask">
      <h2>Ask for more for {label}</h2>
      {Object.entries(hidden).map(([each, value]) => (
        <input type="hidden" name={each} value={value} />
      ))}
      {field(
        {
          name: 'amount',
          label: unitRow(unit).inCurrency ? `Increase, ${currency}` : 'Increase',
          required: true,
          short: true,
          hint: 'The amount this job lacks. Ask for more if other jobs follow.',
        },
        values,
        NO_PROBLEMS,
      )}
      {field(
        { name: 'until', label: 'Until', type: 'date', required: true, short: true },
        values,
        NO_PROBLEMS,
      )}
      {field(
        { name: 'reason', label: 'Reason', type: 'textarea', required: true, max: 500 },
        values,
        NO_PROBLEMS,
      )}
      <div class="actions">
        <button class="main">Send the request</button>
      </div>
    </PostForm>
  );
}

const NO_PROBLEMS: ReadonlyMap<string, string> = new Map();
