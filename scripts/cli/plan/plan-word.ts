import type { PlanSummary } from '../../../functions/answers/plans/model.ts';
import { closest } from '../../../policies/document/reading.ts';
import { DocumentError } from '../../policy/read-documents.ts';
import { UsageError } from '../../terminal/command.ts';
import { type ApiAnswer, type ApiClient, answeredInProcess } from '../api/api-in-process.ts';

export const PLAN_HELP = '  <plan>               its name, or its id, from tollgate plan ls';

/** @throws {UsageError} if no plan is called like this, or several are. */
export async function planOfWord(word: string | undefined, api: ApiClient): Promise<PlanSummary> {
  if (word === undefined) throw new UsageError('expected a plan: its name or its id, from tollgate plan ls');
  const plans = await answeredInProcess(api.plans.$get());
  const found = plans.filter(({ id, name }) => id === word || name === word);
  const [plan] = found;
  if (plan !== undefined && found.length === 1) return plan;
  if (plan !== undefined)
    throw new UsageError(
      `"${word}": ${found.length} plans are called so; name the id: ${found.map(({ id }) => id).join(', ')}`,
    );
  const like = closest(
    word,
    plans.map(({ name }) => name),
  );
  throw new UsageError(
    `"${word}": there is no such plan; ${like === undefined ? 'tollgate plan ls lists them' : `did you mean "${like}"?`}`,
  );
}

/** What was written into a plan. @throws {DocumentError} with every problem, {Error} for all else that stands in the way. */
export function writtenPlan<Body>(answer: ApiAnswer<Body>, file?: string): Body {
  if (answer.ok) return answer.body;
  const { error, problems } = answer.refused;
  if (problems === undefined) throw new Error(`${error.message} ${error.remedy}`);
  throw new DocumentError(
    problems.map(({ path, message }) => {
      const [line, column] = path;
      if (file === undefined) return `${path.join('.')}: ${message}`;
      const place = typeof line === 'number' && line > 0 ? `line ${line}` : 'file';
      return `${file}: ${place}${column === undefined || column === '' ? '' : `, ${column}`}: ${message}`;
    }),
  );
}
