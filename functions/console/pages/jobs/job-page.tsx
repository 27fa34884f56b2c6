import { amountText, durationText } from '../../../../policies/units/unit-texts.ts';
import type { ExplainedTerms, JobExplanation } from '../../../answers/job/model.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { Card, Columns, Crumbs, Fact } from '../parts/layout.tsx';
import { outside, subjectLink } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { distance, instant, type PageFormat, pageAmount } from '../parts/page-format.tsx';
import { countersPart } from './job-counters-part.tsx';
import { rulesPart } from './job-rules-part.tsx';
import { type JobPageProps, rejectionPart } from './rejection-part.tsx';

export const jobPage = (user: User, shown: JobPageProps, telling: PageFormat): Markup => {
  const { job } = shown;
  return (
    <ConsolePage title={job.job.name ?? `Job ${job.jobId}`} at="/jobs" user={user}>
      <div class="head">
        <div>
          <Crumbs>
            <li>
              <a href="/jobs">Find a job</a>
            </li>
          </Crumbs>
          <h1>{job.job.name ?? `Job ${job.jobId}`}</h1>
          <p>
            {projectOf(job)} {verdict(job)} {instant(job.decidedAtMs, telling)} (
            {distance(job.decidedAtMs, telling.nowMs)})
          </p>
        </div>
        {job.job.url !== undefined && <div class="actions">{outside(job.job.url, 'The job in GitLab')}</div>}
      </div>
      {rejectionPart(user, shown, telling)}
      {job.rejection === undefined ? (
        detailParts(job, telling)
      ) : (
        <details>
          <summary>Every detail of this decision</summary>
          {detailParts(job, telling)}
        </details>
      )}
    </ConsolePage>
  );
};

const detailParts = (job: JobExplanation, telling: PageFormat): Markup => (
  <>
    <div class="two">
      <Card id="decision" title="Decision">
        <dl class="facts">
          <Fact name="Job">{job.jobId}</Fact>
          <Fact name="Decision">
            <code>{job.decisionId}</code>
          </Fact>
          <Fact name="Pipeline">{job.job.pipelineId}</Fact>
          <Fact name="State">{STATES[job.state]}</Fact>
          <Fact name="Answered by">{ANSWERED[job.answered]}</Fact>
          <Fact name="Not checked">{job.unchecked && UNCHECKED[job.unchecked]}</Fact>
          {job.flagged && (
            <>
              <dt>Noted</dt>
              <dd class="bad-text">it was rejected, and yet it ran</dd>
            </>
          )}
          <Fact name="Ran">
            {job.durationSeconds === undefined ? undefined : durationText(job.durationSeconds)}
          </Fact>
          <Fact name="Ended">
            {job.endedAtMs === undefined ? undefined : instant(job.endedAtMs, telling)}
          </Fact>
        </dl>
      </Card>
      <Card id="terms" title="Expected cost">
        {termsTable(job, telling)}
      </Card>
    </div>
    {job.rejectionText !== undefined && (
      <Card id="text" title="Text on the job page">
        <pre>{job.rejectionText}</pre>
      </Card>
    )}
    <Card id="counters" title="Limits it counted on">
      {countersPart(job, telling)}
    </Card>
    <Card id="rules" title="Rules">
      {rulesPart(job.rules)}
    </Card>
    {job.notRecorded.length > 0 && (
      <Card id="unknown" title="Not known">
        <ul class="soft">
          {job.notRecorded.map((line) => (
            <li>{line}</li>
          ))}
        </ul>
      </Card>
    )}
  </>
);

const verdict = ({ outcome }: JobExplanation): Markup =>
  outcome === 'admitted' ? <span class="tag good">admitted</span> : <span class="tag bad">rejected</span>;

function projectOf({ job: { projectId, projectPath } }: JobExplanation): Markup | string | undefined {
  if (projectId === undefined) return projectPath;
  return subjectLink(`project/${projectId}`, projectPath ?? String(projectId));
}

const STATES: Readonly<Record<JobExplanation['state'], string>> = {
  HELD: 'held: waits or begins',
  RUNNING: 'runs',
  SETTLED: 'ended and settled',
  RELEASED: 'given back: it never ran',
  EXPIRED: 'expired: GitLab does not know it any more',
  REJECTED: 'rejected',
  RESERVED: 'a slot is kept for it',
};

const ANSWERED: Readonly<Record<JobExplanation['answered'], string>> = {
  ledger: 'the ledger',
  fallback: 'the relay on its own, because no decision came in time',
  unknown: 'not known',
};

const UNCHECKED: Readonly<Record<NonNullable<JobExplanation['unchecked']>, string>> = {
  exempt: 'exempt by the policy',
  unmetered: 'admitted while no answer came; charged later',
  bypass: 'it ran without being asked about',
};

function termsTable({ atDecision, now, currency }: JobExplanation, telling: PageFormat): Markup {
  const rows: readonly (readonly [string, (terms: ExplainedTerms) => string])[] = [
    ['Runner class', ({ runnerClass }) => runnerClass],
    ['Estimate', ({ estimateSeconds }) => durationText(estimateSeconds)],
    ['Price per minute', ({ microsPerMinute }) => amountText(microsPerMinute, 'micros', currency)],
    ['Cost', ({ costMicros }) => pageAmount(costMicros, 'micros', telling)],
    ['Prices', ({ priceVersion }) => priceVersion],
    ['Policy', ({ policyVersion }) => policyVersion],
  ];
  return (
    <table>
      <caption class="hidden">Expected cost then and now</caption>
      <Columns of={[[<span class="hidden">What</span>], 'Then', ...(now === undefined ? [] : ['Now'])]} />
      <tbody>
        {rows.map(([name, told]) => (
          <tr>
            <th scope="row">{name}</th>
            <td>{told(atDecision)}</td>
            {now !== undefined && <td>{told(now)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
