import { amountText, durationText } from '../../../policies/unit-texts.ts';
import type {
  DisclosedViolation,
  ExplainedCounter,
  ExplainedRuleRow,
  ExplainedTerms,
  JobExplanation,
} from '../../answers/job/model.ts';
import { jobPagePath } from '../../core/notify/console-links.ts';
import { ConsolePage } from './frame.tsx';
import { type PageContext, type PageRoutes, query, send } from './page.ts';
import * as ui from './parts/ui.ts';
import { type JobPageProps, rejectionPart } from './rejection-part.tsx';

const WORD_CHARACTERS_MAX = 500;
const REQUESTS_SHOWN = 5;

export const jobRoutes: PageRoutes = (app, deps) => {
  const show = async (c: PageContext, word: string): Promise<Response> => {
    const { user } = c.var;
    const answer = await deps.read.job(word, user);
    if (answer.outcome !== 'found')
      return send(c, findJobPage(word, answer.sentence), answer.outcome === 'unknown' ? 404 : 422);
    const { explanation: job } = answer;
    // By this address a request is known to be about it.
    const link = job.job.url ?? `${deps.origin}${jobPagePath(job.jobId)}`;
    const rows = job.rejection === undefined ? [] : await deps.read.requests(user);
    const requests = rows.filter((row) => row.link === link).slice(0, REQUESTS_SHOWN);
    return send(c, jobPage({ job, link, requests }));
  };
  app.get('/jobs', async (c) => {
    const word = query.text(c, 'q', WORD_CHARACTERS_MAX);
    return word === undefined ? send(c, findJobPage()) : show(c, word);
  });
  app.get('/jobs/:word', (c) => show(c, c.req.param('word')));
};

const findJobPage = (word = '', sentence?: string): ui.Markup => (
  <ConsolePage
    title="Find a job"
    at="/jobs"
    about="The reasons for a job’s decision, and the decision it would get now."
  >
    {sentence !== undefined && (
      <ui.Note tone="warn" role="status">
        {sentence}
      </ui.Note>
    )}
    <form class="card filters" method="get" action="/jobs" role="search">
      <label>
        Job id, decision id or the address of the job’s page
        <input
          {...{ type: 'search', name: 'q', value: word, maxlength: WORD_CHARACTERS_MAX }}
          {...{ required: true, autofocus: true, placeholder: '4711 or d-4711-1' }}
        />
      </label>
      <button class="main">Show decision</button>
    </form>
  </ConsolePage>
);

const jobPage = (shown: JobPageProps): ui.Markup => {
  const { job } = shown;
  const { projectId, projectPath, name = `Job ${job.jobId}`, url } = job.job;
  const isAdmitted = job.outcome === 'admitted';
  return (
    <ConsolePage
      title={name}
      at="/jobs"
      crumbs={[<a href="/jobs">Find a job</a>]}
      about={
        <>
          {projectId === undefined
            ? projectPath
            : ui.subjectLink(`project/${projectId}`, projectPath ?? String(projectId))}{' '}
          <span class={isAdmitted ? 'tag good' : 'tag bad'}>{job.outcome}</span> {ui.instant(job.decidedAtMs)}{' '}
          ({ui.distance(job.decidedAtMs)})
        </>
      }
      actions={url !== undefined && ui.outside(url, 'Open job in GitLab')}
    >
      {rejectionPart(shown)}
      {job.rejection === undefined ? (
        detailParts(job)
      ) : (
        <details>
          <summary>All details of this decision</summary>
          {detailParts(job)}
        </details>
      )}
    </ConsolePage>
  );
};

const STATES: Readonly<Record<JobExplanation['state'], string>> = {
  HELD: 'held: not started yet',
  RUNNING: 'running',
  SETTLED: 'ended and settled',
  RELEASED: 'released: it never ran',
  EXPIRED: 'expired: GitLab no longer knows the job',
  REJECTED: 'rejected',
  RESERVED: 'reserved: a slot is kept for the job',
};
const ANSWERED: Readonly<Record<JobExplanation['answered'], string>> = {
  ledger: 'the ledger',
  fallback: 'the relay, because the ledger did not decide in time',
  unknown: 'unknown',
};
const UNCHECKED: Readonly<Record<NonNullable<JobExplanation['unchecked']>, string>> = {
  exempt: 'exempt by the policy',
  unmetered: 'admitted without the ledger; charged later',
  bypass: 'ran without an admission request',
};

const detailParts = (job: JobExplanation): ui.Markup => (
  <>
    <div class="two">
      <ui.Card id="decision" title="Decision">
        <ui.Facts
          of={[
            ['Job', job.jobId],
            ['Decision', <code>{job.decisionId}</code>],
            ['Pipeline', job.job.pipelineId],
            ['State', STATES[job.state]],
            ['Decided by', ANSWERED[job.answered]],
            ['Not checked', job.unchecked && UNCHECKED[job.unchecked]],
            ['Warning', job.flagged && 'the job ran although it was rejected', 'bad-text'],
            ['Ran', job.durationSeconds !== undefined && durationText(job.durationSeconds)],
            ['Ended', job.endedAtMs !== undefined && ui.instant(job.endedAtMs)],
          ]}
        />
      </ui.Card>
      <ui.Card id="terms" title="Expected cost">
        {termsFacts(job)}
      </ui.Card>
    </div>
    {job.rejectionText !== undefined && (
      <ui.Card id="text" title="Rejection text in GitLab">
        <pre>{job.rejectionText}</pre>
      </ui.Card>
    )}
    <ui.Card id="counters" title="Limits of the job">
      {countersPart(job)}
    </ui.Card>
    <ui.Card id="rules" title="Rules">
      {rulesPart(job.rules)}
    </ui.Card>
  </>
);

/** Estimate and price of the decision; those of now where they differ. */
function termsFacts({ atDecision, now, currency }: JobExplanation): ui.Markup {
  const texts = (terms: ExplainedTerms): readonly (readonly [string, string])[] => [
    ['Runner class', terms.runnerClass],
    ['Estimate', durationText(terms.estimateSeconds)],
    ['Price per minute', amountText(terms.microsPerMinute, 'micros', currency)],
    ['Cost', ui.pageAmount(terms.costMicros, 'micros')],
    ['Prices', terms.priceVersion],
    ['Policy', terms.policyVersion],
  ];
  const later = new Map(now && texts(now));
  return (
    <ui.Facts
      of={texts(atDecision).map(([name, text]) => {
        const other = later.get(name);
        return [name, other === undefined || other === text ? text : `${text}, now ${other}`];
      })}
    />
  );
}

function countersPart({ counters, countersHidden }: JobExplanation): ui.Markup {
  const amount = (now: number | string | undefined, unit: ExplainedCounter['unit']) =>
    typeof now === 'number' ? ui.pageAmount(now, unit) : (now ?? '–');
  return (
    <>
      {counters.length === 0 ? (
        <p class="soft">You may not see the limits of this job.</p>
      ) : (
        <ui.Table
          label="Limits"
          columns={{
            Limit: counterName,
            'At the decision': { style: 'full', cell: (counter) => decisionText(counter) },
            'Limit now': { style: 'n', cell: ({ now, unit }) => amount(now.bound, unit) },
            'Left now': { style: 'n', cell: ({ now, unit }) => amount(now.left, unit) },
          }}
          rows={counters}
        />
      )}
      {countersHidden > 0 && <p class="soft">{countersHidden} more belong to groups you may not see.</p>}
    </>
  );
}

function counterName({ subject, label, limit, period, now: { mode, wait } }: ExplainedCounter): ui.Markup {
  const more = [period !== 'now' && period, mode && ui.modeTag(mode), wait && `jobs wait ${wait}`];
  return (
    <>
      {ui.subjectLink(subject, label)}
      {ui.soft(ui.joined([<code>{limit}</code>, ...more.filter(Boolean)], ' · '))}
    </>
  );
}

function decisionText({ atDecision, unit }: ExplainedCounter): ui.Markup {
  if (atDecision === undefined) return <span class="soft">not checked</span>;
  const { seen, jobHeld, checked } = atDecision;
  const amount = (whole: number): string => ui.pageAmount(whole, unit);
  if (seen === undefined)
    return (
      <>
        {amount(jobHeld)} held {!checked && <span class="tag">not checked</span>}
      </>
    );
  return (
    <>
      <strong class="bad-text">refused:</strong> {amount(seen.left)} left of {amount(seen.bound)}, the job
      needed {amount(seen.asked)}
    </>
  );
}

function rulesPart(rules: readonly ExplainedRuleRow[]): ui.Markup {
  const violated = rules.filter(({ atDecision }) => atDecision.length > 0);
  const unviolated = rules.length - violated.length;
  return (
    <>
      {violated.length > 0 && (
        <ui.Table
          label="Rules"
          columns={{
            Rule: ({ id, kind, mode }) => [<code>{id}</code>, ' ', ui.soft(`${kind} ${mode}`)],
            Violations: { style: 'full', cell: ({ atDecision }) => atDecision.map(violation) },
          }}
          rows={violated}
        />
      )}
      {unviolated > 0 && <p class="soft">{ui.pageCount(unviolated, 'rule')} without a violation.</p>}
    </>
  );
}

const violation = ({ code, text, mode }: DisclosedViolation): ui.Markup => (
  <div>
    <code>{code}</code> {ui.modeTag(mode)} {text}
  </div>
);
