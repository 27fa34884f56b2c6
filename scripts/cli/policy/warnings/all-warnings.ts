import type { Documents } from '../documents.ts';
import { absentFields } from './absent-fields.ts';
import { daysOfOtherZone } from './days-of-other-zone.ts';
import { enginesOfServices } from './engines-of-services.ts';
import { exemptionEnds } from './exemption-ends.ts';
import { freezeEnds } from './freeze-ends.ts';
import { limitWarnings } from './limit-warnings.ts';
import { neverMatch } from './never-match.ts';
import { openOverwrites } from './open-overwrites.ts';
import { pricesToFill } from './prices-to-fill.ts';
import { shadowed } from './shadowed.ts';
import { unnamed } from './unnamed.ts';
import { entryOf, type Warning, type WrittenDocuments } from './warning.ts';

/** Lists valid but probably wrong entries, `file:line:col path: message`, policy first. */
export function warningsOf(
  documents: Documents,
  { nowMs, usageZone }: Pick<WrittenDocuments, 'nowMs' | 'usageZone'>,
): readonly string[] {
  const { policy, limits, directory } = documents;
  const written: WrittenDocuments = {
    policy: policy.model,
    policyDocument: policy.document.value,
    limits: limits.model,
    limitsDocument: limits.document.value,
    directory,
    nowMs,
    usageZone,
  };
  const onPolicy = [
    noPlatform,
    pricesToFill,
    openOverwrites,
    neverMatch,
    shadowed,
    exemptionEnds,
    daysOfOtherZone,
    freezeEnds,
    absentFields,
    unnamed,
    enginesOfServices,
  ];
  return [
    ...onPolicy.flatMap((find) => find(written)).map(policy.document.locate),
    ...limitWarnings(written).map(limits.document.locate),
  ];
}

function noPlatform({ policyDocument }: WrittenDocuments): readonly Warning[] {
  if (entryOf(policyDocument).platform !== undefined) return [];
  const message =
    'is not there, so a rule could stop those who would have to mend it; name their groups and projects';
  return [{ path: ['platform'], message }];
}
