import { agreementText } from '../../../functions/core/usage/agreement-text.ts';
import {
  agreementDayKeys,
  agreementDays,
  type BudgetAgreement,
  budgetAgreement,
} from '../../../functions/core/usage/budget-agreement.ts';
import { usageOf } from '../../../functions/core/usage/usage.ts';
import { limitPeriod } from '../../../policies/limits/limits.ts';
import type { DeskIo } from '../../terminal/command.ts';
import type { Paint } from '../../terminal/paint.ts';
import { rollupZone } from '../rollup-zone.ts';
import type { Budget } from './open-budget.ts';
import type { Standing } from './standing.ts';

/** Whether counter, usage and records say the same of each of the subject's own, same order; undefined: nothing adds up over days. */
export async function agreementsOf(
  subject: string,
  all: readonly Standing[],
  { rollup, recounts }: Pick<Budget, 'rollup' | 'recounts'>,
  io: Pick<DeskIo, 'env' | 'nowMs'>,
): Promise<readonly (BudgetAgreement | undefined)[]> {
  const nowMs = io.nowMs();
  const usageZone = rollupZone(io);
  const recount = await recounts?.read();
  const agreements: (BudgetAgreement | undefined)[] = [];
  for (const { subject: whose, limit, used: settled, held } of all) {
    const { id, kind, unit, zone, per } = limit;
    const period = limitPeriod(limit, nowMs);
    const budget = { subject, id, kind, unit, zone, per, period, settled, held };
    const span = whose !== subject ? undefined : agreementDays(budget, usageZone, nowMs);
    const days =
      span && (await rollup.readUsage(agreementDayKeys(span).map((day) => ({ subject, day })))).map(usageOf);
    agreements.push(days && budgetAgreement(budget, { days, usageZone, recount }));
  }
  return agreements;
}

/** One line for each. @param zone - in which the recount's time is told */
export const agreementLines = (
  agreements: readonly (BudgetAgreement | undefined)[],
  currency: string,
  zone: string,
  paint: Paint,
): string =>
  agreements
    .flatMap((agreement) => {
      if (agreement === undefined) return [];
      const { tone, text } = agreementText(agreement, currency, zone);
      return `${tone === 'fits' ? paint.good('figures agree') : paint.warn('figures differ')}  ${agreement.limit}: ${text}\n`;
    })
    .join('');
