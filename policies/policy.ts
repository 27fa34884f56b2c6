import type { Disclosure } from './disclosure.ts';
import type { EstimateMode } from './estimate.ts';
import type { Platform } from './platform.ts';
import type { PriceTable } from './price.ts';
import type { Rule } from './rule.ts';
import type { RuleIndex } from './rule-index.ts';

/**
 * The policy document, compiled: wildcards parsed, money in micro-units, rules indexed. Reviewed in git and changed by
 * a deploy only. Made by `parsePolicy`; `policies/policy.yaml` documents the format.
 */
export interface Policy {
  /** A short hash of the document's content; travels with every record. */
  readonly version: string;
  /** ISO 4217 code of the one currency of the deployment. */
  readonly currency: string;
  readonly prices: PriceTable;
  readonly estimate: EstimateSettings;
  readonly platform: Platform;
  /** In document order. */
  readonly rules: readonly Rule[];
  readonly ruleIndex: RuleIndex;
  readonly variables: VariableAllowlist;
  /** Whether identity may be read from variables, which users can forge. */
  readonly trustVariables: boolean;
  readonly disclose: DiscloseSettings;
}

export interface EstimateSettings {
  /** What a job is taken to last when its timeout is longer, or not known. */
  readonly defaultSeconds: number;
  /** A job's timeout where GitLab sends none: GitLab's own default is an hour. */
  readonly timeoutSeconds: number;
  /** Absent: `history`. */
  readonly mode?: EstimateMode;
}

/** Variables that survive translation beside those every deployment keeps. */
export interface VariableAllowlist {
  readonly names: readonly string[];
  readonly prefixes: readonly string[];
}

export interface DiscloseSettings {
  readonly default: Disclosure;
  /** By group id; the closest ancestor that names one decides. */
  readonly byGroup: ReadonlyMap<number, Disclosure>;
}
