/** How far a rule or limit may go: `shadow` evaluates and records, `warn` also tells the owner, `enforce` rejects. */
export type Mode = 'off' | 'shadow' | 'warn' | 'enforce';

export const MODES: readonly Mode[] = ['off', 'shadow', 'warn', 'enforce'];

/** Cost and capacity open when our side fails; security closes. */
export type RuleClass = 'cost' | 'capacity' | 'security';

const REACH: Readonly<Record<Mode, number>> = { off: 0, shadow: 1, warn: 2, enforce: 3 };

/** The more careful of two modes: a limit's own mode acts on that limit only and can never tighten another. */
export const leastMode = (one: Mode, other: Mode): Mode => (REACH[one] <= REACH[other] ? one : other);

/** Positive if the first goes further. */
export const compareModes = (one: Mode, other: Mode): number => REACH[one] - REACH[other];
