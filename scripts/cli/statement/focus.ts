import {
  csvField,
  decimal,
  type FocusFields,
  focusCharge,
  focusRows,
  shortDecimal,
} from '../../../functions/answers/statement/csv.ts';
import type { Statement, StatementLine } from '../../../functions/answers/statement/model.ts';

/** The statement as a FOCUS 1.2 dataset, CSV. See https://focus.finops.org/focus-specification/v1-2/ */
export const focusCsv = (statement: Statement): string =>
  focusRows(statement.lines.map((line) => focusFields(line, statement)));

function focusFields(line: StatementLine, statement: Statement): FocusFields {
  const { micros, seconds, jobs, late, cause, microsPerMinute, priceVersion, job, projectId } = line;
  const { rootId, rootPath = '', groupId, groupPath = '', projectPath = '' } = line;
  const { instance, currency, startMs, endMs } = statement;
  const runnerClass = csvField(line.runnerClass);
  const price = decimal(microsPerMinute);
  return {
    ...focusCharge({
      ...{ micros, seconds, jobs, isPriced: true, instance, currency, category: 'Usage' },
      ...{ billing: { startMs, endMs }, charged: { startMs: line.dayStartMs, endMs: line.dayEndMs } },
      // The top-level group pays; if unknown, the GitLab itself.
      account: { ...(rootId !== undefined && { id: rootId }), name: rootPath },
      ...(groupId !== undefined && { subAccount: { id: groupId, name: groupPath } }),
      // Only what an earlier statement of this month did not have; within the month a correction is no correction to FOCUS.
      isCorrection: late,
      description: descriptionOf(line),
    }),
    ContractedUnitPrice: price,
    ListUnitPrice: price,
    // Billed minutes, because durations are rounded up; real minutes if free.
    PricingQuantity: shortDecimal(microsPerMinute === 0 ? seconds / 60 : micros / microsPerMinute),
    ...(job === undefined
      ? projectId !== undefined && {
          ...{ ResourceId: String(projectId), ResourceName: csvField(projectPath), ResourceType: 'Project' },
        }
      : { ResourceId: String(job.id), ResourceName: csvField(job.name ?? ''), ResourceType: 'CI Job' }),
    SkuId: runnerClass,
    SkuPriceDetails: csvField(JSON.stringify({ RunnerClass: line.runnerClass })),
    SkuPriceId: csvField(`${line.runnerClass}@${priceVersion}`),
    x_GroupPath: csvField(groupPath),
    x_ProjectPath: csvField(projectPath),
    x_ProjectId: String(projectId ?? ''),
    x_RunnerClass: runnerClass,
    x_JobId: String(job?.id ?? ''),
    x_DecisionId: job?.decisionId ?? '',
    x_Unchecked: job?.unchecked ?? '',
    x_CorrectionCause: cause ?? '',
    x_LateTruth: String(late),
  };
}

function descriptionOf({ kind, cause, jobs, runnerClass, projectPath, job }: StatementLine): string {
  const whose = projectPath === undefined ? '' : ` of ${projectPath}`;
  const counted = job !== undefined ? `job ${job.name ?? job.id}` : jobs === 1 ? '1 job' : `${jobs} jobs`;
  const what = `${counted}${whose} on ${runnerClass}`;
  return kind === 'usage' ? `Runner minutes: ${what}` : `Correction (${cause ?? 'unknown'}): ${what}`;
}
