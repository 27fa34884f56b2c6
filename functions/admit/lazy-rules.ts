/** What the handler loads only after its own import. */
export { deployedRules } from '../core/rules/index.ts';
