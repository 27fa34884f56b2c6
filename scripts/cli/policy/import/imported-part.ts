import type { ImportedRule, ImportNote } from './imported-rule.ts';
import type { RunnerSection } from './runner-config.ts';

/** Result for one part of a runner's configuration. */
export interface ImportedPart {
  readonly rule?: Omit<ImportedRule, 'id'>;
  readonly notes?: readonly ImportNote[];
}

/** Section with a runner's container settings. */
export type ContainerSection = 'docker' | 'kubernetes';

export const unrestricted = ({ line }: RunnerSection, setting: string, what: string): ImportNote => ({
  code: 'unrestricted',
  line,
  text: `no ${setting}: the Runner takes ${what}`,
});
