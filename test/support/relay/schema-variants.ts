/** Descriptor sets that differ from ours the way GitLab's might. */
import { renumberedField, schemaVariant } from '../../../scripts/local/router/schemas.ts';

const RENAMED = {
  'gitlab.agent.runner_controller.rpc': 'gitlab.agent.runner_controller.v2.rpc',
};

/** A renamed package and other numbers at once. */
export const renamedAndRenumbered = (): Uint8Array =>
  schemaVariant({ packages: RENAMED, renumber: renumberedField });

/** A newer GitLab that sends more than our descriptors explain. */
export const extended = (): Uint8Array =>
  schemaVariant({
    addedStrings: { AdmitJobRequest: ['admission_nonce'], JobInfo: ['region'], Image: ['digest'] },
  });

/** GitLab before about 19.4: no tags. */
export const withoutTags = (): Uint8Array =>
  schemaVariant({ removed: { JobInfo: ['tags'], RunnerInfo: ['tags'] } });
