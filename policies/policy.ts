import type { EstimateSettings } from './estimate.ts';
import type { Platform } from './platform.ts';
import type { PriceTable } from './prices/price.ts';
import type { RolloutSettings } from './rollout-step.ts';
import type { Rule } from './rule.ts';
import type { RuleIndex } from './rule-index.ts';
import type { DiscloseSettings } from './text/reason-text.ts';

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
  /** What a group needs before its rules go further. */
  readonly rollout: RolloutSettings;
  /**
   * Whose jobs go first where several root groups wait for room: one of weight 2 gets two turns for one of weight 1, which
   * all have that are not named here. By group id.
   */
  readonly waitWeights?: ReadonlyMap<number, number>;
  /** Groups whose jobs are retried when a slot is free. Absent: nobody's. */
  readonly requeue?: readonly RequeueSettings[];
  /** Groups whose merge requests are told what became of a request for more. Absent: nobody's. By group id. */
  readonly requestNotes?: readonly number[];
}

/** What a group agreed to: its jobs that were rejected for lack of slots alone are retried. */
export interface RequeueSettings {
  readonly groupId: number;
  /** How often one job is retried at most. */
  readonly retries: number;
  /** From its first rejection on. */
  readonly withinSeconds: number;
  /** Higher goes first. */
  readonly priority: number;
}

/** Variables that survive translation beside those every deployment keeps. */
export interface VariableAllowlist {
  readonly names: readonly string[];
  readonly prefixes: readonly string[];
  /** Names whose values rules compare; where nobody can tell a value, that it is set is passed on. */
  readonly compared: readonly string[];
}
