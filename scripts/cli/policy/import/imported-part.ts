import type { ImportedRule, ImportNote } from './imported-rule.ts';
import type { RunnerSection } from './runner-config.ts';

/** What one part of a runner's configuration comes to. */
export interface ImportedPart {
  readonly rule?: Omit<ImportedRule, 'id'>;
  readonly notes?: readonly ImportNote[];
}

/** Whose settings a runner's containers go by. */
export type ContainerSection = 'docker' | 'kubernetes';

export const unrestricted = ({ line }: RunnerSection, setting: string, what: string): ImportNote => ({
  code: 'unrestricted',
  line,
  text: `no ${setting}: the Runner takes ${what}`,
});
