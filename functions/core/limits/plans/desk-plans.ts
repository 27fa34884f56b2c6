/** The desk's part about plans: reads them beside what is live, and writes into them. Nothing here is in force. */
import { parseLimits } from '../../../../policies/document/parse-limits.ts';
import type { DocumentProblem } from '../../../../policies/document/parsed.ts';
import { isRecord } from '../../../../policies/document/reading.ts';
import { readWrittenAmount } from '../../../../policies/document/written/written-amount.ts';
import { readWrittenDay } from '../../../../policies/document/written/written-day.ts';
import { dayNumber, dayOfIso } from '../../../../policies/limits/calendar.ts';
import { dayIn } from '../../../../policies/limits/zone.ts';
import { isMoney } from '../../../../policies/units/unit.ts';
import { pathOf } from '../csv/export-limits.ts';
import type { LimitsDesk, LimitsDeskDeps } from '../desk/contract.ts';
import type { DeskReader } from '../desk/desk-reads.ts';
import { editDocument } from '../desk/edit-document.ts';
import type { Asker } from '../desk/limit-request.ts';
import { type ReadLimitSet, reachIn } from '../desk/plan.ts';
import { mayDo } from '../desk/rights.ts';
import { subjectOfEntry } from '../desk/subject-text.ts';
import type { LimitPlan, PlanDraft, PlanEdit, PlannedAmount, PlanOutcome } from './limit-plan.ts';
import { AMOUNTS_MAX, PLANS_MAX, planId, readPlans, type StoredPlan, writePlan } from './plan-items.ts';
import { isSameAmount, limitsOfDay, limitToday, nameOf, plannedDocument } from './planned-limits.ts';

const NAME_CHARACTERS_MAX = 80;
/** Nobody knows the year after next. */
const DAYS_AHEAD_MAX = 800;
/** Two people in the same instant: one of them tries again. */
const TRIES_MAX = 3;

interface PlanDeskDeps {
  readonly deps: LimitsDeskDeps;
  readonly reads: DeskReader;
}

export function planDesk({ deps, reads }: PlanDeskDeps): Pick<LimitsDesk, 'plans' | 'plan' | 'editPlan'> {
  const { table, clock } = deps;
  const liveBase = async () => {
    const set = (await reads.live())?.pointer.set;
    return { set, base: await reads.base(set) };
  };
  return {
    plans: async () => (await readPlans(table)).map(({ plan }) => plan),
    plan: async (id) => {
      const [stored, { set, base }] = await Promise.all([find(id), liveBase()]);
      return stored && draftOf(stored.plan, set, base);
    },
    editPlan: async (edit, by) => {
      const { base } = await liveBase();
      const context = { limits: base.limits, directory: await reads.directory(), nowMs: clock.nowMs() };
      // A plan is about everybody's limits.
      if (!mayDo('loosen', 'instance', by.rights, context)) return { outcome: 'forbidden' };
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        const next = await edited(edit, by, base);
        if ('outcome' in next) return next;
        if (await writePlan(next, table)) return { outcome: 'saved', plan: next.plan };
      }
      return { outcome: 'busy' };
    },
  };

  async function find(id: string): Promise<StoredPlan | undefined> {
    return (await readPlans(table)).find(({ plan }) => plan.id === id);
  }

  async function draftOf(plan: LimitPlan, set: string | undefined, base: ReadLimitSet): Promise<PlanDraft> {
    const ofDay = limitsOfDay(base, plan.from);
    const known = new Set(ofDay.map(({ subject, id }) => nameOf(subject, id)));
    const gone = plan.amounts.filter(({ subject, limit }) => !known.has(nameOf(subject, limit)));
    const document = plannedDocument(base.document, ofDay, plan.amounts, plan.from);
    const parsed = parseLimits(document, '', deps.policy, await reads.directory());
    const then = parsed.ok ? limitsOfDay({ document, limits: parsed.value }, plan.from) : ofDay;
    const planned = new Map(then.map((each) => [nameOf(each.subject, each.id), each.limit]));
    const nowMs = clock.nowMs();
    const lines = ofDay.map((each) => {
      const today = limitToday(each, base.limits, nowMs);
      const { subject, id, limit } = each;
      return {
        ...{ subject, id, without: limit, planned: planned.get(nameOf(subject, id)) ?? limit },
        ...(today !== undefined && { today }),
      };
    });
    return { plan, set, lines, gone, document, problems: parsed.ok ? [] : parsed.problems };
  }

  /** What is to be written, or why not. */
  async function edited(edit: PlanEdit, by: Asker, base: ReadLimitSet): Promise<StoredPlan | PlanOutcome> {
    const nowMs = clock.nowMs();
    if (edit.kind === 'new') {
      if ((await readPlans(table)).length >= PLANS_MAX) return { outcome: 'too_many', max: PLANS_MAX };
      return begun(edit, by);
    }
    const stored = await find(edit.id);
    if (stored === undefined) return { outcome: 'unknown' };
    const next = (more: Partial<LimitPlan>): StoredPlan => ({
      rev: stored.rev + 1,
      plan: { ...stored.plan, ...more, changedBy: by.actor, changedAtMs: nowMs },
    });
    switch (edit.kind) {
      case 'discard':
        return next({ discarded: true });
      case 'asked':
        return next({ request: edit.request });
      case 'scale':
      case 'amounts': {
        const amounts =
          edit.kind === 'scale' ? await scaled(edit, stored.plan, base) : written(edit, stored.plan, base);
        return 'outcome' in amounts ? amounts : checked(next({ amounts }), base);
      }
    }
  }

  function begun({ name, from }: Extract<PlanEdit, { kind: 'new' }>, by: Asker): StoredPlan | PlanOutcome {
    const nowMs = clock.nowMs();
    const title = name.trim();
    if (title === '' || title.length > NAME_CHARACTERS_MAX)
      return invalid('name', `expected a name of at most ${NAME_CHARACTERS_MAX} characters`);
    const day = readWrittenDay(from);
    if (!day.ok) return invalid('from', day.message);
    const today = dayNumber(dayIn(deps.zone ?? 'UTC', nowMs));
    const ahead = /^\d{4}-\d{2}-\d{2}$/.test(day.text) ? dayNumber(dayOfIso(day.text)) - today : Number.NaN;
    if (!(ahead > 0 && ahead <= DAYS_AHEAD_MAX))
      return invalid('from', `'${from}'; expected a day to come, of the next two years, such as 2027-01-01`);
    const who = { by: by.actor, atMs: nowMs, changedBy: by.actor, changedAtMs: nowMs };
    const id = planId(nowMs, deps.newId());
    return { rev: 1, plan: { id, name: title, from: day.text, ...who, amounts: [] } };
  }

  function written(
    { amounts, decimal }: Extract<PlanEdit, { kind: 'amounts' }>,
    plan: LimitPlan,
    base: ReadLimitSet,
  ): readonly PlannedAmount[] | PlanOutcome {
    const known = new Map(limitsOfDay(base, plan.from).map((each) => [nameOf(each.subject, each.id), each]));
    const next = new Map(plan.amounts.map((each) => [nameOf(each.subject, each.limit), each]));
    const problems: DocumentProblem[] = [];
    for (const [index, { subject, limit, amount }] of amounts.entries()) {
      const name = nameOf(subject, limit);
      const found = known.get(name);
      const text = amount?.trim() ?? '';
      const planned = next.get(name);
      next.delete(name);
      if (text === '') continue;
      if (found === undefined) {
        problems.push({
          path: ['amounts', index],
          message: `${subject} ${limit}; is no limit that a plan from ${plan.from} can be about`,
        });
        continue;
      }
      const { written: was, limit: of } = found;
      // What stands there already is never asked about.
      const plain = decimal === ',' ? text.replace(',', '.') : text;
      if (isSameAmount(plain, was)) continue;
      if (planned !== undefined && isSameAmount(plain, planned.amount)) {
        next.set(name, planned);
        continue;
      }
      const { currency } = deps.policy;
      const read = readWrittenAmount(text, {
        ...{ currency, was, isMoney: isMoney(of.kind) },
        ...(decimal !== undefined && { decimal }),
      });
      if (!read.ok) problems.push({ path: ['amounts', index], message: read.message });
      else if (!isSameAmount(read.text, was)) next.set(name, { subject, limit, amount: read.text });
    }
    return problems.length > 0 ? { outcome: 'invalid', problems } : [...next.values()];
  }

  /** A share of what is in force, on top of nothing that was planned before. */
  async function scaled(
    { kind, id: _, ...edit }: Extract<PlanEdit, { kind: 'scale' }>,
    plan: LimitPlan,
    base: ReadLimitSet,
  ): Promise<readonly PlannedAmount[] | PlanOutcome> {
    const reaches = reachIn(await reads.directory());
    const context = { actor: '', nowMs: clock.nowMs(), newId: () => '', reaches };
    const made = editDocument(base.document, [{ kind, ...edit }], context);
    if (!made.ok) return { outcome: 'invalid', problems: made.problems };
    const next = new Map(plan.amounts.map((each) => [nameOf(each.subject, each.limit), each]));
    const ofDay = limitsOfDay(base, plan.from);
    const then = limitsOfDay({ document: made.document, limits: base.limits }, plan.from);
    for (const [index, { subject, id, written: amount }] of then.entries())
      if (!isSameAmount(amount, ofDay[index]?.written))
        next.set(nameOf(subject, id), { subject, limit: id, amount });
    return [...next.values()];
  }

  /** Whether the limits could be like this. */
  async function checked(next: StoredPlan, base: ReadLimitSet): Promise<StoredPlan | PlanOutcome> {
    const { amounts, from } = next.plan;
    if (amounts.length > AMOUNTS_MAX)
      return invalid('amounts', `${amounts.length}; expected at most ${AMOUNTS_MAX} limits`);
    const document = plannedDocument(base.document, limitsOfDay(base, from), amounts, from);
    const directory = await reads.directory();
    const parsed = parseLimits(document, '', deps.policy, directory);
    if (parsed.ok) return next;
    return { outcome: 'invalid', problems: parsed.problems.map(toldOf) };

    function toldOf(problem: DocumentProblem): DocumentProblem {
      const [list, index, ...field] = problem.path;
      const all: unknown = list === 'limits' ? document.limits : undefined;
      const entry: unknown = Array.isArray(all) && typeof index === 'number' ? all[index] : undefined;
      const subject = isRecord(entry) ? subjectOfEntry('limits', entry) : undefined;
      if (subject === undefined) return problem;
      return { path: [pathOf(subject, directory) ?? subject, ...field], message: problem.message };
    }
  }
}

const invalid = (field: string, message: string): PlanOutcome => ({
  outcome: 'invalid',
  problems: [{ path: [field], message }],
});
