/** Modules loaded after the handler's own import. */
export { deployedRules } from '../core/rules.ts';
