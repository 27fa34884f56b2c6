/** How far a rule or limit may go: `shadow` evaluates and records, `warn` also tells the owner, `enforce` rejects. */
export type Mode = "off" | "shadow" | "warn" | "enforce";

export const MODES: readonly Mode[] = ["off", "shadow", "warn", "enforce"];

/** Cost and capacity open when our side fails; security closes. */
export type RuleClass = "cost" | "capacity" | "security";

/** The most careful of several modes wins: a limit's own mode acts on that limit only and can never tighten another. */
export const leastMode = (...modes: readonly Mode[]): Mode =>
	MODES[Math.min(...modes.map((mode) => MODES.indexOf(mode)))] ?? "off";
