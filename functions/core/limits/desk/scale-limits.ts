/**
 * Scales all limits of a kind in a subtree by a share. Exact decimal arithmetic, without floats. An empty
 * result is no change.
 */
import { readWrittenAmount } from '../../../../policies/document/written.ts';
import { capOf } from '../../../../policies/limits/cap.ts';
import type { Entry, LimitsDraft } from './draft.ts';
import { spanOf } from './edit-limit.ts';
import type { ScaleLimits } from './limit-edit.ts';
import { subjectOfEntry } from './subject-text.ts';

const SHARE = /^[-+]\s*\d{1,4}(?:[.,]\d{1,3})?\s*%$/;
const STEP = /^\d{1,12}(?:\.\d{1,6})?$/;
const PLACES = 6;

export function scaleLimits(draft: LimitsDraft, edit: ScaleLimits): undefined {
  const { subject, unit = 'money', round, below = true } = edit;
  const share = edit.by.replace(/^([-+])\s+/, '$1').trim();
  if (!SHARE.test(share)) return draft.refuse('by', `'${edit.by}'; expected a share such as +8% or -12.5%`);
  const step = round === undefined ? undefined : microsOf(String(round));
  if (round !== undefined && (step === undefined || step === 0n))
    return draft.refuse('round', `'${round}'; expected a step above 0, such as 10 or 0.5`);
  const { reaches } = draft.context;
  const meant = draft.list('limits').filter((entry) => {
    const of = subjectOfEntry('limits', entry);
    // A cap is a bound for one pipeline or user, and no budget.
    if (of === undefined || capOf(of) !== undefined || !isScaled(entry, unit)) return false;
    const { untilMs = Number.POSITIVE_INFINITY } = spanOf(entry);
    if (untilMs <= draft.context.nowMs) return false;
    return of === subject || (below && (subject === 'instance' || reaches?.(subject, of) === true));
  });
  for (const entry of meant) {
    const was = String(entry[unit]);
    // A share has no currency.
    const read = readWrittenAmount(share, { currency: '', was });
    if (!read.ok) return draft.refuse('by', read.message);
    draft.put('limits', entry, {
      ...entry,
      [unit]: step === undefined ? read.text : rounded(read.text, step),
    });
  }
  return undefined;
}

/** It has an amount of the kind: not `unlimited`, and not 0, which blocks. */
function isScaled(entry: Entry, unit: ScaleLimits['unit'] & string): boolean {
  const micros = microsOf(String(entry[unit] ?? ''));
  return micros !== undefined && micros > 0n;
}

/** To the nearest step, a half up; never to nothing, which would block. */
function rounded(text: string, step: bigint): string {
  const micros = microsOf(text) ?? 0n;
  const steps = (micros + step / 2n) / step;
  return decimalText((steps === 0n ? 1n : steps) * step);
}

function microsOf(text: string): bigint | undefined {
  if (!STEP.test(text)) return undefined;
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(PLACES, '0'));
}

function decimalText(micros: bigint): string {
  const digits = micros.toString().padStart(PLACES + 1, '0');
  const fraction = digits.slice(-PLACES).replace(/0+$/, '');
  return `${digits.slice(0, -PLACES)}${fraction === '' ? '' : `.${fraction}`}`;
}
