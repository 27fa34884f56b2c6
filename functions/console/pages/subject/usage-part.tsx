import { durationText } from '../../../../policies/units/unit-texts.ts';
import type { Rejections, SubjectView, UsageView } from '../../../answers/groups/model.ts';
import { daySpan, shortDayLabel } from '../parts/chart-scale.ts';
import { Card, Columns, Table } from '../parts/layout.tsx';
import { outside, subjectLink } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import {
  bare,
  distance,
  type PageFormat,
  pageAmount,
  pageCount,
  shortInstant,
} from '../parts/page-format.tsx';

/** Use by user and class. */
export function usagePart({ usage, subject }: SubjectView, telling: PageFormat): Markup {
  const { topProjects, topJobs, runnerClasses, otherProjectsMicros, otherClassesMicros } = usage;
  const together = usage.settledMicros + usage.heldMicros;
  return (
    <>
      <div class="two">
        <Card id="projects" title="Costliest projects">
          {topProjects.length === 0 ? (
            <p class="soft">
              {together === 0
                ? 'No project has cost anything in these days.'
                : 'Which projects a runner class was used by is not kept.'}
            </p>
          ) : (
            <table>
              <caption class="hidden">Costliest projects</caption>
              <Columns of={['Project', [telling.currency, 'n']]} />
              <tbody>
                {topProjects.map(({ projectId, path, micros }) => (
                  <tr>
                    <th scope="row" class="path">
                      <a href={`/projects/${projectId}`}>{path}</a>
                    </th>
                    <td class="n">{bare(micros, 'micros')}</td>
                  </tr>
                ))}
                {otherRow(otherProjectsMicros, otherProjects(usage))}
              </tbody>
              {togetherRow(together)}
            </table>
          )}
        </Card>
        <Card id="jobs" title="Longest jobs">
          {topJobs.length === 0 ? (
            <p class="soft">No job is remembered yet.</p>
          ) : (
            <table>
              <caption class="hidden">Jobs that usually run longest</caption>
              <Columns of={['Job', ['Usually', 'n'], ['Runs', 'n']]} />
              <tbody>
                {topJobs.map(({ path, job, runs, usualSeconds }) => (
                  <tr>
                    <th scope="row" class="path">
                      {job}
                      <small class="soft">{path}</small>
                    </th>
                    <td class="n">{durationText(usualSeconds)}</td>
                    <td class="n">{runs}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Card>
      </div>
      {runnerClasses.length > 0 && (
        <Card id="classes" title="Runner classes">
          <table>
            <caption class="hidden">Use by runner class</caption>
            <Columns of={['Class', [telling.currency, 'n'], ['Ran', 'n'], ['Jobs', 'n']]} />
            <tbody>
              {runnerClasses.map(({ name, micros, seconds, jobs }) => (
                <tr>
                  <th scope="row">{classLink(name, subject)}</th>
                  <td class="n">{bare(micros, 'micros')}</td>
                  <td class="n">{durationText(seconds)}</td>
                  <td class="n">{jobs.toLocaleString('en-US')}</td>
                </tr>
              ))}
              {otherRow(otherClassesMicros, otherClasses(subject), 2)}
            </tbody>
            {togetherRow(together, 2)}
          </table>
        </Card>
      )}
    </>
  );
}

/** Pages of classes are of the whole GitLab, and there is none of a class the policy has no more. */
export const classLink = (name: string, subject: string): Markup | string =>
  subject === 'instance' ? subjectLink(`runner-class/${name}`, name) : name;

/** Classes of groups and projects are computed at night. */
export const otherClasses = (subject: string): string =>
  subject === 'instance' ? 'No class' : 'No class, or not yet known';

/** The rest of a table, so that rows add up. @param empty - cells after the amount */
const otherRow = (micros: number, label: string, empty = 0): Markup | '' =>
  micros === 0 ? (
    ''
  ) : (
    <tr>
      <th scope="row" class="soft">
        {label}
      </th>
      <td class="n">{bare(micros, 'micros')}</td>
      {emptyCells(empty)}
    </tr>
  );

const togetherRow = (micros: number, empty = 0): Markup => (
  <tfoot>
    <tr>
      <th scope="row">
        Together <small class="soft">spent and held</small>
      </th>
      <td class="n">{bare(micros, 'micros')}</td>
      {emptyCells(empty)}
    </tr>
  </tfoot>
);

const emptyCells = (count: number): Markup[] => Array.from({ length: count }, () => <td />);

const otherProjects = ({ fromDay, topFromDay }: UsageView): string =>
  fromDay === topFromDay ? 'Other projects' : `Other projects, and days before ${shortDayLabel(topFromDay)}`;

export const usageSentence = (usage: UsageView, telling: PageFormat): Markup => (
  <>
    {daySpan(usage)}: {pageCount(usage.jobs, 'job')}, {pageAmount(usage.settledMicros, 'micros', telling)}{' '}
    spent, {pageAmount(usage.heldMicros, 'micros', telling)} held, {durationText(usage.seconds)} run;{' '}
    {pageCount(usage.rejected, 'job')} rejected
    {usage.ranRejected > 0 && (
      <>
        , <span class="warn-text">{usage.ranRejected.toLocaleString('en-US')} of them ran all the same</span>
      </>
    )}
    {usage.unmetered + usage.bypass > 0 && (
      <>
        ,{' '}
        <span class="warn-text">
          {(usage.unmetered + usage.bypass).toLocaleString('en-US')} ran without being asked about
        </span>
      </>
    )}
    {usage.exempt > 0 && <>, {usage.exempt.toLocaleString('en-US')} exempt</>}.
  </>
);

/** Rejected jobs with reasons. */
export function rejectionsPart({ byRule, watchedByRule, latest }: Rejections, telling: PageFormat): Markup {
  if (byRule.length + watchedByRule.length + latest.length === 0)
    return <p class="soft">No job was rejected in these days.</p>;
  return (
    <>
      {byRule.length > 0 && <p>Rejected, by rule: {ruleCounts(byRule)}.</p>}
      {watchedByRule.length > 0 && (
        <p>Would have been rejected, by rules that only watch: {ruleCounts(watchedByRule)}.</p>
      )}
      {latest.length > 0 && (
        <Table label="Rejected jobs" caption="The latest rejected jobs" columns={['Job', 'When', 'Why']}>
          <tbody>
            {latest.map((job) => (
              <tr>
                <th scope="row" class="path job">
                  <a href={`/jobs/${job.decisionId}`}>{job.jobName ?? `job ${job.jobId}`}</a>
                  <small class="soft">
                    {job.projectPath}
                    {job.url !== undefined && <> · {outside(job.url, 'in GitLab')}</>}
                  </small>
                </th>
                <td>
                  {shortInstant(job.atMs, telling)}
                  <small class="soft"> {distance(job.atMs, telling.nowMs)}</small>
                </td>
                <td class="full">
                  {job.reasons.map(({ code, text }) => (
                    <div>
                      <code>{code}</code> {text}
                    </div>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </>
  );
}

const ruleCounts = (rules: Rejections['byRule']): Markup[] =>
  rules.map(({ rule, jobs }, index) => (
    <>
      {index > 0 && ', '}
      <code>{rule}</code> {pageCount(jobs, 'job')}
    </>
  ));
