import { type DocumentProblem, problemText } from '../../../../policies/document/reading.ts';
import { LIMIT_KINDS } from '../../../../policies/units/unit.ts';
import type { EditForm } from './edit-form-parts.ts';

/** Assigns problems of an edit to fields, if they have one. */
export function byField(
  problems: readonly DocumentProblem[],
  form: Pick<EditForm, 'fields' | 'more'>,
): { readonly problems: ReadonlyMap<string, string>; readonly others: readonly string[] } {
  const names = new Set([...form.fields, ...(form.more ?? [])].map(({ name }) => name));
  const fields = new Map<string, string>();
  const others: string[] = [];
  for (const problem of problems.slice(0, PROBLEMS_SHOWN)) {
    // A limit's amount is named by its unit.
    const steps = problem.path.map((step) => (AMOUNTS.has(String(step)) ? 'amount' : String(step)));
    const name = steps.findLast((step) => names.has(step));
    if (name === undefined || fields.has(name)) others.push(problemText(problem));
    else fields.set(name, problem.message);
  }
  return { problems: fields, others };
}

const PROBLEMS_SHOWN = 50;
const AMOUNTS: ReadonlySet<string> = new Set(LIMIT_KINDS);
