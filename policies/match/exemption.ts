import type { Conditions, MatchInput } from './conditions.ts';
import { allHold, placeFirst } from './match.ts';

/** Jobs that a rule lets pass: all conditions must hold, for certain, until the time is over. */
export interface Exemption {
  readonly conditions: Conditions;
  /** For the record and for reviewers. */
  readonly reason: string;
  /** Unix ms; from this instant on it counts no more. Absent: never ends. */
  readonly untilMs?: number;
  readonly ticket?: string;
}

/** `unproven` names the field that would tell whether an exemption holds. */
interface ExemptionFound {
  readonly exemption?: Exemption;
  readonly unproven?: string;
}

const NONE: ExemptionFound = {};

/** The first exemption that holds now. What cannot be told is no exemption. */
export function exemptionOf(exempt: readonly Exemption[], job: MatchInput, nowMs: number): ExemptionFound {
  if (exempt.length === 0) return NONE;
  let unproven: string | undefined;
  for (const exemption of exempt) {
    if (exemption.untilMs !== undefined && nowMs >= exemption.untilMs) continue;
    const held = allHold(exemption.conditions, job);
    if (held === true) return { exemption };
    if (held !== false) unproven = unproven === undefined ? held : placeFirst(unproven, held);
  }
  return unproven === undefined ? NONE : { unproven };
}
