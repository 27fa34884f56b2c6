/** `shadow` evaluates and records, `warn` also notifies the owner, `enforce` rejects. */
export type Mode = 'off' | 'shadow' | 'warn' | 'enforce';

export const MODES: readonly Mode[] = ['off', 'shadow', 'warn', 'enforce'];

/** Cost and capacity open when our side fails; security closes. */
export type RuleClass = 'cost' | 'capacity' | 'security';
