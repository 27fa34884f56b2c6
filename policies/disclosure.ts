import type { Placement } from './place/placement.ts';

/**
 * What a rejection text may tell of limits: nothing but that one was met, the numbers of the binding one, or those of
 * all that were met.
 */
export type Disclosure = 'none' | 'binding' | 'all';

export const DISCLOSURES: readonly Disclosure[] = ['none', 'binding', 'all'];

/** The closest group that has a setting decides; but everybody reads the job page of a public project. */
export function disclosureFor(placement: Placement, settings: DiscloseSettings): Disclosure {
  if (placement.visibility === 'public') return 'none';
  for (let at = placement.ancestors.length - 1; at >= 0; at -= 1) {
    const group = placement.ancestors[at];
    const disclosure = group && settings.byGroup.get(group.id);
    if (disclosure !== undefined) return disclosure;
  }
  return settings.default;
}

export interface DiscloseSettings {
  readonly default: Disclosure;
  /** Keyed by group id; the closest ancestor that names one decides. */
  readonly byGroup: ReadonlyMap<number, Disclosure>;
}
