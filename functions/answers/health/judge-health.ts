/** Judges a deployment by its traces and GitLab's side. Pure; each cause is reported once. */
import type { HealthEvidence } from './evidence.ts';
import { GITLAB_CHECKS } from './judge-gitlab.ts';
import { PART_CHECKS } from './judge-parts.ts';
import { RELAY_CHECKS } from './judge-relays.ts';
import type { HealthFinding } from './model.ts';

export const judgeHealth = (evidence: HealthEvidence): readonly HealthFinding[] =>
  Object.entries({ ...RELAY_CHECKS, ...PART_CHECKS, ...GITLAB_CHECKS }).map(([about, check]) => ({
    about,
    ...check(evidence),
  }));
