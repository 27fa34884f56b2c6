/** A rule as it will be written, in the order of its keys. */
export interface ImportedRule {
  readonly id: string;
  readonly kind: 'image' | 'services' | 'pull-policy' | 'container-user' | 'overwrites' | 'resources';
  readonly onMissing: 'admit' | 'skip';
  /** Settings of the kind: `allow`, `max`, `users`, `build` … */
  readonly checks: Readonly<Record<string, unknown>>;
  /** Settings it was made of. */
  readonly from: readonly RuleSource[];
}

/** A setting of the Runner that a part of a rule was made of. */
export interface RuleSource {
  /** `allowed_images`. */
  readonly setting: string;
  readonly line: number;
  /** The check it became: `allow`, `build.cpu_limit`. */
  readonly check: string;
}

/** Stable, for scripts. */
export type NoteCode =
  /** The Runner allows it, and no rule can refuse it. */
  | 'no_rule'
  /** The Runner decides it, and no rule sees it. */
  | 'not_seen'
  /** The Runner restricts nothing here, so there is no rule. */
  | 'unrestricted'
  /** The rule refuses something the Runner takes. */
  | 'rule_stricter'
  /** The rule takes something the Runner refuses. */
  | 'rule_looser'
  /** The setting does not do what it looks like. */
  | 'no_effect'
  /** Which runner it is about is not in the file. */
  | 'runner_not_told'
  /** The policy admits jobs that the Runner then fails. */
  | 'policy_admits'
  /** The policy refuses what the Runner takes. */
  | 'policy_refuses';

export interface ImportNote {
  readonly code: NoteCode;
  /** The line of the config.toml. */
  readonly line: number;
  readonly text: string;
}

/** Result for one `[[runners]]`. */
export interface ImportedRunner {
  readonly name: string;
  readonly line: number;
  readonly executor: string;
  readonly runnerId?: number;
  readonly rules: readonly ImportedRule[];
  readonly class: ImportedClass;
  readonly notes: readonly ImportNote[];
}

/** Keys of a runner class in policy.yaml that the file knows: the size of the build, and what jobs may overwrite. */
export interface ImportedClass {
  readonly cpu?: string;
  readonly memory?: string;
  readonly overwrites: 'none' | Readonly<Record<string, string>>;
}
