import { dayLabel, dayOfIso } from '../../../../policies/limits/calendar.ts';
import type { Unit } from '../../../../policies/units/unit.ts';
import type { PlanView } from '../../../answers/plans/model.ts';
import type { Markup } from '../parts/markup.ts';
import { type PageFormat, pageAmount } from '../parts/page-format.tsx';

/** `1 January 2027` */
export const planDay = (from: string): string => dayLabel(dayOfIso(from));

export const planAmount = (
  amount: number | 'unlimited' | undefined,
  unit: Unit,
  telling: PageFormat,
): string =>
  amount === undefined ? '–' : amount === 'unlimited' ? 'unlimited' : pageAmount(amount, unit, telling);

/** `+8 %`; nothing where one of them is no number or there is no difference. */
export function differenceWords(from: number | 'unlimited' | undefined, to: number | 'unlimited'): string {
  if (typeof from !== 'number' || typeof to !== 'number' || from === to || from === 0) return '';
  const share = Math.round((to / from - 1) * 1_000) / 10;
  return `${share < 0 ? '−' : '+'}${Math.abs(share)} %`;
}

const STATES: Readonly<Record<PlanView['state'], readonly [text: string, style: string]>> = {
  draft: ['draft', ''],
  asked: ['waits for approval', 'warn'],
  adopted: ['adopted', 'good'],
  over: ['its day is here', ''],
};

export const stateTag = (state: PlanView['state']): Markup => (
  <span class={`tag ${STATES[state][1]}`}>{STATES[state][0]}</span>
);
