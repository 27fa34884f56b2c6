import { Hono } from 'hono';
import { amountText, durationText } from '../../../policies/unit-texts.ts';
import type {
  DisclosedViolation,
  ExplainedCounter,
  ExplainedRuleRow,
  ExplainedTerms,
  JobExplanation,
} from '../../answers/job/model.ts';
import { jobPagePath } from '../../core/notify/console-links.ts';
import type { SignInEnv, User } from '../../core/signin/model.ts';
import { ConsolePage } from './frame.tsx';
import { type PageContext, type PagesDeps, pageFormatOf, query, send } from './page-deps.ts';
import {
  distance,
  instant,
  modeTag,
  OUTAGE_TEXTS,
  type PageFormat,
  pageAmount,
  pageCount,
} from './parts/amounts.tsx';
import { Card, Columns, Crumbs, Fact, type Markup, outside, subjectLink, Table } from './parts/layout.tsx';
import { type JobPageProps, rejectionPart } from './rejection-part.tsx';

/** The limits a job counted on, then and now. */
function countersPart({ counters, countersHidden }: JobExplanation, telling: PageFormat): Markup {
  const hidden = countersHidden > 0 && <p class="soft">{countersHidden} more of groups you may not see.</p>;
  if (counters.length === 0)
    return (
      <>
        <p class="soft">None that you may see.</p>
        {hidden}
      </>
    );
  return (
    <>
      <Table
        label="Limits"
        caption="Limits it counted on, then and now"
        columns={['Limit', 'Then', ['Now spent and held', 'n'], ['Limit now', 'n'], ['Left now', 'n']]}
      >
        <tbody>{counters.map((counter) => counterLine(counter, telling))}</tbody>
      </Table>
      {hidden}
    </>
  );
}

function counterLine(
  { subject, label, limit, period, unit, atDecision, now }: ExplainedCounter,
  telling: PageFormat,
): Markup {
  const told = (whole: number): string => pageAmount(whole, unit, telling);
  const before =
    atDecision === undefined ? (
      <span class="soft">not asked</span>
    ) : atDecision.seen !== undefined ? (
      <>
        <strong class="bad-text">refused:</strong> {told(atDecision.seen.left)} left of{' '}
        {told(atDecision.seen.bound)}, it asked for {told(atDecision.seen.asked)}
      </>
    ) : (
      <>
        {told(atDecision.jobHeld)} held
        {!atDecision.checked && (
          <>
            {' '}
            <span class="tag">not checked</span>
          </>
        )}
      </>
    );
  const bound = now.bound === undefined ? 'none' : now.bound === 'unlimited' ? 'unlimited' : told(now.bound);
  return (
    <tr>
      <th scope="row" class="path">
        {subjectLink(subject, label)}
        <small class="soft">
          <code>{limit}</code> {period !== 'now' && period} {now.mode !== undefined && modeTag(now.mode)}{' '}
          {now.wait !== undefined && <>· jobs wait {now.wait}</>}{' '}
          {now.whenUnreachable && <>· {OUTAGE_TEXTS[now.whenUnreachable]} while it cannot be asked</>}
        </small>
      </th>
      <td class="full">{before}</td>
      <td class="n" data-l="now">
        {told(now.settled + now.held)}
      </td>
      <td class="n" data-l="of">
        {bound}
      </td>
      <td class="n" data-l="left">
        {now.left === undefined ? '–' : told(now.left)}
      </td>
    </tr>
  );
}

/** Rules with a result, then or now; others are folded away. */
function rulesPart(rules: readonly ExplainedRuleRow[]): Markup {
  const mattered = rules.filter(saysSomething);
  const silent = rules.filter((rule) => !saysSomething(rule));
  return (
    <>
      {mattered.length > 0 ? (
        ruleTable(mattered, 'Rules with something against it')
      ) : (
        <p>No rule had anything against it, and none has now.</p>
      )}
      {silent.length > 0 && (
        <details>
          <summary>
            {pageCount(silent.length, mattered.length > 0 ? 'other rule' : 'rule')} with nothing against it
          </summary>
          {ruleTable(silent, 'Rules with nothing against it')}
        </details>
      )}
    </>
  );
}

const saysSomething = ({ atDecision, now }: ExplainedRuleRow): boolean =>
  atDecision.length > 0 ||
  (now !== undefined && (now.violations.length > 0 || now.outcome === 'missing' || now.outcome === 'failed'));

const ruleTable = (rules: readonly ExplainedRuleRow[], caption: string): Markup => (
  <Table label={caption} caption={`${caption}, then and now`} columns={['Rule', 'Then', 'Now']}>
    <tbody>
      {rules.map(({ id, kind, mode, atDecision, now, whyNot }) => (
        <tr>
          <th scope="row">
            <code>{id}</code>
            <small class="soft">
              {kind} {mode}
            </small>
          </th>
          <td class="full" data-l="Then:">
            {violations(atDecision)}
          </td>
          <td class="full" data-l="Now:">
            {now === undefined ? (
              <span class="soft">{whyNot ?? 'not asked again'}</span>
            ) : now.violations.length > 0 ? (
              violations(now.violations)
            ) : (
              <span class="soft">
                {NOW_WORDS[now.outcome]}
                {now.detail !== undefined && <>: {now.detail}</>}
              </span>
            )}
          </td>
        </tr>
      ))}
    </tbody>
  </Table>
);

const NOW_WORDS: Readonly<Record<NonNullable<ExplainedRuleRow['now']>['outcome'], string>> = {
  matched: 'nothing against it',
  'not matched': 'does not ask about this job',
  off: 'off',
  missing: 'cannot tell',
  exempt: 'exempt',
  failed: 'failed',
};

const violations = (all: readonly DisclosedViolation[]): Markup | Markup[] =>
  all.length === 0 ? (
    <span class="soft">nothing against it</span>
  ) : (
    all.map(({ code, text, mode }) => (
      <div>
        <code>{code}</code> {modeTag(mode)} {text}
      </div>
    ))
  );

const jobPage = (user: User, shown: JobPageProps, telling: PageFormat): Markup => {
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

/** A job is asked for by a word, and explained. */
export function jobRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const app = new Hono<SignInEnv>();

  app.get('/jobs', async (c) => {
    const word = query(c, 'q', WORD_CHARACTERS_MAX);
    return word === undefined ? send(c, findJobPage(c.var.user, '', undefined)) : showJob(c, deps, word);
  });
  app.get('/jobs/:word', (c) => showJob(c, deps, c.req.param('word')));

  return app;
}

const WORD_CHARACTERS_MAX = 500;
const REQUESTS_SHOWN = 5;

async function showJob(c: PageContext, deps: PagesDeps, word: string): Promise<Response> {
  const { user } = c.var;
  const answer = await deps.read.job(word, user);
  switch (answer.outcome) {
    case 'found': {
      const { explanation: job } = answer;
      // By this address a request is known to be about it.
      const link = job.job.url ?? `${deps.origin}${jobPagePath(job.jobId)}`;
      const rows = job.rejection === undefined ? [] : await deps.read.requests(user);
      const requests = rows.filter((row) => row.link === link).slice(0, REQUESTS_SHOWN);
      return send(c, jobPage(user, { job, link, requests }, pageFormatOf(deps)));
    }
    case 'unknown':
      return send(c, findJobPage(user, word, answer.sentence), 404);
    case 'unreadable':
      return send(c, findJobPage(user, word, answer.sentence), 422);
  }
}

/** Search form of jobs; with a sentence if the last search failed. */
const findJobPage = (user: User, word: string, sentence: string | undefined): Markup => (
  <ConsolePage title="Find a job" at="/jobs" user={user}>
    <div class="head">
      <div>
        <h1>Find a job</h1>
        <p>Why a job was admitted or rejected, and what would become of it now.</p>
      </div>
    </div>
    {sentence !== undefined && (
      <div class="note warn" role="status">
        <p>{sentence}</p>
      </div>
    )}
    <form class="card filters" method="get" action="/jobs" role="search">
      <label>
        Job id, decision id or the address of the job’s page
        <input
          type="search"
          name="q"
          value={word}
          maxlength={500}
          required
          autofocus
          placeholder="4711 or d-4711-1"
        />
      </label>
      <button class="main">Explain</button>
    </form>
  </ConsolePage>
);
