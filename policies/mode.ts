/** `shadow` evaluates and records, `warn` also notifies the owner, `enforce` rejects. */
export const MODES = ['off', 'shadow', 'warn', 'enforce'] as const;

export type Mode = (typeof MODES)[number];

/** Cost and capacity open when our side fails; security closes. */
export type RuleClass = 'cost' | 'capacity' | 'security';
