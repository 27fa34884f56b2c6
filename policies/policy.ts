import type { EstimateSettings } from './estimate.ts';
import type { Platform } from './platform.ts';
import type { PriceTable } from './price.ts';
import type { RolloutSettings } from './rollout-step.ts';
import type { Rule } from './rule.ts';
import type { RuleIndex } from './rule-index.ts';
import type { DiscloseSettings } from './text/reason-text.ts';

export interface Policy {
  readonly version: string;
  readonly currency: string;
  readonly prices: PriceTable;
  readonly estimate: EstimateSettings;
  readonly platform: Platform;
  readonly rules: readonly Rule[];
  readonly ruleIndex: RuleIndex;
  readonly variables: VariableAllowlist;
  /** Reads identity from variables. Users can forge variables. */
  readonly trustVariables: boolean;
  readonly disclose: DiscloseSettings;
  readonly rollout: RolloutSettings;
  /** Turns of root groups whose jobs wait, by group id. Others have 1. */
  readonly waitWeights?: ReadonlyMap<number, number>;
  readonly requeue?: readonly RequeueSettings[];
  /** Groups whose merge requests get a note about the result of a request for more. */
  readonly requestNotes?: readonly number[];
}

export interface RequeueSettings {
  readonly groupId: number;
  readonly retries: number;
  readonly withinSeconds: number;
  readonly priority: number;
}

/** Variables kept by the relay, in addition to those of every deployment. */
export interface VariableAllowlist {
  readonly names: readonly string[];
  readonly prefixes: readonly string[];
  /** Names that rules compare. If the value is unknown, only the fact that it is set is passed on. */
  readonly compared: readonly string[];
}
