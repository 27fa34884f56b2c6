/** Public exports of this folder; its README lists its promises. */
export {
  deployedRules,
  type LimitsInForce,
  type RulesFile,
  type RulesInForce,
  readPackedPrices,
  readPackedRules,
  rulesInForce,
} from './rules.ts';
