import {
  csv,
  csvField,
  decimal,
  type FocusFields,
  focusCharge,
  shortDecimal,
} from '../../../functions/answers/statement/csv.ts';
import type { Statement, StatementLine } from '../../../functions/answers/statement/model.ts';

/** The statement as a FOCUS 1.2 dataset, CSV. See https://focus.finops.org/focus-specification/v1-2/ */
export function focusCsv(statement: Statement): string {
  const rows = statement.lines.map((line) => focusFields(line, statement));
  const columns = Object.keys(rows[0] ?? {});
  return csv([columns, ...rows.map((row) => columns.map((name) => row[name] ?? ''))]);
}

function focusFields(line: StatementLine, statement: Statement): FocusFields {
  const { micros, seconds, jobs, late, cause, microsPerMinute, priceVersion, job, projectId } = line;
  const { instance, currency, startMs, endMs } = statement;
  const [groupPath, projectPath] = [csvField(line.groupPath ?? ''), csvField(line.projectPath ?? '')];
  const runnerClass = csvField(line.runnerClass);
  const price = decimal(microsPerMinute);
  const [type, name] = projectId === undefined ? ['', ''] : ['Project', projectPath];
  return {
    ...focusCharge({
      ...{ micros, seconds, jobs, isPriced: true, instance, currency, category: 'Usage' },
      ...{ billing: { startMs, endMs }, charged: { startMs: line.dayStartMs, endMs: line.dayEndMs } },
      // The top-level group pays; if unknown, the GitLab itself.
      account: { ...(line.rootId !== undefined && { id: line.rootId }), name: line.rootPath ?? '' },
      ...(line.groupId !== undefined && { subAccount: { id: line.groupId, name: line.groupPath ?? '' } }),
      // Only what an earlier statement of this month did not have; within the month a correction is no correction to FOCUS.
      isCorrection: late,
      description: descriptionOf(line),
    }),
    ContractedUnitPrice: price,
    ListUnitPrice: price,
    // Billed minutes, because durations are rounded up; real minutes if free.
    PricingQuantity: shortDecimal(microsPerMinute === 0 ? seconds / 60 : micros / microsPerMinute),
    ResourceId: String(job?.id ?? projectId ?? ''),
    ResourceName: job === undefined ? name : csvField(job.name ?? ''),
    ResourceType: job === undefined ? type : 'CI Job',
    SkuId: runnerClass,
    SkuPriceDetails: csvField(JSON.stringify({ RunnerClass: line.runnerClass })),
    SkuPriceId: csvField(`${line.runnerClass}@${priceVersion}`),
    x_GroupPath: groupPath,
    x_ProjectPath: projectPath,
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
