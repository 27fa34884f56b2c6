/** A plan becomes an edit of the limits: in force from its day on, and until then to be taken back like any other. */
import type { ApplyOutcome, EditAuthor, LimitEdit, LimitsDesk, PlanDraft } from '../core/limits/index.ts';

/** What adopting a plan does to the limits that are live. */
export const adoptionOf = ({ document }: PlanDraft): LimitEdit => ({ kind: 'replace', document });

/** Why a plan cannot be adopted, in words; undefined: it can. @param today - `2026-11-21` */
export function notToAdopt({ plan, lines, problems }: PlanDraft, today: string): string | undefined {
  if (plan.from <= today) return `Its day is here: from ${plan.from} on limits are edited as they are.`;
  if (problems.length > 0) return 'It does not fit the limits as they are by now.';
  const changes = lines.some(({ without, planned }) => without.amount !== planned.amount);
  return changes ? undefined : 'It changes nothing: the limits are so from that day on already.';
}

/** Makes it live, or files the request that does; then the plan names the request. */
export async function adopt(
  draft: PlanDraft,
  by: Omit<EditAuthor, 'base'>,
  desk: Pick<LimitsDesk, 'apply' | 'editPlan'>,
): Promise<ApplyOutcome> {
  const outcome = await desk.apply([adoptionOf(draft)], { ...by, base: draft.set });
  if (outcome.outcome === 'needs_approval' && outcome.request !== undefined)
    await desk.editPlan({ kind: 'asked', id: draft.plan.id, request: outcome.request.id }, by);
  return outcome;
}
